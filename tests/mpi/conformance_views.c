/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: views that reach far, and that overlap themselves. */
#include "conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define GIB ((int64_t)1 << 30)

/* Whether the file system has files of that size; sparse ones. */
static bool has_room(struct test *t, int64_t size)
{
    int error = 0;
    if (t->rank == 0) {
        int fd = open(t->path, O_RDWR | O_CREAT, 0600);
        if (fd < 0 || pwrite(fd, "x", 1, size) != 1)
            error = errno;
        if (fd >= 0)
            close(fd);
        unlink(t->path);
    }
    MPI_Bcast(&error, 1, MPI_INT, 0, t->comm);
    if (error != 0)
        skip_case(t, "no file of %" PRId64 " bytes here: %s", size, strerror(error));
    return error == 0;
}

/* --- far --- */

/* One call that writes, and one that reads, the ranks' bytes from byte `from` of their views on. */
struct far {
    struct deal deal;
    int64_t from, bytes;
    int64_t end, rank_end; /* the file's bytes are at most end + ranks * rank_end */
    int64_t hole;          /* where there are two ranks, nobody writes this byte; 0: no such byte */
};

/* Rank 0 finds each rank's data in the file. */
static void peek_all(struct test *t, const struct far *far)
{
    unsigned char got = 0;
    MPI_Barrier(t->comm);
    for (int rank = 0; rank < t->ranks && t->rank == 0; rank++) {
        const struct view v = dealt_view(&far->deal, t, rank);
        for (int64_t k = 0; k < far->bytes; k++) {
            unsigned char wanted = content((uint64_t)rank + 1, k);
            int64_t at = view_place(&v, far->from + k);
            if (!peek(t, t->path, at, &got, 1) || got != wanted)
                differ(t, "byte %" PRId64 " of the file is %02x, not %02x", at, got, wanted);
        }
    }
    if (t->rank == 0 && t->ranks > 1 && far->hole > 0 && peek(t, t->path, far->hole, &got, 1) &&
        got != 0)
        differ(t, "byte %" PRId64 " of a hole is %02x", far->hole, got);
    MPI_Barrier(t->comm);
}

static void seek(struct test *t, MPI_File file, enum kind kind, int64_t offset)
{
    if (!has_offset(kind))
        must(t, "seek", MPI_File_seek(file, offset, MPI_SEEK_SET));
}

static void case_far(struct test *t, int kind)
{
    const struct far *far = t->row;
    const struct data d = {PLAIN,      far->deal.etype,       far->from,
                           far->bytes, (uint64_t)t->rank + 1, false};
    if (!has_room(t, far->end + t->ranks * far->rank_end))
        return;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_dealt_view(t, file, &far->deal);
    seek(t, file, kind, far->from / d.etype);
    must(t, "write", write_data(t, kind, file, &d));
    synchronise(t, file);
    peek_all(t, far);
    seek(t, file, kind, far->from / d.etype);
    must(t, "read", read_data(t, kind, file, &d));
    close_file(t, &file);
}

/* --- more than 2^31 bytes in one call --- */

/* What rank 0 moves: parts with equal content, whose size divides no power of 2. */
enum { PART = 1000003, PARTS = 2200 };
#define ALL_PARTS ((int64_t)PART * PARTS)
#define LITTLE 1000 /* what each other rank moves */

/* Memory that can be had without swapping, in bytes; 0: not known. */
static int64_t available_memory(void)
{
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "MemAvailable: %lld kB", &kib);
    if (file != NULL)
        fclose(file);
    return (int64_t)kib * 1024;
}

/* Room for the file and the buffer, and as much again for the pages of the file in memory. */
static bool has_room_for_parts(struct test *t)
{
    struct statvfs fs;
    int enough = available_memory() >= 3 * ALL_PARTS && statvfs(t->dir, &fs) == 0 &&
                 (int64_t)fs.f_bavail >= 2 * ALL_PARTS / (int64_t)fs.f_frsize;
    MPI_Bcast(&enough, 1, MPI_INT, 0, t->comm);
    if (!enough)
        skip_case(t, "too little memory, or room in %s", t->dir);
    return enough;
}

