/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: modes of files and of access; other calls between; communicators and threads;
 * handles that live long. */
#include "conformance.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD 60 /* bytes */

/* Records of the ranks in turn. */
static const struct deal records = {0, RECORD, RECORD, 0, 4};

static void model_records(struct test *t, struct bytes *model, int64_t from, int64_t count,
                          uint64_t seed)
{
    model_deal(t, model, &records, from * RECORD, count * RECORD, seed);
}

static struct data data_of(int64_t from, int64_t count, uint64_t seed, int rank)
{
    return (struct data){PLAIN, 4, from * RECORD, count * RECORD, seed + (uint64_t)rank, false};
}

static void write_records(struct test *t, MPI_File file, enum kind kind, int64_t from,
                          int64_t count, uint64_t seed)
{
    const struct data d = data_of(from, count, seed, t->rank);
    must(t, "write", write_data(t, kind, file, &d));
}

/* Reads the records that rank `of` wrote with this seed, through the view that is set. */
static void read_records(struct test *t, MPI_File file, enum kind kind, int64_t from, int64_t count,
                         uint64_t seed, int of)
{
    const struct data d = data_of(from, count, seed, of);
    must(t, "read", read_data(t, kind, file, &d));
}

/* What this rank wrote, it reads back by an offset after all ranks have written. */
static void write_and_read(struct test *t, MPI_File file, enum kind kind, int64_t count,
                           uint64_t seed)
{
    write_records(t, file, kind, 0, count, seed);
    synchronise(t, file);
    read_records(t, file, AT_ALL, 0, count, seed, t->rank);
}

/* An individual call at the file pointer, with records of a rank. */
enum alone { READ, WRITE, IWRITE };
static void move_alone(struct test *t, MPI_File file, enum alone call, int64_t count, uint64_t seed,
                       int of)
{
    struct memory m = memory_make(PLAIN, count * RECORD, 4);
    MPI_Request request = MPI_REQUEST_NULL;
    if (call != READ)
        memory_fill(&m, seed + (uint64_t)of);
    if (call == READ)
        must(t, "read", MPI_File_read(file, m.address, m.count, m.type, MPI_STATUS_IGNORE));
    else if (call == WRITE)
        must(t, "write", MPI_File_write(file, m.address, m.count, m.type, MPI_STATUS_IGNORE));
    else
        must(t, "iwrite", MPI_File_iwrite(file, m.address, m.count, m.type, &request));
    must(t, "wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    memory_check(t, &m, count * RECORD, seed + (uint64_t)of);
    memory_release(&m);
}

static void set_records_view(struct test *t, MPI_File file, int of)
{
    struct view v = dealt_view(&records, t, of);
    set_view(t, file, &v);
}

/* With the view of this rank's records. */
static MPI_File open_records(struct test *t, int amode)
{
    MPI_File file = open_file(t, amode);
    set_records_view(t, file, t->rank);
    return file;
}

static void check_pointer(struct test *t, MPI_File file, int64_t wanted)
{
    MPI_Offset position = -1;
    MPI_File_get_position(file, &position);
    if (position != wanted)
        differ(t, "the file pointer is %lld, not %" PRId64, (long long)position, wanted);
}

/* Data of all ranks one after another. */
static void append_to_model(const struct test *t, struct bytes *model, int64_t bytes, uint64_t seed)
{
    const struct deal appended = {model->size, bytes, bytes, 0, 1};
    model_deal(t, model, &appended, 0, bytes, seed);
}

/* --- modes --- */

/* With MPI_MODE_APPEND both file pointers begin at the end of file. */
static void case_append(struct test *t, int variant)
{
    enum { OLD = 777, LENGTH = 100 };
    static const enum kind kind[] = {ALL, ORDERED};
    const struct data d = {PLAIN, 1, 0, LENGTH, (uint64_t)t->rank + 2, true};
    struct bytes model = create_filled(t, OLD, 1);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_APPEND);
    check_pointer(t, file, OLD);
    if (kind[variant] == ALL)
        MPI_File_seek(file, t->rank * LENGTH, MPI_SEEK_CUR);
    must(t, "write", write_data(t, kind[variant], file, &d));
    close_file(t, &file);
    append_to_model(t, &model, LENGTH, 2);
    check_file(t, &model);
}

/* Writing to a file opened for reading, and the other way round, is refused on every rank,
 * and the handle is good for what it was opened for. */
