/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: modes of files and of access; other calls between; communicators and threads;
 * handles that live long, and many that live shortly. */
#include "conformance.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD 60 /* bytes */

/* Records of the ranks in turn. */
static struct view records(int rank, int ranks)
{
    return (struct view){rank * RECORD, RECORD, ranks * RECORD, 4};
}

static void model_records(struct test *t, struct bytes *model, int64_t from, int64_t count,
                          uint64_t seed)
{
    for (int rank = 0; rank < t->ranks; rank++) {
        struct view v = records(rank, t->ranks);
        model_write(model, &v, from * RECORD, count * RECORD, seed + (uint64_t)rank);
    }
}

static void write_records(struct test *t, MPI_File file, enum kind kind, int64_t from,
                          int64_t count, uint64_t seed)
{
    struct memory m = memory_make(PLAIN, count * RECORD, 4);
    MPI_Status status;
    memory_fill(&m, seed + (uint64_t)t->rank);
    must(t, "write", call_write(kind, file, from * RECORD / 4, &m, &status));
    check_count(t, "write", &status, count * RECORD);
    memory_release(&m);
}

/* Reads the records that rank `of` wrote with this seed, through the view that is set. */
static void read_records(struct test *t, MPI_File file, enum kind kind, int64_t from, int64_t count,
                         uint64_t seed, int of)
{
    struct memory m = memory_make(PLAIN, count * RECORD, 4);
    MPI_Status status;
    must(t, "read", call_read(kind, file, from * RECORD / 4, &m, &status));
    check_count(t, "read", &status, count * RECORD);
    memory_check(t, &m, count * RECORD, seed + (uint64_t)of);
    memory_release(&m);
}

static void set_records_view(struct test *t, MPI_File file, int of, int ranks)
{
    struct view v = records(of, ranks);
    set_view(t, file, &v);
}

/* --- modes --- */

static void case_write_only(struct test *t, int kind)
{
    struct bytes model = {0};
    bytes_extend(&model, 20000);
    fill_content(model.at, model.size, 1);
    create_file(t, &model);
    MPI_File file = open_file(t, MPI_MODE_WRONLY);
    struct view v = {t->rank * 30, 20, t->ranks * 30, 4};
    struct memory m = memory_make(HOLES, 1000, 4);
    if (is_ordered(kind))
        v = (struct view){5, 20, 30, 4};
    set_view(t, file, &v);
    memory_fill(&m, (uint64_t)t->rank + 2);
    must(t, "write", call_write(kind, file, 0, &m, MPI_STATUS_IGNORE));
    close_file(t, &file);
    for (int rank = 0; rank < t->ranks; rank++) {
        int64_t from = is_ordered(kind) ? rank * 1000 : 0;
        v.first = is_ordered(kind) ? v.first : rank * 30;
        model_write(&model, &v, from, 1000, (uint64_t)rank + 2);
    }
    check_file(t, &model);
    memory_release(&m);
    bytes_release(&model);
}

/* With MPI_MODE_APPEND both file pointers begin at the end of file. */
static void case_append(struct test *t, int variant)
{
    static const enum kind kind[] = {ALL, ORDERED};
    int64_t from = 777, length = 100;
    struct bytes model = {0};
    bytes_extend(&model, from);
    fill_content(model.at, from, 1);
    create_file(t, &model);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_Offset position = -1;
    MPI_File_get_position(file, &position);
    if (position != from)
        differ(t, "the file pointer is %lld, not %" PRId64, (long long)position, from);
    struct memory m = memory_make(PLAIN, length, 1);
    memory_fill(&m, (uint64_t)t->rank + 2);
    if (kind[variant] == ALL)
        MPI_File_seek(file, t->rank * length, MPI_SEEK_CUR);
    must(t, "write", call_write(kind[variant], file, 0, &m, MPI_STATUS_IGNORE));
    close_file(t, &file);
    for (int rank = 0; rank < t->ranks; rank++)
        for (int64_t k = 0; k < length; k++)
            bytes_put(&model, from + rank * length + k, content((uint64_t)rank + 2, k));
    check_file(t, &model);
    memory_release(&m);
    bytes_release(&model);
}

static void must_fail(struct test *t, const char *what, int code, int class)
{
    int got = MPI_SUCCESS;
    MPI_Error_class(code, &got);
    if (got != class)
        differ(t, "%s: error class %d, not %d", what, got, class);
}

