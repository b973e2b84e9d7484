/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: non-blocking collectives: many under way at a time, on several files, completed
 * in every way that MPI has, and never waiting at their start for other ranks. */
#include "conformance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES 3
#define ROUNDS 4
#define BYTES 4000

#define REQUESTS (FILES * ROUNDS)

/* FILES files with ROUNDS requests each; request (f, i) is number i * FILES + f. */
struct batch {
    char path[FILES][sizeof((struct test *)0)->path + 8];
    MPI_Comm comm[FILES];
    MPI_File file[FILES];
    struct memory memory[REQUESTS];
    MPI_Request request[REQUESTS];
    MPI_Status status[REQUESTS];
};

static const struct deal deal = {0, 20, 20, 0, 4};

/* Of rank 0; the next rank has the next one. */
static uint64_t seed_of(const struct test *t, int number)
{
    return (uint64_t)(t->ranks * number + 1);
}

static struct batch *open_batch(struct test *t)
{
    struct batch *b = checked_alloc(1, sizeof *b);
    for (int f = 0; f < FILES; f++) {
        snprintf(b->path[f], sizeof b->path[f], "%s.%d", t->path, f);
        MPI_Comm_dup(t->comm, &b->comm[f]);
        b->file[f] = open_path(b->comm[f], b->path[f], MPI_MODE_RDWR | MPI_MODE_CREATE, "");
        set_dealt_view(t, b->file[f], &deal);
    }
    for (int n = 0; n < REQUESTS; n++)
        b->memory[n] = memory_make(n % 2 ? HOLES : PLAIN, BYTES, 4);
    return b;
}

static void close_batch(struct test *t, struct batch *b)
{
    for (int n = 0; n < REQUESTS; n++)
        memory_release(&b->memory[n]);
    for (int f = 0; f < FILES; f++) {
        close_file(t, &b->file[f]);
        MPI_Comm_free(&b->comm[f]);
        if (t->rank == 0)
            unlink(b->path[f]);
    }
    free(b);
}

/* Request n of the batch: by the file pointer in even files, by offset in odd ones. */
static void start(struct test *t, struct batch *b, int n, bool write)
{
    struct memory *m = &b->memory[n];
    int f = n % FILES, round = n / FILES, rc;
    MPI_File file = b->file[f];
    MPI_Offset offset = round * BYTES / 4;
    if (write)
        memory_fill(m, seed_of(t, n) + (uint64_t)t->rank);
    if (write && f % 2 == 0)
        rc = MPI_File_iwrite_all(file, m->address, m->count, m->type, &b->request[n]);
    else if (write)
        rc = MPI_File_iwrite_at_all(file, offset, m->address, m->count, m->type, &b->request[n]);
    else if (f % 2 == 0)
        rc = MPI_File_iread_all(file, m->address, m->count, m->type, &b->request[n]);
    else
        rc = MPI_File_iread_at_all(file, offset, m->address, m->count, m->type, &b->request[n]);
    must(t, "start", rc);
}

static void check_files(struct test *t, struct batch *b)
{
    for (int f = 0; f < FILES; f++) {
        struct bytes model = {0};
        for (int round = 0; round < ROUNDS; round++)
            model_deal(t, &model, &deal, round * BYTES, BYTES, seed_of(t, round * FILES + f));
        check_path(t, b->path[f], &model);
    }
}

static void check_memory(struct test *t, struct batch *b)
{
    for (int n = 0; n < REQUESTS; n++) {
        memory_check(t, &b->memory[n], BYTES, seed_of(t, n) + (uint64_t)t->rank);
        check_count(t, "request", &b->status[n], BYTES);
    }
}

static void clear_memory(struct batch *b)
{
    for (int n = 0; n < REQUESTS; n++)
        memset(b->memory[n].whole, FILLING, (size_t)b->memory[n].size);
}

/* --- ways to complete --- */

static void by_waitall(struct test *t, struct batch *b)
{
    must(t, "waitall", MPI_Waitall(REQUESTS, b->request, b->status));
}

static void by_wait_backwards(struct test *t, struct batch *b)
{
    for (int n = REQUESTS - 1; n >= 0; n--)
        must(t, "wait", MPI_Wait(&b->request[n], &b->status[n]));
}