#if MPI_VERSION >= 4

static bool has_large_counts(struct test *t)
{
    (void)t;
    return true;
}

static int move_counted(enum kind kind, bool write, MPI_File file, int64_t offset, char *data,
                        int64_t count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    if (kind == AT_ALL)
        return write ? MPI_File_write_at_all_c(file, offset, data, count, type, status)
                     : MPI_File_read_at_all_c(file, offset, data, count, type, status);
    int rc = write ? MPI_File_iwrite_at_all_c(file, offset, data, count, type, &request)
                   : MPI_File_iread_at_all_c(file, offset, data, count, type, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, status) : rc;
}

#else

static bool has_large_counts(struct test *t)
{
    skip_case(t, "MPI %d has no calls with large counts", MPI_VERSION);
    return false;
}

static int move_counted(enum kind kind, bool write, MPI_File file, int64_t offset, char *data,
                        int64_t count, MPI_Datatype type, MPI_Status *status)
{
    (void)kind, (void)write, (void)file, (void)offset, (void)data, (void)count, (void)type;
    (void)status;
    return MPI_ERR_OTHER;
}

#endif

static int move_bytes(enum kind kind, bool write, MPI_File file, int64_t offset, char *data,
                      int64_t bytes, MPI_Status *status)
{
    return move_counted(kind, write, file, offset, data, bytes, MPI_BYTE, status);
}

/* One element of a type. */
static int move_element(enum kind kind, bool write, MPI_File file, int64_t offset, char *data,
                        int64_t bytes, MPI_Status *status)
{
    MPI_Datatype part, type;
    MPI_Type_contiguous(bytes < PART ? (int)bytes : PART, MPI_BYTE, &part);
    MPI_Type_contiguous(bytes < PART ? 1 : PARTS, part, &type);
    MPI_Type_commit(&type);
    struct memory m = {.address = data, .count = 1, .type = type};
    int rc = write ? call_write(kind, file, offset, &m, status)
                   : call_read(kind, file, offset, &m, status);
    MPI_Type_free(&part);
    MPI_Type_free(&type);
    return rc;
}

struct large_call {
    enum kind kind;
    int (*move)(enum kind kind, bool write, MPI_File file, int64_t offset, char *data,
                int64_t bytes, MPI_Status *status);
};

static void check_parts(struct test *t, const char *data, const char *part, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += PART)
        if (memcmp(data + at, part, (size_t)(bytes < PART ? bytes : PART)) != 0)
            differ(t, "wrong bytes from byte %" PRId64 " of the buffer on", at);
}

/* Writes and reads, by aggregators or without. */
static void trip_of_parts(struct test *t, const struct large_call *call, const char *hints,
                          char *data, int64_t bytes)
{
    int64_t offset = t->rank == 0 ? 0 : ALL_PARTS + t->rank * LITTLE;
    MPI_Status status;
    MPI_File file = open_with(t, MPI_MODE_RDWR | MPI_MODE_CREATE, hints);
    char *part = checked_alloc(PART, 1);
    fill_content((unsigned char *)part, PART, (uint64_t)t->rank);
    for (int64_t at = 0; at < bytes; at += PART)
        memcpy(data + at, part, (size_t)(bytes < PART ? bytes : PART));
    must(t, "write", call->move(call->kind, true, file, offset, data, bytes, &status));
    check_count(t, "write", &status, bytes);
    synchronise(t, file);
    memset(data, FILLING, (size_t)bytes);
    must(t, "read", call->move(call->kind, false, file, offset, data, bytes, &status));
    check_count(t, "read", &status, bytes);
    check_parts(t, data, part, bytes);
    close_file(t, &file);
    free(part);
}