static void case_wrong_mode(struct test *t, int variant)
{
    static const enum kind kinds[] = {ALL, I_AT_ALL};
    bool read_only = variant == 0;
    int wanted = read_only ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS;
    struct bytes model = {0};
    model_records(t, &model, 0, 5, 1);
    create_file(t, &model);
    struct memory m = memory_make(PLAIN, RECORD, 4);
    MPI_File file = open_records(t, read_only ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);
    for (int i = 0; i < 2; i++) {
        int rc = (read_only ? call_write : call_read)(kinds[i], file, 0, &m, MPI_STATUS_IGNORE);
        int class = same_class(t, kind_names[kinds[i]], rc);
        if (class != wanted)
            differ(t, "%s: error class %d, not %d", kind_names[kinds[i]], class, wanted);
    }
    if (read_only) {
        read_records(t, file, AT_ALL, 0, 5, 1, t->rank);
    } else {
        write_records(t, file, AT_ALL, 0, 5, 9);
        model_records(t, &model, 0, 5, 9);
    }
    close_file(t, &file);
    check_file(t, &model);
    memory_release(&m);
}

static void case_delete_on_close(struct test *t, int variant)
{
    (void)variant;
    MPI_File file = open_records(t, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    write_and_read(t, file, ALL, 10, 1);
    close_file(t, &file);
    MPI_Barrier(t->comm);
    if (t->rank == 0 && access(t->path, F_OK) == 0)
        differ(t, "the file is still there");
}

/* --- atomic mode --- */

/* What one rank wrote, by a collective call or alone, others see without a sync in the next
 * individual and collective reads. */
static void atomic_rounds(struct test *t, enum kind kind, bool alone)
{
    int next = (t->rank + 1) % t->ranks;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    must(t, "set_atomicity", MPI_File_set_atomicity(file, 1));
    for (int round = 1; round <= 5; round++) {
        uint64_t seed = (uint64_t)round * 1000;
        set_records_view(t, file, t->rank);
        if (alone)
            move_alone(t, file, WRITE, 30, seed, t->rank);
        else
            write_records(t, file, kind, 0, 30, seed);
        MPI_Barrier(t->comm);
        set_records_view(t, file, next);
        if (!alone)
            move_alone(t, file, READ, 30, seed, next);
        read_records(t, file, kind, 0, 30, seed, next);
        MPI_Barrier(t->comm);
    }
    close_file(t, &file);
}

static void case_atomic(struct test *t, int variant)
{
    atomic_rounds(t, AT_ALL + (enum kind)variant, false);
}

static void case_atomic_individual(struct test *t, int variant)
{
    (void)variant;
    atomic_rounds(t, AT_ALL, true);
}

/* All ranks write the same pieces: all bytes of them are one rank's. */
void case_atomic_overlap(struct test *t, int kind)
{
    enum { LENGTH = 30000 };
    struct view v = {0, 100, 130, 1};
    struct memory m = memory_make(PLAIN, LENGTH, 1);
    MPI_File file = open_with(t, MPI_MODE_RDWR | MPI_MODE_CREATE, t->row);
    must(t, "set_atomicity", MPI_File_set_atomicity(file, 1));
    set_view(t, file, &v);
    memset(m.origin, t->rank + 1, LENGTH);
    must(t, "write", call_write(kind, file, 0, &m, MPI_STATUS_IGNORE));
    close_file(t, &file);
    MPI_Barrier(t->comm);
    unsigned char file_bytes[LENGTH / 100 * 130];
    bool there = t->rank == 0 && peek(t, t->path, 0, file_bytes, sizeof file_bytes - 30);
    for (int64_t k = 0; k < LENGTH && there; k++) {
        int got = file_bytes[view_place(&v, k)], first = file_bytes[0];
        if (got != first || got == 0 || got > t->ranks)
            differ(t, "byte %" PRId64 " is rank %d's, the first is rank %d's", k, got - 1,
                   first - 1);
    }
    memory_release(&m);
}

/* --- external32 --- */

/* How the elements of the ranks lie in memory and in a file, whose elements have their bytes the
 * other way round. */
struct encoded {
    struct deal deal;
    enum shape shape;
    int64_t bytes;
};

static void model_encoded(struct test *t, struct bytes *model, const struct encoded *e)
{
    int size = e->deal.etype;
    for (int rank = 0; rank < t->ranks; rank++) {
        const struct view v = dealt_view(&e->deal, t, rank);
        for (int64_t k = 0; k < e->bytes; k++)
            bytes_put(model, view_place(&v, k - k % size + size - 1 - k % size),
                      content((uint64_t)rank, k));
    }
}

/* Calls by a common pointer have one view of all bytes. */
static void case_external32(struct test *t, int kind)
{
    const struct encoded *e = t->row;
    struct data d = {e->shape, e->deal.etype, 0, e->bytes, (uint64_t)t->rank, false};
    struct view v = dealt_view(&e->deal, t, t->rank);
    struct bytes model = {0};
    bool ordered = is_ordered((enum kind)kind);
    if (ordered)
        v = (struct view){0, e->bytes, e->bytes, e->deal.etype};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_view_as(t, file, &v, "external32", MPI_INFO_NULL);
    must(t, "write", write_data(t, kind, file, &d));
    synchronise(t, file);
    model_encoded(t, &model, e);
    check_file(t, &model);
    (ordered ? MPI_File_seek_shared : MPI_File_seek)(file, 0, MPI_SEEK_SET);
    MPI_Barrier(t->comm);
    must(t, "read", read_data(t, kind, file, &d));
    close_file(t, &file);
}

/* --- calls between --- */

/* Individual and collective calls move the same file pointer. */
static void case_intermixed(struct test *t, int kind)
{
    struct bytes model = {0};
    MPI_File file = open_records(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    move_alone(t, file, WRITE, 3, 100, t->rank);
    write_records(t, file, kind, 3, 4, 200);
    move_alone(t, file, IWRITE, 2, 300, t->rank);
    write_records(t, file, kind, 9, 1, 400);
    if (t->rank % 2 == 0)
        move_alone(t, file, WRITE, 5, 500, t->rank);
    else
        MPI_File_seek(file, 5 * RECORD / 4, MPI_SEEK_CUR);
    write_records(t, file, kind, 15, 2, 600);
    check_pointer(t, file, 17 * RECORD / 4);
    model_records(t, &model, 0, 3, 100);
    model_records(t, &model, 3, 4, 200);
    model_records(t, &model, 7, 2, 300);
    model_records(t, &model, 9, 1, 400);
    model_records(t, &model, 15, 2, 600);
    for (int rank = 0; rank < t->ranks; rank += 2) {
        struct view v = dealt_view(&records, t, rank);
        model_write(&model, &v, 10 * RECORD, 5 * RECORD, (uint64_t)rank + 500);
    }
    synchronise(t, file);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    read_records(t, file, kind, 0, 3, 100, t->rank);
    move_alone(t, file, READ, 4, 200, t->rank);
    read_records(t, file, kind, 7, 2, 300, t->rank);
    close_file(t, &file);
    check_file(t, &model);
}

/* Each rank writes records of its own again and again, which needs no sync. Who accesses the file
 * for it changes: aggregators or it itself, by collective calls or alone. */
static void case_own_records(struct test *t, int kind)
{
    enum { RECORDS = 30, ROUNDS = 12 };
    /* ROMIO alone would write what lies between the records, too. */
    static const char *const hints[] = {
        "romio_cb_write=enable romio_cb_read=disable romio_ds_write=disable",
        "romio_cb_write=disable romio_cb_read=enable romio_ds_write=disable"};
    const struct view v = dealt_view(&records, t, t->rank);
    struct bytes model = {0};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t seed = (uint64_t)round * 1000;
        MPI_Info info = make_info(hints[round % 2]);
        set_view_as(t, file, &v, "native", info);
        MPI_Info_free(&info);
        if (round % 3 == 2)
            move_alone(t, file, WRITE, RECORDS, seed, t->rank);
        else
            write_records(t, file, (enum kind)kind, 0, RECORDS, seed);
        MPI_File_seek(file, 0, MPI_SEEK_SET);
        if (round % 4 < 2)
            move_alone(t, file, READ, RECORDS, seed, t->rank);
        else
            read_records(t, file, (enum kind)kind, 0, RECORDS, seed, t->rank);
    }
    close_file(t, &file);
    model_records(t, &model, 0, RECORDS, (ROUNDS - 1) * 1000);
    check_file(t, &model);
}

/* Ordered calls and single calls on the shared file pointer, one after another. */
static void case_intermixed_shared(struct test *t, int variant)
{
    static const enum kind kind[] = {ORDERED, SPLIT_ORDERED};
    enum { LENGTH = 100 };
    struct bytes model = {0};
    struct memory m = memory_make(PLAIN, LENGTH, 1);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int round = 0; round < 3; round++) {
        memory_fill(&m, (uint64_t)(10 * round + t->rank));
        must(t, "write_ordered", call_write(kind[variant], file, 0, &m, MPI_STATUS_IGNORE));
        append_to_model(t, &model, LENGTH, (uint64_t)(10 * round));
        MPI_Barrier(t->comm);
        memory_fill(&m, (uint64_t)(500 + round));
        if (t->rank == t->ranks - 1)
            must(t, "write_shared",
                 MPI_File_write_shared(file, m.address, m.count, m.type, MPI_STATUS_IGNORE));
        bytes_copy(&model, model.size, m.origin, LENGTH);
        MPI_Barrier(t->comm);
    }
    close_file(t, &file);
    check_file(t, &model);
    memory_release(&m);
}