/* Writing to a file opened for reading, and the other way round, is refused on every rank,
 * and the handle is good for what it was opened for. */
static void case_wrong_mode(struct test *t, int variant)
{
    struct bytes model = {0};
    model_records(t, &model, 0, 5, 1);
    create_file(t, &model);
    struct memory m = memory_make(PLAIN, RECORD, 4);
    MPI_File file = open_file(t, variant == 0 ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);
    set_records_view(t, file, t->rank, t->ranks);
    if (variant == 0) {
        must_fail(t, "write_all", call_write(ALL, file, 0, &m, MPI_STATUS_IGNORE),
                  MPI_ERR_READ_ONLY);
        must_fail(t, "iwrite_at_all", call_write(I_AT_ALL, file, 0, &m, MPI_STATUS_IGNORE),
                  MPI_ERR_READ_ONLY);
        read_records(t, file, AT_ALL, 0, 5, 1, t->rank);
    } else {
        must_fail(t, "read_all", call_read(ALL, file, 0, &m, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
        must_fail(t, "iread_at_all", call_read(I_AT_ALL, file, 0, &m, MPI_STATUS_IGNORE),
                  MPI_ERR_ACCESS);
        write_records(t, file, AT_ALL, 0, 5, 9);
        model_records(t, &model, 0, 5, 9);
    }
    close_file(t, &file);
    check_file(t, &model);
    memory_release(&m);
    bytes_release(&model);
}

static void case_delete_on_close(struct test *t, int variant)
{
    (void)variant;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    set_records_view(t, file, t->rank, t->ranks);
    write_records(t, file, ALL, 0, 10, 1);
    synchronise(t, file);
    read_records(t, file, AT_ALL, 0, 10, 1, t->rank);
    close_file(t, &file);
    MPI_Barrier(t->comm);
    if (t->rank == 0 && access(t->path, F_OK) == 0)
        differ(t, "the file is still there");
}

/* --- atomic mode --- */

/* What one call wrote, the next call of another rank sees without a sync. */
static void case_atomic(struct test *t, int variant)
{
    enum kind kind = AT_ALL + (enum kind)variant;
    int next = (t->rank + 1) % t->ranks;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_atomicity", MPI_File_set_atomicity(file, 1));
    set_records_view(t, file, t->rank, t->ranks);
    for (int round = 1; round <= 5; round++) {
        uint64_t seed = (uint64_t)round * 1000;
        set_records_view(t, file, t->rank, t->ranks);
        write_records(t, file, kind, 0, 30, seed);
        MPI_Barrier(t->comm);
        set_records_view(t, file, next, t->ranks);
        struct memory m = memory_make(PLAIN, 30 * RECORD, 4);
        must(t, "read_at",
             MPI_File_read_at(file, 0, m.address, m.count, m.type, MPI_STATUS_IGNORE));
        memory_check(t, &m, 30 * RECORD, seed + (uint64_t)next);
        memory_release(&m);
        read_records(t, file, kind, 0, 30, seed, next);
        MPI_Barrier(t->comm);
    }
    close_file(t, &file);
}

/* What a rank wrote on its own, others see in the next collective read. */
static void case_atomic_individual(struct test *t, int variant)
{
    (void)variant;
    int next = (t->rank + 1) % t->ranks;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_atomicity", MPI_File_set_atomicity(file, 1));
    for (int round = 1; round <= 5; round++) {
        uint64_t seed = (uint64_t)round * 1000;
        struct memory m = memory_make(PLAIN, 30 * RECORD, 4);
        memory_fill(&m, seed + (uint64_t)t->rank);
        set_records_view(t, file, t->rank, t->ranks);
        must(t, "write_at",
             MPI_File_write_at(file, 0, m.address, m.count, m.type, MPI_STATUS_IGNORE));
        memory_release(&m);
        MPI_Barrier(t->comm);
        set_records_view(t, file, next, t->ranks);
        read_records(t, file, AT_ALL, 0, 30, seed, next);
        MPI_Barrier(t->comm);
    }
    close_file(t, &file);
}

/* All ranks write the same pieces: all bytes of them are one rank's. */
static void case_atomic_overlap(struct test *t, int kind)
{
    enum { LENGTH = 30000 };
    struct view v = {0, 100, 130, 1};
    struct memory m = memory_make(PLAIN, LENGTH, 1);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_atomicity", MPI_File_set_atomicity(file, 1));
    set_view(t, file, &v);
    memset(m.origin, t->rank + 1, LENGTH);
    must(t, "write", call_write(kind, file, 0, &m, MPI_STATUS_IGNORE));
    close_file(t, &file);
    MPI_Barrier(t->comm);
    unsigned char winner = 0, got;
    for (int64_t k = 0; k < LENGTH && t->rank == 0; k++) {
        if (!peek(t, t->path, view_place(&v, k), &got, 1))
            break;
        winner = k == 0 ? got : winner;
        if (got != winner || got == 0 || got > t->ranks)
            differ(t, "byte %" PRId64 " is rank %d's, the first one is rank %d's", k, got - 1,
                   winner - 1);
    }
    memory_release(&m);
}

/* --- external32 --- */

static void case_external32(struct test *t, int kind)
{
    enum { COUNT = 50 };
    int value[COUNT], got[COUNT] = {0};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    struct memory m = {.address = value, .count = COUNT, .type = MPI_INT};
    struct memory back = {.address = got, .count = COUNT, .type = MPI_INT};
    MPI_Offset first = is_ordered(kind) ? 0 : t->rank * COUNT * 4;
    MPI_Status status;
    for (int i = 0; i < COUNT; i++)
        value[i] = 0x01020304 + t->rank * 1000 + i;
    must(t, "set_view",
         MPI_File_set_view(file, first, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    must(t, "write", call_write(kind, file, 0, &m, &status));
    check_count(t, "write", &status, sizeof value);
    synchronise(t, file);
    for (int i = 0; i < t->ranks * COUNT && t->rank == 0; i++) {
        unsigned char byte[4] = {0};
        int wanted = 0x01020304 + i / COUNT * 1000 + i % COUNT;
        peek(t, t->path, 4 * (int64_t)i, byte, 4);
        if (byte[0] << 24 != (wanted & 0x7f000000) || byte[1] != (wanted >> 16 & 0xff) ||
            byte[2] != (wanted >> 8 & 0xff) || byte[3] != (wanted & 0xff)) {
            differ(t, "number %d in the file is %02x%02x%02x%02x, not %08x", i, byte[0], byte[1],
                   byte[2], byte[3], (unsigned)wanted);
            break;
        }
    }
    if (is_ordered(kind))
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    else
        MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_Barrier(t->comm);
    must(t, "read", call_read(kind, file, 0, &back, &status));
    check_count(t, "read", &status, sizeof value);
    if (memcmp(got, value, sizeof value) != 0)
        differ(t, "read %08x, not %08x", (unsigned)got[0], (unsigned)value[0]);
    close_file(t, &file);
}

/* Records of three doubles with holes between, in the file and in memory. */
static void case_external32_holes(struct test *t, int kind)
{
    enum { ROUNDS = 20 };
    double value[ROUNDS * 5], got[ROUNDS * 5];
    MPI_Datatype block, filetype, memory;
    MPI_Type_contiguous(3, MPI_DOUBLE, &block);
    MPI_Type_create_resized(block, 0, t->ranks * 24 + 8, &filetype);
    MPI_Type_vector(ROUNDS, 3, 5, MPI_DOUBLE, &memory);
    MPI_Type_commit(&filetype);
    MPI_Type_commit(&memory);
    for (int i = 0; i < ROUNDS * 5; i++) {
        value[i] = i % 5 < 3 ? t->rank + i / 1024.0 : -1;
        got[i] = -1;
    }
    struct memory m = {.address = value, .count = 1, .type = memory};
    struct memory back = {.address = got, .count = 1, .type = memory};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_view",
         MPI_File_set_view(file, t->rank * 24, MPI_DOUBLE, filetype, "external32", MPI_INFO_NULL));
    must(t, "write", call_write(kind, file, 0, &m, MPI_STATUS_IGNORE));
    synchronise(t, file);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    must(t, "read", call_read(kind, file, 0, &back, MPI_STATUS_IGNORE));
    if (memcmp(got, value, sizeof value) != 0)
        differ(t, "what is read is not what was written");
    for (int rank = 0; rank < t->ranks && t->rank == 0; rank++) {
        union {
            double number;
            unsigned char byte[8];
        } wanted = {rank + 1 / 1024.0};
        unsigned char byte[8] = {0};
        peek(t, t->path, rank * 24 + 8, byte, 8);
        for (int i = 0; i < 8; i++)
            if (byte[i] != wanted.byte[7 - i])
                differ(t, "byte %d of a number of rank %d is %02x, not %02x", i, rank, byte[i],
                       wanted.byte[7 - i]);
    }
    close_file(t, &file);
    MPI_Type_free(&memory);
    MPI_Type_free(&filetype);
    MPI_Type_free(&block);
}

/* --- calls between --- */

static void individual(struct test *t, MPI_File file, int64_t count, uint64_t seed, bool blocking)
{
    struct memory m = memory_make(PLAIN, count * RECORD, 4);
    MPI_Request request = MPI_REQUEST_NULL;
    memory_fill(&m, seed + (uint64_t)t->rank);
    if (blocking)
        must(t, "write", MPI_File_write(file, m.address, m.count, m.type, MPI_STATUS_IGNORE));
    else
        must(t, "iwrite", MPI_File_iwrite(file, m.address, m.count, m.type, &request));
    must(t, "wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    memory_release(&m);
}

/* Individual and collective calls move the same file pointer. */
static void case_intermixed(struct test *t, int kind)
{
    struct bytes model = {0};
    MPI_Offset position = 0;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_records_view(t, file, t->rank, t->ranks);
    individual(t, file, 3, 100, true);
    write_records(t, file, kind, 3, 4, 200);
    individual(t, file, 2, 300, false);
    write_records(t, file, kind, 9, 1, 400);
    if (t->rank % 2 == 0)
        individual(t, file, 5, 500, true);
    else
        MPI_File_seek(file, 5 * RECORD / 4, MPI_SEEK_CUR);
    write_records(t, file, kind, 15, 2, 600);
    MPI_File_get_position(file, &position);
    if (position != 17 * RECORD / 4)
        differ(t, "the file pointer is %lld, not %d", (long long)position, 17 * RECORD / 4);
    model_records(t, &model, 0, 3, 100);
    model_records(t, &model, 3, 4, 200);
    model_records(t, &model, 7, 2, 300);
    model_records(t, &model, 9, 1, 400);
    model_records(t, &model, 15, 2, 600);
    for (int rank = 0; rank < t->ranks; rank += 2) {
        struct view v = records(rank, t->ranks);
        model_write(&model, &v, 10 * RECORD, 5 * RECORD, (uint64_t)rank + 500);
    }
    synchronise(t, file);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    read_records(t, file, kind, 0, 3, 100, t->rank);
    struct memory m = memory_make(PLAIN, 4 * RECORD, 4);
    must(t, "read", MPI_File_read(file, m.address, m.count, m.type, MPI_STATUS_IGNORE));
    memory_check(t, &m, 4 * RECORD, (uint64_t)t->rank + 200);
    memory_release(&m);
    read_records(t, file, kind, 7, 2, 300, t->rank);
    close_file(t, &file);
    check_file(t, &model);
    bytes_release(&model);
}

/* Ordered calls and single calls on the shared file pointer, one after another. */
static void case_intermixed_shared(struct test *t, int variant)
{
    static const enum kind kind[] = {ORDERED, SPLIT_ORDERED};
    enum { LENGTH = 100 };
    struct bytes model = {0};
    int64_t at = 0;
    struct memory m = memory_make(PLAIN, LENGTH, 1);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int round = 0; round < 3; round++) {
        memory_fill(&m, (uint64_t)(10 * round + t->rank));
        must(t, "write_ordered", call_write(kind[variant], file, 0, &m, MPI_STATUS_IGNORE));
        for (int rank = 0; rank < t->ranks; rank++)
            for (int64_t k = 0; k < LENGTH; k++)
                bytes_put(&model, at++, content((uint64_t)(10 * round + rank), k));
        MPI_Barrier(t->comm);
        if (t->rank == t->ranks - 1) {
            memory_fill(&m, (uint64_t)(500 + round));
            must(t, "write_shared",
                 MPI_File_write_shared(file, m.address, m.count, m.type, MPI_STATUS_IGNORE));
        }
        for (int64_t k = 0; k < LENGTH; k++)
            bytes_put(&model, at++, content((uint64_t)(500 + round), k));
        MPI_Barrier(t->comm);
    }
    close_file(t, &file);
    check_file(t, &model);
    memory_release(&m);
    bytes_release(&model);
}

/* The size of the file changes between collective calls. */
static void case_sizes(struct test *t, int variant)
{
    (void)variant;
    struct bytes model = {0};
    MPI_Offset size = -1;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_records_view(t, file, t->rank, t->ranks);
    write_records(t, file, ALL, 0, 10, 1);
    must(t, "set_size", MPI_File_set_size(file, 4 * RECORD * t->ranks));
    write_records(t, file, AT_ALL, 8, 1, 2);
    synchronise(t, file);
    MPI_File_get_size(file, &size);
    if (size != 9 * RECORD * t->ranks)
        differ(t, "the size is %lld, not %d", (long long)size, 9 * RECORD * t->ranks);
    MPI_Barrier(t->comm);
    must(t, "set_size", MPI_File_set_size(file, 12 * RECORD * t->ranks));
    synchronise(t, file);
    read_records(t, file, AT_ALL, 8, 1, 2, t->rank);
    close_file(t, &file);
    model_records(t, &model, 0, 4, 1);
    model_records(t, &model, 8, 1, 2);
    bytes_extend(&model, 12 * RECORD * t->ranks);
    check_file(t, &model);
    bytes_release(&model);
}

/* --- communicators and files --- */

static void trip_on(struct test *t, MPI_Comm comm, const char *path, uint64_t seed, bool keep)
{
    struct test own = {.comm = comm};
    MPI_Comm_rank(comm, &own.rank);
    MPI_Comm_size(comm, &own.ranks);
    snprintf(own.path, sizeof own.path, "%s", path);
    struct bytes model = {0};
    MPI_File file = open_file(&own, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_records_view(&own, file, own.rank, own.ranks);
    write_records(&own, file, ALL, 0, 20, seed);
    write_records(&own, file, ALL, 20, 5, seed + 100);
    synchronise(&own, file);
    read_records(&own, file, AT_ALL, 20, 5, seed + 100, own.rank);
    close_file(&own, &file);
    model_records(&own, &model, 0, 20, seed);
    model_records(&own, &model, 20, 5, seed + 100);
    check_file(&own, &model);
    bytes_release(&model);
    if (own.rank == 0 && !keep)
        unlink(own.path);
    if (own.failure[0] != '\0')
        differ(t, "%s", own.failure);
}

enum split { HALVES, ODD_AND_EVEN, REVERSED, ALL_BUT_LAST, SELF };

static void case_communicator(struct test *t, int variant)
{
    char path[sizeof t->path + 16];
    int colour[] = {t->rank < t->ranks / 2, t->rank % 2, 0,
                    t->rank == t->ranks - 1 && t->ranks > 1 ? 1 : 0, t->rank};
    int key = variant == REVERSED ? -t->rank : t->rank;
    MPI_Comm part;
    MPI_Comm_split(t->comm, colour[variant], key, &part);
    snprintf(path, sizeof path, "%s.%d", t->path, colour[variant]);
    if (variant != ALL_BUT_LAST || colour[variant] == 0)
        trip_on(t, part, path, (uint64_t)colour[variant] * 1000, false);
    MPI_Comm_free(&part);
}

/* A communicator with a grid, of which Open MPI makes its own groups of aggregators. */
static void case_cartesian(struct test *t, int variant)
{
    int size[2] = {0, 0}, periodic[2] = {0, 0};
    MPI_Comm grid;
    (void)variant;
    MPI_Dims_create(t->ranks, 2, size);
    MPI_Cart_create(t->comm, 2, size, periodic, 1, &grid);
    trip_on(t, grid, t->path, 5, true);
    MPI_Comm_free(&grid);
}

/* Several files at once; the calls go round them, and they are closed in another order. */
static void case_several_files(struct test *t, int kind)
{
    enum { FILES = 6 };
    char path[FILES][sizeof t->path + 16];
    MPI_File file[FILES];
    for (int f = 0; f < FILES; f++) {
        snprintf(path[f], sizeof path[f], "%s.%d", t->path, f);
        file[f] = open_path(t->comm, path[f], MPI_MODE_RDWR | MPI_MODE_CREATE);
        set_records_view(t, file[f], t->rank, t->ranks);
    }
    for (int round = 0; round < 3; round++)
        for (int f = 0; f < FILES; f++)
            write_records(t, file[f], kind, 4 * round, 4, (uint64_t)(1000 * f + 100 * round));
    for (int f = FILES - 1; f >= 0; f--) {
        synchronise(t, file[f]);
        read_records(t, file[f], AT_ALL, 4, 4, (uint64_t)(1000 * f + 100), t->rank);
    }
    for (int i = 0; i < FILES; i++)
        close_file(t, &file[i * 5 % FILES]);
    MPI_Barrier(t->comm);
    for (int f = 0; f < FILES && t->rank == 0; f++)
        for (int rank = 0; rank < t->ranks; rank++) {
            struct view v = records(rank, t->ranks);
            unsigned char got = 0;
            for (int64_t k = 0; k < 12 * RECORD; k++) {
                uint64_t seed = (uint64_t)(1000 * f + k / (4 * RECORD) * 100 + rank);
                if (!peek(t, path[f], view_place(&v, k), &got, 1) ||
                    got != content(seed, k % (4 * RECORD)))
                    differ(t, "file %d, byte %" PRId64 " is %02x", f, view_place(&v, k), got);
            }
            if (rank == t->ranks - 1)
                unlink(path[f]);
        }
}

/* The same file twice: two handles, each with a view and a pointer of its own. */
static void case_two_handles(struct test *t, int variant)
{
    (void)variant;
    struct bytes model = {0};
    MPI_File one = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE), two = open_file(t, MPI_MODE_RDWR);
    set_records_view(t, one, t->rank, t->ranks);
    set_records_view(t, two, t->ranks - 1 - t->rank, t->ranks);
    write_records(t, one, ALL, 0, 6, 1);
    write_records(t, two, AT_ALL, 6, 6, 50);
    close_file(t, &one);
    close_file(t, &two);
    model_records(t, &model, 0, 6, 1);
    for (int rank = 0; rank < t->ranks; rank++) {
        struct view v = records(t->ranks - 1 - rank, t->ranks);
        model_write(&model, &v, 6 * RECORD, 6 * RECORD, 50 + (uint64_t)rank);
    }
    check_file(t, &model);
    bytes_release(&model);
}

/* --- threads --- */

struct thread {
    struct test test;
    char path[sizeof((struct test *)0)->path];
    MPI_Comm comm;
    uint64_t seed;
    pthread_t id;
};

static void *thread_main(void *argument)
{
    struct thread *own = argument;
    for (int i = 0; i < 10; i++)
        trip_on(&own->test, own->comm, own->path, own->seed + (uint64_t)i, false);
    return NULL;
}

static void case_threads(struct test *t, int variant)
{
    enum { THREADS = 2 };
    struct thread *thread = checked_alloc(THREADS, sizeof *thread);
    (void)variant;
    if (!t->threads) {
        skip_case(t, "without MPI_THREAD_MULTIPLE");
        free(thread);
        return;
    }
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(t->comm, &thread[i].comm);
        thread[i].seed = (uint64_t)i * 10000;
        snprintf(thread[i].path, sizeof thread[i].path, "%.4000s.%d", t->path, i);
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i].id, NULL, thread_main, &thread[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i].id, NULL);
        if (thread[i].test.failure[0] != '\0')
            differ(t, "thread %d: %s", i, thread[i].test.failure);
        MPI_Comm_free(&thread[i].comm);
    }
    free(thread);
}