static void case_count_2_31(struct test *t, int variant)
{
    static const struct large_call calls[] = {{AT_ALL, move_element},
                                              {I_AT_ALL, move_element},
                                              {AT_ALL, move_bytes},
                                              {I_AT_ALL, move_bytes}};
    const struct large_call *call = &calls[variant];
    int64_t bytes = t->rank == 0 ? ALL_PARTS : LITTLE;
    if ((call->move == move_bytes && !has_large_counts(t)) || !has_room_for_parts(t))
        return;
    char *data = checked_alloc((size_t)bytes, 1);
    trip_of_parts(t, call, "romio_cb_write=disable romio_cb_read=disable", data, bytes);
    trip_of_parts(t, call, "romio_cb_write=enable romio_cb_read=enable", data, bytes);
    free(data);
}

/* More than 2^32 elements with gaps between them in memory. The file ends behind the first few, so
 * that no memory is needed for the others. */
static void case_count_2_32(struct test *t, int variant)
{
    enum { KEPT = 5, GAP = 4 };
    unsigned char data[KEPT * GAP];
    MPI_Datatype apart;
    MPI_Status status;
    (void)variant;
    if (!has_large_counts(t))
        return;
    struct bytes model = create_filled(t, KEPT, 1);
    memset(data, FILLING, sizeof data);
    MPI_Type_create_resized(MPI_BYTE, 0, GAP, &apart);
    MPI_Type_commit(&apart);
    MPI_File file = open_file(t, MPI_MODE_RDONLY);
    int64_t count = t->rank == 0 ? 4 * GIB + 1 : 0;
    must(t, "read", move_counted(AT_ALL, false, file, 0, (char *)data, count, apart, &status));
    check_count(t, "read", &status, count > 0 ? KEPT : 0);
    for (int k = 0; k < KEPT * GAP && count > 0; k++)
        if (data[k] != (k % GAP == 0 ? model.at[k / GAP] : FILLING))
            differ(t, "byte %d of the buffer is %02x", k, data[k]);
    close_file(t, &file);
    MPI_Type_free(&apart);
    bytes_release(&model);
}

/* --- overlapping itself --- */

/* Where byte k is in a view of pieces [0, 10), [15, 27) whose copies follow every 12 bytes.
 * (Open MPI refuses a view whose pieces overlap within one copy.) */
static int64_t folded_place(int64_t k)
{
    int64_t copy = k / 22, rest = k % 22;
    return copy * 12 + (rest < 10 ? rest : rest + 5);
}

static MPI_Datatype folded_type(void)
{
    int length[] = {10, 12}, first[] = {0, 15};
    MPI_Datatype pieces, type;
    MPI_Type_indexed(2, length, first, MPI_BYTE, &pieces);
    MPI_Type_create_resized(pieces, 0, 12, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&pieces);
    return type;
}

