/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance_reported: accesses for which users reported faults of Open MPI's own collective I/O.
 * Each case names the report, an issue of open-mpi/ompi. Other reported accesses are cases of
 * `conformance`: pieces of 2 GiB and more (#14379) are piece_2_31 and count_2_31. */
#include "conformance.h"
#include "inject.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HINTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* hint: pairs of key and value, then NULL. */
static MPI_File open_with(struct test *t, MPI_Comm comm, const char *const *hint)
{
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    for (; *hint != NULL; hint += 2)
        MPI_Info_set(info, hint[0], hint[1]);
    if (MPI_File_open(comm, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Info_free(&info);
    return file;
}

/* --- what is done to the file --- */

/* Of all ranks: how many write, their accesses, the bytes written, and accesses that read. */
struct tally {
    int64_t writers, writes, bytes, reads;
};

static struct tally tally_accesses(struct test *t)
{
    size_t count;
    struct seen_access *seen = inject_seen(&count);
    int64_t own[4] = {0}, all[4];
    for (size_t i = 0; i < count; i++) {
        own[1] += seen[i].write;
        own[2] += seen[i].write ? seen[i].length : 0;
        own[3] += !seen[i].write;
    }
    own[0] = own[1] > 0;
    free(seen);
    MPI_Allreduce(own, all, 4, MPI_INT64_T, MPI_SUM, t->comm);
    return (struct tally){all[0], all[1], all[2], all[3]};
}

/* Each rank writes 100 bytes beside those of the last rank. */
static struct tally write_adjacent(struct test *t, int64_t start, const char *const *hint)
{
    enum { BYTES = 100 };
    struct bytes model = {0};
    struct memory m = memory_make(PLAIN, BYTES, 1);
    MPI_File file = open_with(t, t->comm, hint);
    memory_fill(&m, (uint64_t)t->rank);
    inject_watch(t->path);
    must(t, "write", call_write(AT_ALL, file, start + t->rank * BYTES, &m, MPI_STATUS_IGNORE));
    struct tally tally = tally_accesses(t);
    close_file(t, &file);
    for (int rank = 0; rank < t->ranks; rank++)
        for (int64_t k = 0; k < BYTES; k++)
            bytes_put(&model, start + rank * BYTES + k, content((uint64_t)rank, k));
    check_file(t, &model);
    if (tally.bytes != t->ranks * BYTES || tally.reads > 0)
        differ(t, "%" PRId64 " bytes written, %" PRId64 " times read", tally.bytes, tally.reads);
    bytes_release(&model);
    memory_release(&m);
    return tally;
}

/* #13376: with several aggregators, wherever the pieces begin, no byte is written twice and each
 * aggregator writes one piece. */
static void case_adjacent(struct test *t, int variant)
{
    static const int64_t starts[] = {0, 50, 1000003};
    struct tally tally = write_adjacent(t, starts[variant], HINTS("cb_nodes", "4"));
    if (tally.writes > tally.writers)
        differ(t, "%" PRId64 " ranks write %" PRId64 " pieces", tally.writers, tally.writes);
}

/* #13377: the hint means what it says. */
static void case_collective_buffering(struct test *t, int variant)
{
    static const char *const values[] = {"true", "false"};
    int64_t wanted = variant == 0 ? 1 : t->ranks;
    if (variant == 0 && OMPI_MAJOR_VERSION >= 6) {
        skip_case(t, "Open MPI 6 gives this hint to every file");
        return;
    }
    struct tally tally = write_adjacent(t, 0, HINTS("collective_buffering", values[variant]));
    if (tally.writers != wanted || tally.writes != wanted)
        differ(t, "%" PRId64 " ranks write %" PRId64 " pieces", tally.writers, tally.writes);
}

/* #13367: without a hint of the user, MPI_File_get_info returns those that have a default. */
static void case_get_info(struct test *t, int variant)
{
    static const char *const keys[] = {"cb_buffer_size", "romio_cb_read", "romio_cb_write"};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Info info;
    (void)variant;
    must(t, "get_info", MPI_File_get_info(file, &info));
    for (int i = 0; i < 3; i++) {
        char value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        MPI_Info_get(info, (char *)keys[i], MPI_MAX_INFO_VAL, value, &found);
        if (!found)
            differ(t, "%s is not returned", keys[i]);
    }
    MPI_Info_free(&info);
    close_file(t, &file);
}

/* --- arrays and views --- */

/* A rank's block of a 2-D array of doubles, row by row, without the frame around it in memory. */
struct block {
    int size[2], start[2], sides[2]; /* of the array; of the block in it */
};

enum { ROWS = 37, COLUMNS = 11, FRAME = 1 };

static unsigned char *block_at(const struct block *b, unsigned char *framed, int row, int column)
{
    int64_t width = b->sides[1] + 2 * FRAME;
    return framed + 8 * ((row + FRAME) * width + column + FRAME);
}

static int64_t place_in_array(const struct block *b, int row, int column)
{
    return 8 * ((int64_t)(b->start[0] + row) * b->size[1] + b->start[1] + column);
}

static MPI_Datatype subarray(const int size[2], const int start[2], const int sides[2])
{
    MPI_Datatype type;
    MPI_Type_create_subarray(2, size, sides, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void write_block(struct test *t, MPI_Comm grid, const struct block *b)
{
    int framed[2] = {b->sides[0] + 2 * FRAME, b->sides[1] + 2 * FRAME}, frame[2] = {FRAME, FRAME};
    unsigned char *data = checked_alloc((size_t)framed[0] * (size_t)framed[1], 8);
    MPI_Datatype view = subarray(b->size, b->start, b->sides),
                 inner = subarray(framed, frame, b->sides);
    struct memory m = {.address = data, .count = 1, .type = inner};
    for (int row = 0; row < b->sides[0]; row++)
        for (int column = 0; column < b->sides[1]; column++)
            for (int k = 0; k < 8; k++)
                block_at(b, data, row, column)[k] = content(1, place_in_array(b, row, column) + k);
    MPI_File file = open_path(grid, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_view", MPI_File_set_view(file, 0, MPI_DOUBLE, view, "native", MPI_INFO_NULL));
    must(t, "write", call_write(ALL, file, 0, &m, MPI_STATUS_IGNORE));
    close_file(t, &file);
    MPI_Type_free(&view);
    MPI_Type_free(&inner);
    free(data);
}

/* #12718: a distributed 2-D array, with the communicator of its grid. */
static void case_grid(struct test *t, int variant)
{
    int grid[2] = {variant == 0 ? t->ranks : variant == 1 ? 1 : 0, variant == 1 ? t->ranks : 0};
    int periodic[2] = {0, 0}, rank, at[2];
    MPI_Comm comm;
    struct block b;
    struct bytes model = {0};
    MPI_Dims_create(t->ranks, 2, grid);
    MPI_Cart_create(t->comm, 2, grid, periodic, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_coords(comm, rank, 2, at);
    for (int d = 0; d < 2; d++) {
        b.sides[d] = d == 0 ? ROWS : COLUMNS;
        b.size[d] = grid[d] * b.sides[d];
        b.start[d] = at[d] * b.sides[d];
    }
    write_block(t, comm, &b);
    for (int64_t k = 0; k < (int64_t)8 * b.size[0] * b.size[1]; k++)
        bytes_put(&model, k, content(1, k));
    check_file(t, &model);
    bytes_release(&model);
    MPI_Comm_free(&comm);
}

/* Where the pieces of a rank lie in the file, in elements of 4 bytes. */
enum { PIECES = 300 };
struct pieces {
    int length[PIECES], place[PIECES], elements;
};

/* Pieces of many sizes, with holes here and there; `model` becomes the file. */
static void lay_out_pieces(const struct test *t, struct pieces *p, struct bytes *model)
{
    int at = 0;
    p->elements = 0;
    for (int i = 0; i < PIECES; i++)
        for (int rank = 0; rank < t->ranks; rank++) {
            int length = 1 + (i * 7 + rank * 3) % 19;
            for (int64_t k = 4 * at; k < 4 * (at + length); k++)
                bytes_put(model, k, content(2, k));
            if (rank == t->rank) {
                p->length[i] = length;
                p->place[i] = at;
                p->elements += length;
            }
            at += length + i % 3;
        }
}

static void gather_pieces(const struct pieces *p, const struct bytes *model, unsigned char *data)
{
    for (int i = 0; i < PIECES; data += 4 * p->length[i++])
        memcpy(data, model->at + 4 * p->place[i], (size_t)p->length[i] * 4);
}

/* #11917: an indexed view, read back as it was written. */
static void case_indexed(struct test *t, int variant)
{
    static const char *const cb[] = {"enable", "disable"};
    struct pieces p;
    struct bytes model = {0};
    MPI_Datatype type;
    MPI_File file =
        open_with(t, t->comm, HINTS("romio_cb_write", cb[variant], "romio_cb_read", cb[variant]));
    lay_out_pieces(t, &p, &model);
    unsigned char *data = checked_alloc((size_t)p.elements, 4),
                  *wanted = checked_alloc((size_t)p.elements, 4);
    struct memory m = {.address = data, .count = p.elements, .type = MPI_INT};
    MPI_Type_indexed(PIECES, p.length, p.place, MPI_INT, &type);
    MPI_Type_commit(&type);
    must(t, "set_view", MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    gather_pieces(&p, &model, data);
    gather_pieces(&p, &model, wanted);
    must(t, "write", call_write(ALL, file, 0, &m, MPI_STATUS_IGNORE));
    synchronise(t, file);
    check_file(t, &model);
    memset(data, FILLING, (size_t)p.elements * 4);
    must(t, "read", call_read(AT_ALL, file, 0, &m, MPI_STATUS_IGNORE));
    if (memcmp(data, wanted, (size_t)p.elements * 4) != 0)
        differ(t, "other bytes are read than were written");
    close_file(t, &file);
    MPI_Type_free(&type);
    bytes_release(&model);
    free(wanted);
    free(data);
}

/* --- many calls --- */

/* Bytes that this process has allocated and not freed; -1: not known. */
static int64_t allocated_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
#else
    return -1;
#endif
}

/* #12677: calls leave nothing allocated behind. Pools that grow now and then are no leak: it shows
 * in every round. */
static void case_leak(struct test *t, int kind)
{
    enum { ROUNDS = 10, CALLS = 100, LEAST = 24 }; /* the smallest allocation takes 32 bytes */
    struct view v = {t->rank * 100, 100, t->ranks * 100 + 28, 4};
    struct memory m = memory_make(PLAIN, 3000, 4);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    int64_t least = INT64_MAX;
    if (allocated_bytes() < 0)
        skip_case(t, "this C library does not tell what is allocated");
    set_view(t, file, &v);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t before = allocated_bytes();
        for (int call = 0; call < CALLS; call++) {
            must(t, "seek", MPI_File_seek(file, 0, MPI_SEEK_SET));
            must(t, "write", call_write(kind, file, 0, &m, MPI_STATUS_IGNORE));
        }
        int64_t grown = allocated_bytes() - before;
        least = grown < least ? grown : least;
    }
    if (least >= CALLS * LEAST)
        differ(t, "%" PRId64 " bytes more after %d calls", least, CALLS);
    close_file(t, &file);
    memory_release(&m);
}

/* #11182: many ranks, one file in stripes, call after call; also by the pointer that all share. */
static void case_striped(struct test *t, int variant)
{
    enum { CALLS = 20, BYTES = 5000 };
    struct bytes model = {0};
    struct memory m = memory_make(PLAIN, BYTES, 1);
    MPI_File file = open_with(t, t->comm, HINTS("striping_unit", "4096", "striping_factor", "5"));
    (void)variant;
    for (int call = 0; call < 2 * CALLS; call++) {
        int64_t offset = ((int64_t)call * t->ranks + t->rank) * BYTES;
        memory_fill(&m, (uint64_t)(call * t->ranks + t->rank));
        if (call == CALLS)
            must(t, "seek",
                 MPI_File_seek_shared(file, (int64_t)call * t->ranks * BYTES, MPI_SEEK_SET));
        must(t, "write",
             call_write(call < CALLS ? AT_ALL : ORDERED, file, offset, &m, MPI_STATUS_IGNORE));
    }
    close_file(t, &file);
    for (int piece = 0; piece < 2 * CALLS * t->ranks; piece++)
        for (int64_t k = 0; k < BYTES; k++)
            bytes_put(&model, (int64_t)piece * BYTES + k, content((uint64_t)piece, k));
    check_file(t, &model);
    bytes_release(&model);
    memory_release(&m);
}

static const struct family families[] = {
    {"adjacent", case_adjacent, (const char *const[]){"0", "50", "1000003", NULL}},
    {"collective_buffering", case_collective_buffering,
     (const char *const[]){"true", "false", NULL}},
    {"get_info", case_get_info, NULL},
    {"grid", case_grid, (const char *const[]){"rows", "columns", "both", NULL}},
    {"indexed", case_indexed, (const char *const[]){"aggregators", "independent", NULL}},
    {"leak", case_leak, own_kinds},
    {"striped", case_striped, NULL},
    {0},
};

int main(int argc, char **argv)
{
    static const struct family *const table[] = {families, NULL};
    return conformance_main(argc, argv, table);
}