/* --- lives of handles --- */

static void case_many_views(struct test *t, int kind)
{
    enum { TIMES = 100 };
    struct bytes model = {0};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int i = 0; i < TIMES; i++) {
        int shift = (t->rank + i) % t->ranks, length = 1 + i % 13;
        int64_t first = (int64_t)i * t->ranks * 40;
        struct view v = {first + shift * length, length, t->ranks * length, 1};
        struct memory m = memory_make(i % 2 ? HOLES : PLAIN, 3 * length, 1);
        set_view(t, file, &v);
        memory_fill(&m, (uint64_t)(i * t->ranks + t->rank));
        must(t, "write", call_write(kind, file, 0, &m, MPI_STATUS_IGNORE));
        memory_release(&m);
        for (int rank = 0; rank < t->ranks; rank++) {
            struct view of = {first + (rank + i) % t->ranks * length, length, t->ranks * length, 1};
            model_write(&model, &of, 0, 3 * length, (uint64_t)(i * t->ranks + rank));
        }
    }
    close_file(t, &file);
    check_file(t, &model);
    bytes_release(&model);
}

/* The same view set again and again, and the same call: what is kept between calls must not
 * outlive what it was made for. */
static void case_same_view_again(struct test *t, int variant)
{
    enum kind kind = AT_ALL + (enum kind)variant;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int i = 0; i < 20; i++) {
        int64_t count = i % 3 == 2 ? 7 : 4;
        set_records_view(t, file, (t->rank + i / 5) % t->ranks, t->ranks);
        write_records(t, file, kind, 0, count, (uint64_t)i * 100);
        synchronise(t, file);
        read_records(t, file, AT_ALL, 0, count, (uint64_t)i * 100, t->rank);
        MPI_Barrier(t->comm);
    }
    close_file(t, &file);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count;
}

