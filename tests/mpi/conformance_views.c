/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: views that reach far, that overlap, and that overlap themselves. */
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

/* Rank 0 finds each rank's data in the file: `bytes` from byte `from` of each view on. */
static void peek_all(struct test *t, const struct view *(*view_of)(const struct test *, int),
                     int64_t from, int64_t bytes)
{
    MPI_Barrier(t->comm);
    for (int rank = 0; rank < t->ranks && t->rank == 0; rank++)
        for (int64_t k = 0; k < bytes; k++) {
            unsigned char got = 0, wanted = content((uint64_t)rank + 1, k);
            int64_t at = view_place(view_of(t, rank), from + k);
            if (!peek(t, t->path, at, &got, 1) || got != wanted) {
                differ(t, "byte %" PRId64 " of the file is %02x, not %02x", at, got, wanted);
                return;
            }
        }
    MPI_Barrier(t->comm);
}

static void check_gap(struct test *t, int64_t offset)
{
    unsigned char got = 0;
    if (t->rank == 0 && peek(t, t->path, offset, &got, 1) && got != 0)
        differ(t, "byte %" PRId64 " of a hole is %02x", offset, got);
}

/* Writes and reads `bytes` from byte `from` of the views on, in one call each. */
static void far_trip(struct test *t, enum kind kind,
                     const struct view *(*view_of)(const struct test *, int), int64_t from,
                     int64_t bytes)
{
    const struct view *v = view_of(t, t->rank);
    struct memory m = memory_make(PLAIN, bytes, v->etype);
    uint64_t seed = (uint64_t)t->rank + 1;
    MPI_Status status;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_view(t, file, v);
    memory_fill(&m, seed);
    if (!has_offset(kind))
        must(t, "seek", MPI_File_seek(file, from / v->etype, MPI_SEEK_SET));
    must(t, "write", call_write(kind, file, from / v->etype, &m, &status));
    check_count(t, "write", &status, bytes);
    synchronise(t, file);
    peek_all(t, view_of, from, bytes);
    memset(m.whole, FILLING, (size_t)m.size);
    if (!has_offset(kind))
        must(t, "seek", MPI_File_seek(file, from / v->etype, MPI_SEEK_SET));
    must(t, "read", call_read(kind, file, from / v->etype, &m, &status));
    check_count(t, "read", &status, bytes);
    memory_check(t, &m, bytes, seed);
    close_file(t, &file);
    memory_release(&m);
}

static const struct view *pieces_from(const struct test *t, int rank, int64_t first, int64_t round)
{
    static struct view v;
    v = (struct view){first + rank * 48, 48, round > 0 ? round : t->ranks * 48, 4};
    return &v;
}

static const struct view *beyond_2_31(const struct test *t, int rank)
{
    return pieces_from(t, rank, 3 * GIB, 0);
}

static const struct view *beyond_2_41(const struct test *t, int rank)
{
    return pieces_from(t, rank, ((int64_t)1 << 41) + 12345, 0);
}

static const struct view *rounds_of_gigabytes(const struct test *t, int rank)
{
    return pieces_from(t, rank, 100, 3 * GIB);
}

static const struct view *rank_each_its_gigabytes(const struct test *t, int rank)
{
    static struct view v;
    (void)t;
    v = (struct view){rank * 3 * GIB, 64, 64, 4};
    return &v;
}

/* Each piece of the view is 3 GiB; what is accessed are the ends of two pieces. */
static const struct view *pieces_of_gigabytes(const struct test *t, int rank)
{
    static struct view v;
    v = (struct view){rank * 3 * GIB, 3 * GIB, t->ranks * 3 * GIB, 8};
    return &v;
}

static void case_offset_2_31(struct test *t, int kind)
{
    if (has_room(t, 4 * GIB))
        far_trip(t, kind, beyond_2_31, 0, 1008);
}

static void case_offset_2_41(struct test *t, int kind)
{
    if (has_room(t, ((int64_t)1 << 41) + GIB))
        far_trip(t, kind, beyond_2_41, 0, 1008);
}

static void case_stride_2_31(struct test *t, int kind)
{
    if (!has_room(t, 22 * 3 * GIB))
        return;
    far_trip(t, kind, rounds_of_gigabytes, 0, 1008);
    check_gap(t, GIB);
}

static void case_ranks_apart_2_31(struct test *t, int kind)
{
    if (!has_room(t, (t->ranks + 1) * 3 * GIB))
        return;
    far_trip(t, kind, rank_each_its_gigabytes, 0, 1000);
    if (t->ranks > 1)
        check_gap(t, GIB);
}

static void case_piece_2_31(struct test *t, int kind)
{
    if (has_room(t, (t->ranks + 1) * 6 * GIB))
        far_trip(t, kind, pieces_of_gigabytes, 3 * GIB - 400, 1000);
}