static void case_view_overlaps_itself(struct test *t, int kind)
{
    enum { SIZE = 20000 };
    int64_t bytes = 1300 + 7 * t->rank, from = 0;
    struct bytes there = create_filled(t, SIZE, 5);
    MPI_Status status;
    MPI_Datatype type = folded_type();
    if (is_ordered(kind))
        MPI_Exscan(&bytes, &from, 1, MPI_INT64_T, MPI_SUM, t->comm);
    MPI_File file = open_file(t, MPI_MODE_RDONLY);
    must(t, "set_view", MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    struct memory m = memory_make(PLAIN, bytes, 1);
    must(t, "read", call_read(kind, file, 0, &m, &status));
    check_count(t, "read", &status, bytes);
    for (int64_t k = 0; k < bytes; k++)
        if (m.origin[k] != there.at[folded_place(from + k)])
            differ(t, "byte %" PRId64 " is %02x, not %02x", k, m.origin[k],
                   there.at[folded_place(from + k)]);
    close_file(t, &file);
    memory_release(&m);
    bytes_release(&there);
    MPI_Type_free(&type);
}

/* --- shapes of views that the formula does not have --- */

/* Writes to a view of this type, after which the file must be the model; frees all. */
static void write_typed(struct test *t, enum kind kind, MPI_Offset first, MPI_Datatype etype,
                        MPI_Datatype *type, struct memory *m, struct bytes *model)
{
    MPI_Status status;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Type_commit(type);
    must(t, "set_view", MPI_File_set_view(file, first, etype, *type, "native", MPI_INFO_NULL));
    must(t, "write", call_write(kind, file, 0, m, &status));
    check_count(t, "write", &status, m->bytes);
    close_file(t, &file);
    check_file(t, model);
    memory_release(m);
    MPI_Type_free(type);
}

/* A 3-D array cut into slabs of unequal thickness by MPI_Type_create_subarray. */
static void case_subarray(struct test *t, int kind)
{
    enum { Y = 9, Z = 11, BEGIN = 16 };
    int thickness = 1 + t->rank % 3, first = 0, all = 0;
    MPI_Exscan(&thickness, &first, 1, MPI_INT, MPI_SUM, t->comm);
    first = t->rank == 0 ? 0 : first;
    MPI_Allreduce(&thickness, &all, 1, MPI_INT, MPI_SUM, t->comm);
    /* The cut dimension is the innermost: the pieces are short. */
    int size[] = {Y, Z, all}, part[] = {Y, Z, thickness}, start[] = {0, 0, first};
    MPI_Datatype type;
    struct bytes model = {0};
    struct memory m = memory_make(PLAIN, (int64_t)Y * Z * thickness * 8, 8);
    MPI_Type_create_subarray(3, size, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    bytes_extend(&model, BEGIN);
    for (int cell = 0, n = 0; cell < Y * Z * all; cell++) {
        double value = cell + 1;
        bytes_copy(&model, model.size, &value, sizeof value);
        if (cell % all >= first && cell % all < first + thickness)
            memcpy(m.origin + 8 * n++, &value, sizeof value);
    }
    write_typed(t, kind, BEGIN, MPI_DOUBLE, &type, &m, &model);
}

#define FAR(...) case_far, own_kinds, ROW(struct far, __VA_ARGS__)
#define FAR_SEEK (800 * (((int64_t)1 << 32) / 800))

const struct family views_families[] = {
    {"offset_2_31", FAR({3 * GIB, 48, 48, 0, 4}, 0, 1008, .end = 4 * GIB)},
    {"offset_2_41", FAR({2048 * GIB + 12345, 48, 48, 0, 4}, 0, 1008, .end = 2049 * GIB)},
    {"stride_2_31", FAR({100, 48, 48, 3 * GIB, 4}, 0, 1008, .end = 66 * GIB, .hole = GIB)},
    {"ranks_apart_2_31",
     FAR({0, 1000, 3 * GIB, 0, 4}, 0, 1000, .end = 3 * GIB, .rank_end = 3 * GIB, .hole = GIB)},
    /* Each piece of the view is 3 GiB; what is accessed are the ends of two pieces. */
    {"piece_2_31",
     FAR({0, 3 * GIB, 3 * GIB, 0, 8}, 3 * GIB - 400, 1000, .end = 6 * GIB, .rank_end = 6 * GIB)},
    /* A pointer far out in a view of small pieces, moved there by MPI_File_seek. */
    {"seek_2_31",
     FAR({3 * GIB, 48, 48, 0, 4}, FAR_SEEK, 1000, .end = FAR_SEEK, .rank_end = FAR_SEEK)},
    {"count_2_31", case_count_2_31,
     (const char *const[]){"at_all", "i_at_all", "at_all_c", "i_at_all_c", NULL}, NULL},
    {"count_2_32", case_count_2_32, NULL, NULL},
    {"view_overlaps_itself", case_view_overlaps_itself, kind_names, NULL},
    {"subarray", case_subarray, own_kinds, NULL},
    {0},
};