/* The size of the file changes between collective calls. */
static void case_sizes(struct test *t, int variant)
{
    (void)variant;
    struct bytes model = {0};
    MPI_Offset size = -1;
    MPI_File file = open_records(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
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
}

/* --- communicators and files --- */

static void trip_on(struct test *t, MPI_Comm comm, const char *path, uint64_t seed)
{
    struct test own = {.comm = comm};
    MPI_Comm_rank(comm, &own.rank);
    MPI_Comm_size(comm, &own.ranks);
    snprintf(own.path, sizeof own.path, "%s", path);
    struct bytes model = {0};
    MPI_File file = open_records(&own, MPI_MODE_RDWR | MPI_MODE_CREATE);
    write_records(&own, file, ALL, 0, 20, seed);
    write_records(&own, file, ALL, 20, 5, seed + 100);
    synchronise(&own, file);
    read_records(&own, file, AT_ALL, 20, 5, seed + 100, own.rank);
    close_file(&own, &file);
    model_records(&own, &model, 0, 20, seed);
    model_records(&own, &model, 20, 5, seed + 100);
    check_file(&own, &model);
    if (own.rank == 0)
        unlink(own.path);
    if (own.failure[0] != '\0')
        differ(t, "%s", own.failure);
}

static const char *const split_names[] = {"halves", "odd_and_even", "reversed", "all_but_last",
                                          "self",   "grid",         NULL};
enum split { HALVES, ODD_AND_EVEN, REVERSED, ALL_BUT_LAST, SELF, GRID };

/* Of a communicator with a grid Open MPI makes its own groups of aggregators. */
static void case_communicator(struct test *t, int variant)
{
    char path[sizeof t->path + 16];
    const int colours[] = {t->rank < t->ranks / 2,
                           t->rank % 2,
                           0,
                           t->rank == t->ranks - 1 && t->ranks > 1 ? 1 : 0,
                           t->rank,
                           0};
    int colour = colours[variant], size[2] = {0, 0}, periodic[2] = {0, 0};
    MPI_Comm part;
    MPI_Dims_create(t->ranks, 2, size);
    if (variant == GRID)
        MPI_Cart_create(t->comm, 2, size, periodic, 1, &part);
    else
        MPI_Comm_split(t->comm, colour, variant == REVERSED ? -t->rank : t->rank, &part);
    snprintf(path, sizeof path, "%s.%d", t->path, colour);
    if (variant != ALL_BUT_LAST || colour == 0)
        trip_on(t, part, path, (uint64_t)colour * 1000);
    MPI_Comm_free(&part);
}

/* Several files at once; the calls go round them, and they are closed in another order. */
static void case_several_files(struct test *t, int kind)
{
    enum { FILES = 6, ROUNDS = 3 };
    char path[FILES][sizeof t->path + 16];
    MPI_File file[FILES];
    for (int f = 0; f < FILES; f++) {
        snprintf(path[f], sizeof path[f], "%s.%d", t->path, f);
        file[f] = open_path(t->comm, path[f], MPI_MODE_RDWR | MPI_MODE_CREATE, "");
        set_records_view(t, file[f], t->rank);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int f = 0; f < FILES; f++)
            write_records(t, file[f], kind, 4 * round, 4, (uint64_t)(1000 * f + 100 * round));
    for (int f = FILES - 1; f >= 0; f--) {
        synchronise(t, file[f]);
        read_records(t, file[f], AT_ALL, 4, 4, (uint64_t)(1000 * f + 100), t->rank);
    }
    for (int i = 0; i < FILES; i++)
        close_file(t, &file[i * 5 % FILES]);
    for (int f = 0; f < FILES; f++) {
        struct bytes model = {0};
        for (int round = 0; round < ROUNDS; round++)
            model_records(t, &model, 4 * round, 4, (uint64_t)(1000 * f + 100 * round));
        check_path(t, path[f], &model);
        if (t->rank == 0)
            unlink(path[f]);
    }
}

/* A file is opened by the processes in ten orders, where there are four, and then in these orders
 * from the last to the first. */
static void case_turns(struct test *t, int variant)
{
    enum { ORDERS = 10 };
    struct bytes model = {0};
    (void)variant;
    for (int i = 0; i < 2 * ORDERS; i++) {
        int order = i < ORDERS ? i + 1 : 2 * ORDERS - i;
        MPI_Comm comm;
        MPI_Comm_split(t->comm, 0, (5 * t->rank + 3) * order % 11, &comm);
        MPI_File file = open_path(comm, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE, "");
        set_records_view(t, file, t->rank);
        write_records(t, file, ALL, 0, 4, 1);
        close_file(t, &file);
        MPI_Comm_free(&comm);
    }
    model_records(t, &model, 0, 4, 1);
    check_file(t, &model);
}

/* The same file twice: two handles, each with a view and a pointer of its own. */
static void case_two_handles(struct test *t, int variant)
{
    (void)variant;
    struct bytes model = {0};
    MPI_File one = open_records(t, MPI_MODE_RDWR | MPI_MODE_CREATE),
             two = open_file(t, MPI_MODE_RDWR);
    set_records_view(t, two, t->ranks - 1 - t->rank);
    write_records(t, one, ALL, 0, 6, 1);
    write_records(t, two, AT_ALL, 6, 6, 50);
    close_file(t, &one);
    close_file(t, &two);
    model_records(t, &model, 0, 6, 1);
    for (int rank = 0; rank < t->ranks; rank++) {
        struct view v = dealt_view(&records, t, t->ranks - 1 - rank);
        model_write(&model, &v, 6 * RECORD, 6 * RECORD, 50 + (uint64_t)rank);
    }
    check_file(t, &model);
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
        trip_on(&own->test, own->comm, own->path, own->seed + (uint64_t)i);
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

/* The same view set again and again, and the same call: what is kept between calls must not
 * outlive what it was made for. */
static void case_same_view_again(struct test *t, int variant)
{
    enum kind kind = AT_ALL + (enum kind)variant;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int i = 0; i < 20; i++) {
        int64_t count = i % 3 == 2 ? 7 : 4;
        set_records_view(t, file, (t->rank + i / 5) % t->ranks);
        write_and_read(t, file, kind, count, (uint64_t)i * 100);
        MPI_Barrier(t->comm);
    }
    close_file(t, &file);
}

const struct family files_families[] = {
    {"append", case_append, (const char *const[]){"all", "ordered", NULL}, NULL},
    {"wrong_mode", case_wrong_mode, (const char *const[]){"read_only", "write_only", NULL}, NULL},
    {"delete_on_close", case_delete_on_close, NULL, NULL},
    {"atomic", case_atomic, offset_kinds, NULL},
    {"atomic_individual", case_atomic_individual, NULL, NULL},
    {"atomic_overlap", case_atomic_overlap, own_kinds, ""},
    {"external32", case_external32, kind_names,
     ROW(struct encoded, {0, 200, 200, 0, 4}, PLAIN, 200)},
    {"external32_holes", case_external32, own_kinds,
     ROW(struct encoded, {0, 24, 24, 8, 8}, HOLES, 480)},
    {"intermixed", case_intermixed, pointer_kinds, NULL},
    {"own_records", case_own_records, own_kinds, NULL},
    {"intermixed_shared", case_intermixed_shared,
     (const char *const[]){"ordered", "split_ordered", NULL}, NULL},
    {"sizes", case_sizes, NULL, NULL},
    {"communicator", case_communicator, split_names, NULL},
    {"several_files", case_several_files, own_kinds, NULL},
    {"turns", case_turns, NULL, NULL},
    {"two_handles", case_two_handles, NULL, NULL},
    {"threads", case_threads, NULL, NULL},
    {"same_view_again", case_same_view_again, offset_kinds, NULL},
    {0},
};