/* A pointer far out in a view of small pieces, moved there by MPI_File_seek. */
static void case_seek_2_31(struct test *t, int kind)
{
    static const int64_t from = 800 * (((int64_t)1 << 32) / 800);
    if (has_room(t, (t->ranks + 1) * from))
        far_trip(t, kind, beyond_2_31, from, 1000);
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

static MPI_File open_by(struct test *t, const char *cb)
{
    MPI_Info info;
    MPI_File file;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", cb);
    MPI_Info_set(info, "romio_cb_read", cb);
    if (MPI_File_open(t->comm, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file) !=
        MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Info_free(&info);
    return file;
}

/* Writes and reads, by aggregators or without. */
static void trip_of_parts(struct test *t, const struct large_call *call, const char *cb, char *data,
                          int64_t bytes)
{
    int64_t offset = t->rank == 0 ? 0 : ALL_PARTS + t->rank * LITTLE;
    MPI_Status status;
    MPI_File file = open_by(t, cb);
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
    trip_of_parts(t, call, "disable", data, bytes);
    trip_of_parts(t, call, "enable", data, bytes);
    free(data);
}

/* More than 2^32 elements with gaps between them in memory. The file ends behind the first few, so
 * that no memory is needed for the others. */
static void case_count_2_32(struct test *t, int variant)
{
    enum { KEPT = 5, GAP = 4 };
    unsigned char data[KEPT * GAP];
    struct bytes model = {0};
    MPI_Datatype apart;
    MPI_Status status;
    (void)variant;
    if (!has_large_counts(t))
        return;
    for (int64_t k = 0; k < KEPT; k++)
        bytes_put(&model, k, content(1, k));
    create_file(t, &model);
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

/* --- overlapping --- */

/* All ranks read windows of the same file that overlap each other by much. */
static void case_overlapping_reads(struct test *t, int kind)
{
    enum { SIZE = 40000, LENGTH = 9000 };
    struct bytes there = {0};
    MPI_Status status;
    bytes_extend(&there, SIZE);
    fill_content(there.at, SIZE, 3);
    create_file(t, &there);
    for (int step = 0; step <= 1000; step += 500) {
        MPI_File file = open_file(t, MPI_MODE_RDONLY);
        struct view v = {t->rank * step, 1, 2, 1};
        struct memory m = memory_make(HOLES, LENGTH, 1);
        set_view(t, file, &v);
        must(t, "read", call_read(kind, file, 0, &m, &status));
        check_count(t, "read", &status, LENGTH);
        memory_check_view(t, &m, LENGTH, &v, 0, &there);
        memory_release(&m);
        close_file(t, &file);
    }
    bytes_release(&there);
}

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
    struct bytes there = {0};
    MPI_Status status;
    MPI_Datatype type = folded_type();
    bytes_extend(&there, SIZE);
    fill_content(there.at, SIZE, 5);
    create_file(t, &there);
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

/* Rank r writes bytes [300 r, 300 r + 2000), in pieces of `piece`, and every byte of the file
 * must be one of those that were written to it. */
static void overlapping_writes(struct test *t, enum kind kind, int64_t piece, int64_t stride)
{
    enum { STEP = 300, LENGTH = 2000 };
    struct view v = {t->rank * STEP, piece, stride, 1};
    struct memory m = memory_make(RESIZED, LENGTH, 1);
    MPI_Status status;
    memory_fill(&m, (uint64_t)t->rank + 1);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_view(t, file, &v);
    must(t, "write", call_write(kind, file, 0, &m, &status));
    check_count(t, "write", &status, LENGTH);
    close_file(t, &file);
    memory_release(&m);
    MPI_Barrier(t->comm);
    int64_t end = (t->ranks - 1) * STEP + view_place(&v, LENGTH - 1) - v.first + 1;
    unsigned char *got = checked_alloc((size_t)end, 1);
    bool *right = checked_alloc((size_t)end, sizeof *right),
         *written = checked_alloc((size_t)end, sizeof *written);
    bool there = t->rank != 0 || peek(t, t->path, 0, got, (size_t)end);
    for (int rank = 0; rank < t->ranks && t->rank == 0 && there; rank++)
        for (int64_t k = 0; k < LENGTH; k++) {
            int64_t at = rank * STEP + view_place(&v, k) - v.first;
            written[at] = true;
            right[at] = right[at] || got[at] == content((uint64_t)rank + 1, k);
        }
    for (int64_t i = 0; i < end && t->rank == 0 && there; i++)
        if (written[i] ? !right[i] : got[i] != 0)
            differ(t, "byte %" PRId64 " is %02x, which nobody wrote there", i, got[i]);
    free(written);
    free(right);
    free(got);
}

static void case_overlapping_writes(struct test *t, int kind)
{
    overlapping_writes(t, kind, 50, 50);
}

static void case_overlapping_pieces(struct test *t, int kind)
{
    overlapping_writes(t, kind, 17, 41);
}

/* --- shapes of views that the formula does not have --- */

static uint64_t cell(int x, int y, int z)
{
    return (uint64_t)(x * 10000 + y * 100 + z);
}

/* A 3-D array cut into slabs of unequal thickness by MPI_Type_create_subarray. */
static void case_subarray(struct test *t, int kind)
{
    enum { Y = 9, Z = 11 };
    int thickness = 1 + t->rank % 3, first = 0, all = 0;
    MPI_Exscan(&thickness, &first, 1, MPI_INT, MPI_SUM, t->comm);
    first = t->rank == 0 ? 0 : first;
    MPI_Allreduce(&thickness, &all, 1, MPI_INT, MPI_SUM, t->comm);
    /* The cut dimension is the innermost: the pieces are short. */
    int size[] = {Y, Z, all}, part[] = {Y, Z, thickness}, start[] = {0, 0, first};
    MPI_Datatype type;
    MPI_Status status;
    MPI_Type_create_subarray(3, size, part, start, MPI_ORDER_C, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_view", MPI_File_set_view(file, 16, MPI_INT64_T, type, "native", MPI_INFO_NULL));
    struct memory m = memory_make(PLAIN, (int64_t)Y * Z * thickness * 8, 8);
    int64_t *value = (int64_t *)(void *)m.origin;
    int64_t *p = value;
    for (int y = 0; y < Y; y++)
        for (int z = 0; z < Z; z++)
            for (int x = first; x < first + thickness; x++)
                *p++ = (int64_t)cell(x, y, z);
    must(t, "write", call_write(kind, file, 0, &m, &status));
    close_file(t, &file);
    MPI_Barrier(t->comm);
    for (int i = 0; i < Y * Z * all && t->rank == 0; i++) {
        int64_t got = 0, wanted = (int64_t)cell(i % all, i / all / Z, i / all % Z);
        if (!peek(t, t->path, 16 + 8 * (int64_t)i, &got, 8) || got != wanted) {
            differ(t, "cell %d is %" PRId64 ", not %" PRId64, i, got, wanted);
            break;
        }
    }
    memory_release(&m);
    MPI_Type_free(&type);
}

/* A block-cyclic distribution: MPI_Type_create_darray, read back by one rank without MPI. */
static void case_darray(struct test *t, int kind)
{
    enum { ROWS = 24, COLUMNS = 35 };
    int size[] = {ROWS, COLUMNS}, distribution[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    int width[] = {2, 3}, grid[] = {0, 0};
    MPI_Datatype type;
    MPI_Status status;
    int bytes;
    MPI_Dims_create(t->ranks, 2, grid);
    MPI_Type_create_darray(t->ranks, t->rank, 2, size, distribution, width, grid, MPI_ORDER_C,
                           MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    struct memory m = memory_make(PLAIN, bytes, 4);
    int *value = (int *)(void *)m.origin;
    int row = t->rank / grid[1], column = t->rank % grid[1], n = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (i / 2 % grid[0] == row && j / 3 % grid[1] == column)
                value[n++] = i * 1000 + j + 1;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_view", MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    must(t, "write", call_write(kind, file, 0, &m, &status));
    check_count(t, "write", &status, bytes);
    close_file(t, &file);
    MPI_Barrier(t->comm);
    for (int i = 0; i < ROWS * COLUMNS && t->rank == 0; i++) {
        int got = 0, wanted = i / COLUMNS * 1000 + i % COLUMNS + 1;
        if (!peek(t, t->path, 4 * (int64_t)i, &got, 4) || got != wanted) {
            differ(t, "element %d is %d, not %d", i, got, wanted);
            break;
        }
    }
    memory_release(&m);
    MPI_Type_free(&type);
}

const struct family views_families[] = {
    {"offset_2_31", case_offset_2_31, own_kinds},
    {"offset_2_41", case_offset_2_41, own_kinds},
    {"stride_2_31", case_stride_2_31, own_kinds},
    {"ranks_apart_2_31", case_ranks_apart_2_31, own_kinds},
    {"piece_2_31", case_piece_2_31, own_kinds},
    {"seek_2_31", case_seek_2_31, own_kinds},
    {"count_2_31", case_count_2_31,
     (const char *const[]){"at_all", "i_at_all", "at_all_c", "i_at_all_c", NULL}},
    {"count_2_32", case_count_2_32, NULL},
    {"overlapping_reads", case_overlapping_reads, own_kinds},
    {"view_overlaps_itself", case_view_overlaps_itself, kind_names},
    {"overlapping_writes", case_overlapping_writes, own_kinds},
    {"overlapping_pieces", case_overlapping_pieces, own_kinds},
    {"subarray", case_subarray, own_kinds},
    {"darray", case_darray, own_kinds},
    {0},
};