static void by_test(struct test *t, struct batch *b)
{
    for (int n = 0; n < REQUESTS; n++)
        for (int done = 0; !done;)
            must(t, "test", MPI_Test(&b->request[n], &done, &b->status[n]));
}

static void by_testall(struct test *t, struct batch *b)
{
    for (int done = 0; !done;)
        must(t, "testall", MPI_Testall(REQUESTS, b->request, &done, b->status));
}

static void by_waitany(struct test *t, struct batch *b)
{
    for (int i = 0; i < REQUESTS; i++) {
        MPI_Status status;
        int n;
        must(t, "waitany", MPI_Waitany(REQUESTS, b->request, &n, &status));
        b->status[n] = status;
    }
}

static void by_waitsome(struct test *t, struct batch *b)
{
    MPI_Status status[REQUESTS];
    int index[REQUESTS], some;
    for (int done = 0; done < REQUESTS; done += some) {
        must(t, "waitsome", MPI_Waitsome(REQUESTS, b->request, &some, index, status));
        for (int i = 0; i < some; i++)
            b->status[index[i]] = status[i];
    }
}

/* MPI_Request_get_status says that it is done, and leaves the request. */
static void by_get_status(struct test *t, struct batch *b)
{
    for (int n = 0; n < REQUESTS; n++) {
        for (int done = 0; !done;)
            must(t, "get_status", MPI_Request_get_status(b->request[n], &done, &b->status[n]));
        must(t, "wait", MPI_Wait(&b->request[n], &b->status[n]));
    }
}

static const char *const ways[] = {"waitall", "wait_backwards", "test",       "testall",
                                   "waitany", "waitsome",       "get_status", NULL};
static void (*const way[])(struct test *t, struct batch *b) = {
    by_waitall, by_wait_backwards, by_test, by_testall, by_waitany, by_waitsome, by_get_status};

static void start_all(struct test *t, struct batch *b, bool write)
{
    for (int n = 0; n < REQUESTS; n++)
        start(t, b, n, write);
}

static void check_and_close(struct test *t, struct batch *b)
{
    check_memory(t, b);
    check_files(t, b);
    close_batch(t, b);
}

static void case_outstanding(struct test *t, int variant)
{
    struct batch *b = open_batch(t);
    start_all(t, b, true);
    way[variant](t, b);
    check_memory(t, b);
    for (int f = 0; f < FILES; f++) {
        synchronise(t, b->file[f]);
        MPI_File_seek(b->file[f], 0, MPI_SEEK_SET);
    }
    clear_memory(b);
    start_all(t, b, false);
    way[variant](t, b);
    check_and_close(t, b);
}

/* --- starts wait for nobody --- */

/* Even ranks start file by file upwards, odd ones downwards. Files have communicators of
 * their own, so MPI allows it; a start that waits for other ranks never returns. */
static void case_crossed_starts(struct test *t, int variant)
{
    (void)variant;
    struct batch *b = open_batch(t);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < FILES; i++)
            start(t, b, round * FILES + (t->rank % 2 ? FILES - 1 - i : i), true);
    by_waitall(t, b);
    check_and_close(t, b);
}

/* A barrier, one step later in the other ranks than in rank 0. late_rank: rank 0 is told by the
 * others that they have started, before it starts itself. progress_elsewhere: rank 0 waits for its
 * requests only when the others have completed theirs: what it has to do for them is done while it
 * is inside another call of MPI. */
enum step { BEFORE_START, AFTER_START, AFTER_WAIT };

static void case_barrier(struct test *t, int variant)
{
    (void)variant;
    const enum step *of_rank_0 = t->row;
    int step = (int)*of_rank_0 + (t->rank > 0);
    struct batch *b = open_batch(t);
    if (step == BEFORE_START)
        MPI_Barrier(t->comm);
    start_all(t, b, true);
    if (step == AFTER_START)
        MPI_Barrier(t->comm);
    by_waitall(t, b);
    if (step == AFTER_WAIT)
        MPI_Barrier(t->comm);
    check_and_close(t, b);
}

/* Blocking collectives of the communicator, messages and individual access between start and end.
 */