/* Resident memory in KiB; -1 where /proc does not say. The sanitizer keeps what is freed. */
static long resident(void)
{
#ifdef __SANITIZE_ADDRESS__
    return -1;
#endif
    char line[128];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "VmRSS: %ld kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib;
}

static void open_write_close(struct test *t, int i)
{
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_records_view(t, file, t->rank, t->ranks);
    write_records(t, file, ALL, 0, 4, (uint64_t)i * 100);
    synchronise(t, file);
    read_records(t, file, AT_ALL, 0, 4, (uint64_t)i * 100, t->rank);
    close_file(t, &file);
}

/* Neither descriptors nor memory stay behind. 64 KiB a file is far more than what Open MPI's
 * own bookkeeping leaks, and less than any buffer for data. */
static void case_open_and_close(struct test *t, int variant)
{
    static const int times[] = {100, 1000};
    enum { WARM = 20, SLACK = 8192 };
    for (int i = 0; i < WARM; i++)
        open_write_close(t, i);
    int descriptors = open_descriptors();
    long before = resident();
    for (int i = 0; i < times[variant]; i++)
        open_write_close(t, i);
    long growth = resident() - before, most = SLACK + 8L * times[variant];
    if (open_descriptors() != descriptors)
        differ(t, "%d descriptors are open, %d before", open_descriptors(), descriptors);
    if (growth > most)
        differ(t, "memory has grown by %ld KiB in %d files", growth, times[variant]);
}

static void case_one_file_many_calls(struct test *t, int variant)
{
    enum { TIMES = 600, MOST = 4096 };
    (void)variant;
    long before = 0;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_records_view(t, file, t->rank, t->ranks);
    for (int i = 0; i < TIMES; i++) {
        write_records(t, file, AT_ALL, i % 5, 4, 1);
        if (i == TIMES / 4)
            before = resident();
    }
    if (resident() - before > MOST)
        differ(t, "memory has grown by %ld KiB", resident() - before);
    close_file(t, &file);
}

const struct family files_families[] = {
    {"write_only", case_write_only, kind_names},
    {"append", case_append, (const char *const[]){"all", "ordered", NULL}},
    {"wrong_mode", case_wrong_mode, (const char *const[]){"read_only", "write_only", NULL}},
    {"delete_on_close", case_delete_on_close, NULL},
    {"atomic", case_atomic, offset_kinds},
    {"atomic_individual", case_atomic_individual, NULL},
    {"atomic_overlap", case_atomic_overlap, own_kinds},
    {"external32", case_external32, kind_names},
    {"external32_holes", case_external32_holes, own_kinds},
    {"intermixed", case_intermixed, pointer_kinds},
    {"intermixed_shared", case_intermixed_shared,
     (const char *const[]){"ordered", "split_ordered", NULL}},
    {"sizes", case_sizes, NULL},
    {"communicator", case_communicator,
     (const char *const[]){"halves", "odd_and_even", "reversed", "all_but_last", "self", NULL}},
    {"cartesian", case_cartesian, NULL},
    {"several_files", case_several_files, own_kinds},
    {"two_handles", case_two_handles, NULL},
    {"threads", case_threads, NULL},
    {"many_views", case_many_views, own_kinds},
    {"same_view_again", case_same_view_again, offset_kinds},
    {"open_and_close", case_open_and_close, (const char *const[]){"100", "1000", NULL}},
    {"one_file_many_calls", case_one_file_many_calls, NULL},
    {0},
};