static void case_other_calls_between(struct test *t, int variant)
{
    (void)variant;
    struct batch *b = open_batch(t);
    const struct memory *same = &b->memory[1]; /* what a request writes, once more */
    int sum = 0, to = (t->rank + 1) % t->ranks, from = (t->rank + t->ranks - 1) % t->ranks,
        got = -1;
    for (int n = 0; n < REQUESTS; n++) {
        start(t, b, n, true);
        MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, b->comm[n % FILES]);
        MPI_Sendrecv(&t->rank, 1, MPI_INT, to, n, &got, 1, MPI_INT, from, n, b->comm[n % FILES],
                     MPI_STATUS_IGNORE);
        if (sum != n * t->ranks || got != from)
            differ(t, "another call gave a wrong result");
    }
    must(t, "write_at",
         MPI_File_write_at(b->file[1], 0, same->address, same->count, same->type,
                           MPI_STATUS_IGNORE));
    by_waitall(t, b);
    check_and_close(t, b);
}

/* --- what belongs to the caller again after the start --- */

/* The datatype may be freed, and the file pointer has moved. */
static void case_after_start(struct test *t, int variant)
{
    struct memory m = memory_make(RESIZED, BYTES, 4);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Offset position = -1;
    MPI_Status status;
    MPI_Datatype type;
    bool write = variant == 0;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_dealt_view(t, file, &deal);
    memory_fill(&m, 1);
    if (!write) {
        must(t, "write", MPI_File_write_all(file, m.address, m.count, m.type, &status));
        synchronise(t, file);
        MPI_File_seek(file, 0, MPI_SEEK_SET);
        memset(m.whole, FILLING, (size_t)m.size);
    }
    MPI_Type_dup(m.type, &type);
    must(t, "start",
         write ? MPI_File_iwrite_all(file, m.address, m.count, type, &request)
               : MPI_File_iread_all(file, m.address, m.count, type, &request));
    MPI_Type_free(&type);
    MPI_File_get_position(file, &position);
    if (position != BYTES / 4)
        differ(t, "after the start the file pointer is %lld, not %d", (long long)position,
               BYTES / 4);
    must(t, "wait", MPI_Wait(&request, &status));
    if (request != MPI_REQUEST_NULL)
        differ(t, "the request is still there");
    memory_check(t, &m, BYTES, 1);
    check_count(t, "request", &status, BYTES);
    close_file(t, &file);
    memory_release(&m);
}

/* Requests one after another on one file, of which each overwrites what the last one wrote. */
static void case_many_in_turn(struct test *t, int variant)
{
    (void)variant;
    enum { TIMES = 200, LENGTH = 120 };
    struct bytes model = {0};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_dealt_view(t, file, &deal);
    for (int i = 0; i < TIMES; i++) {
        const struct data d = {HOLES, 4, 0, LENGTH, (uint64_t)(t->rank + i), true};
        must(t, "iwrite_at_all", write_data(t, I_AT_ALL, file, &d));
    }
    close_file(t, &file);
    model_deal(t, &model, &deal, 0, LENGTH, TIMES - 1);
    check_file(t, &model);
}

/* Large, so that the request is active when its file is closed: a program's error, which must not
 * cost its data. */
static void case_closed_before_wait(struct test *t, int variant)
{
    (void)variant;
    enum { LENGTH = 4 << 20 };
    const struct deal large = {0, 4096, 4096, 0, 1};
    struct memory m = memory_make(PLAIN, LENGTH, 1);
    struct bytes model = {0};
    MPI_Request request;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_dealt_view(t, file, &large);
    memory_fill(&m, (uint64_t)t->rank);
    must(t, "iwrite_at_all", MPI_File_iwrite_at_all(file, 0, m.address, m.count, m.type, &request));
    close_file(t, &file);
    must(t, "wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    memory_release(&m);
    model_deal(t, &model, &large, 0, LENGTH, 0);
    check_file(t, &model);
}

const struct family requests_families[] = {
    {"outstanding", case_outstanding, ways, NULL},
    {"crossed_starts", case_crossed_starts, NULL, NULL},
    {"late_rank", case_barrier, NULL, ROW(enum step, BEFORE_START)},
    {"progress_elsewhere", case_barrier, NULL, ROW(enum step, AFTER_START)},
    {"other_calls_between", case_other_calls_between, NULL, NULL},
    {"after_start", case_after_start, (const char *const[]){"write", "read", NULL}, NULL},
    {"many_in_turn", case_many_in_turn, NULL, NULL},
    {"closed_before_wait", case_closed_before_wait, NULL, NULL},
    {0},
};
