/* SPDX-License-Identifier: BSD-3-Clause */
/* What the file system of a folder does between nodes. Ranks write and read the same files in
 * several ways, and count what never happens on the file system of one machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/json.h"
#include "mpi.h"
#include "probe.h"
#include "storage/stripes.h"

enum { MOST_NODES = 8, FILES = 8, LEAST_FILES = 2, PASSES = 4, MOST_WRITES = 128 };
static const double seconds_of_way = 1.5, seconds_of_checks = 4;

/* Bytes that one node writes, that two write in turn, that all write side by side in one page, and
 * that are appended and cut off. */
enum { BLOCK = 100, READ_AT = 1000, TWICE_AT = 5000, PAGE_AT = 8192, END = 12288 };

/* What is done so that a node sees what another has written: nothing; the writer's fsync; its close
 * and the reader's open; locks; what fcoll/tatp does by default, and what it does with locks. */
enum way { AT_ONCE, FSYNC, REOPEN, LOCK, TATP, TATP_LOCK, WAYS };
static const char *const way_names[] = {"at_once", "fsync", "reopen", "lock", "tatp", "tatp_lock"};

/* Nothing; reads of old bytes, or without appended ones; old sizes; bytes beside those of others
 * that are lost when all is closed; the earlier of two writes that is then left; locks that fail,
 * or that another node does not see. */
enum fault { NONE, STALE, APPENDED, SIZE, LOST, OLDER, UNLOCKED, UNSEEN, FAULTS };
static const char *const fault_names[FAULTS] = {
    "none", "stale", "appended", "size", "lost", "older", "unlocked", "unseen",
};

typedef struct folder_test {
    MPI_Comm comm; /* of one rank on each node */
    int rank, size;
    const char *folder;
    char name[PATH_MAX];
    int fd;
    int is_incoherent, is_nfs; /* what fcoll/tatp knows of the file system, on any node */
    enum way way;
    int file, pass;
    int files[WAYS], faults[WAYS][FAULTS];
    size_t writes[WAYS];
    double seconds[WAYS][MOST_WRITES]; /* of small writes of this rank */
} folder_test;

/* Ends the job, by errno, if a result is negative. */
static void demand(const folder_test *t, long result, const char *what)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int length, error = errno;
    if (result >= 0)
        return;
    MPI_Get_processor_name(host, &length);
    fprintf(stderr, "tatp-probe: %s: %s: %s: %s\n", host, what, t->name, strerror(error));
    MPI_Abort(t->comm, EXIT_FAILURE);
}

static void open_file(folder_test *t, int flags)
{
    snprintf(t->name, PATH_MAX, "%s%s-%d", t->folder, way_names[t->way], t->file);
    demand(t, t->fd = open(t->name, O_RDWR | O_CLOEXEC | flags, 0600), "open");
}

static void close_file(folder_test *t)
{
    demand(t, close(t->fd), "close");
}

static void write_bytes(folder_test *t, const char *data, ssize_t bytes, off_t at)
{
    errno = ENOSPC; /* of a write that ends early */
    demand(t, pwrite(t->fd, data, (size_t)bytes, at) < bytes ? -1 : 0, "write");
}

/* ---- an access in one of the ways ---- */

static bool takes_locks(const folder_test *t)
{
    return t->way == LOCK || t->way == TATP_LOCK || (t->way == TATP && t->is_nfs);
}

static bool refreshes(const folder_test *t)
{
    return (t->way == TATP || t->way == TATP_LOCK) && t->is_incoherent && !t->is_nfs;
}

static void reopen_file(folder_test *t)
{
    close_file(t);
    open_file(t, 0);
}

static void begin_access(folder_test *t, bool writes)
{
    if (t->way == REOPEN)
        reopen_file(t);
    if (refreshes(t))
        storage_refresh(t->fd);
    if (takes_locks(t) && storage_lock(t->fd, writes && t->way == LOCK, 0, 2 * END) != 0)
        t->faults[t->way][UNLOCKED]++;
}

static void end_access(folder_test *t, bool writes)
{
    if (takes_locks(t))
        (void)storage_unlock(t->fd, 0, 2 * END);
    if (writes && (refreshes(t) || t->way == FSYNC))
        demand(t, storage_flush(t->fd), "fsync");
    if (writes && t->way == REOPEN)
        reopen_file(t);
}

/* ---- steps ---- */

/* All nodes; one that changes with each pass; the next one; all but the first. CLOSED: all, when
 * all have closed the file after the last pass. */
enum who { ALL, FIRST, SECOND, OTHERS, CLOSED };

/* act: returns whether the file system is as that of one machine. `bytes` bytes of a value that
 * changes with each pass are at an offset. */
typedef struct step {
    enum who who;
    bool (*act)(folder_test *t, const struct step *s);
    int at, bytes, value;
    enum fault fault;
} step;

static bool write_range(folder_test *t, const step *s)
{
    char data[BLOCK];
    memset(data, s->value, BLOCK);
    write_bytes(t, data, s->bytes, s->at);
    return true;
}

/* All have written before one goes on. With exclusive locks as ROMIO does: a page is read, changed,
 * and written back. */
static bool write_beside(folder_test *t, const step *s)
{
    char page[END - PAGE_AT];
    step own = *s;
    own.at += t->rank * s->bytes;
    if (t->way != LOCK) {
        write_range(t, &own);
        MPI_Barrier(t->comm);
        return true;
    }
    demand(t, pread(t->fd, page, sizeof page, s->at), "read");
    memset(page + own.at - s->at, s->value, (size_t)s->bytes);
    write_bytes(t, page, sizeof page, s->at);
    return true;
}

/* Reads all, since a node keeps pages. */
static bool has_range(folder_test *t, const step *s)
{
    char all[2 * END] = {0};
    bool has = true;
    demand(t, pread(t->fd, all, sizeof all, 0), "read");
    for (int i = s->at; i < s->at + s->bytes; i++)
        has &= all[i] == s->value;
    return has;
}

static bool has_beside(folder_test *t, const step *s)
{
    step whole = *s;
    whole.bytes *= t->size;
    return has_range(t, &whole);
}

static bool cut_file(folder_test *t, const step *s)
{
    demand(t, ftruncate(t->fd, s->at), "ftruncate");
    return true;
}

static bool has_size(folder_test *t, const step *s)
{
    struct stat status;
    demand(t, fstat(t->fd, &status), "fstat");
    return status.st_size == s->at + s->bytes;
}

/* Of a part, as OMPIO does for each access, or of all. at: the type; bytes: whether it is to be
 * had. Not where the ways take locks themselves, which would give this one up. */
static bool tries_lock(folder_test *t, const step *s)
{
    struct flock lock = {.l_type = (short)s->at, .l_len = t->pass % 2 == 0 ? BLOCK : 0};
    return t->way != AT_ONCE || (fcntl(t->fd, F_SETLK, &lock) == 0) == (s->bytes != 0);
}

static const step steps[] = {
    {ALL, has_range, 0, 0, 0, NONE},
    {FIRST, write_range, READ_AT, BLOCK, 1, NONE},
    {FIRST, write_range, END, BLOCK, 1, NONE},
    {OTHERS, has_range, READ_AT, BLOCK, 1, STALE},
    {OTHERS, has_size, END, BLOCK, 0, SIZE},
    {OTHERS, has_range, END, BLOCK, 1, APPENDED},
    {FIRST, cut_file, END, 0, 0, NONE},
    {OTHERS, has_size, END, 0, 0, SIZE},
    {ALL, write_beside, PAGE_AT, BLOCK, 1, NONE},
    {FIRST, write_range, TWICE_AT, BLOCK, 1, NONE},
    {SECOND, write_range, TWICE_AT, BLOCK, 2, NONE},
    {FIRST, tries_lock, F_WRLCK, true, 0, UNLOCKED},
    {OTHERS, tries_lock, F_WRLCK, false, 0, UNSEEN},
    {ALL, tries_lock, F_UNLCK, true, 0, NONE},
    {CLOSED, has_beside, PAGE_AT, BLOCK, 1, LOST},
    {CLOSED, has_range, TWICE_AT, BLOCK, 2, OLDER},
};
enum { STEPS = sizeof steps / sizeof *steps };

static bool makes_step(const folder_test *t, enum who who)
{
    int turn = (t->rank + t->file + t->pass) % t->size;
    return who == ALL || (who == FIRST && turn == 0) || (who == SECOND && turn == 1 % t->size) ||
           (who == OTHERS && turn != 0);
}

static bool make_step(folder_test *t, const step *from)
{
    step s = *from;
    bool writes = s.act == write_range || s.act == write_beside || s.act == cut_file;
    double start = MPI_Wtime();
    s.value += 2 * t->pass;
    begin_access(t, writes);
    bool is_right = s.act(t, &s);
    end_access(t, writes);
    if (s.act == write_range && t->writes[t->way] < MOST_WRITES)
        t->seconds[t->way][t->writes[t->way]++] = MPI_Wtime() - start;
    return is_right;
}

/* ---- files ---- */

static void make_file(folder_test *t)
{
    static const char zeros[END];
    if (t->rank == 0) {
        open_file(t, O_CREAT | O_EXCL);
        write_bytes(t, zeros, END, 0);
        close_file(t);
    }
    MPI_Barrier(t->comm);
    open_file(t, 0);
    int known[] = {!storage_is_coherent(t->fd), storage_is_nfs(t->fd)};
    MPI_Allreduce(MPI_IN_PLACE, known, 2, MPI_INT, MPI_MAX, t->comm);
    t->is_incoherent = known[0];
    t->is_nfs = known[1];
}

/* Rank 0 says for all when time is over. */
static void test_way(folder_test *t)
{
    double end = MPI_Wtime() + seconds_of_way;
    int goes_on = 1;
    for (t->file = 0; t->file < FILES && goes_on; t->file++) {
        make_file(t);
        for (t->pass = 0; t->pass < PASSES; t->pass++)
            for (int i = 0; i < STEPS; i++) {
                if (makes_step(t, steps[i].who))
                    t->faults[t->way][steps[i].fault] += !make_step(t, &steps[i]);
                MPI_Barrier(t->comm);
            }
        close_file(t);
        goes_on = t->file + 1 < LEAST_FILES || (t->size > 1 && MPI_Wtime() < end);
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, t->comm);
    }
    t->files[t->way] = t->file;
}

/* A node may see a little later what others have closed. */
static void check_way(folder_test *t, double end)
{
    t->pass = PASSES - 1;
    for (t->file = 0; t->file < t->files[t->way]; t->file++)
        for (int i = 0; i < STEPS; i++) {
            bool is_right = steps[i].who != CLOSED;
            while (!is_right) {
                open_file(t, 0);
                storage_refresh(t->fd);
                is_right = make_step(t, &steps[i]);
                close_file(t);
                if (is_right || MPI_Wtime() > end)
                    break;
                usleep(50000);
            }
            t->faults[t->way][steps[i].fault] += !is_right;
        }
}

static void print_test(const folder_test *t, int faults[WAYS][FAULTS])
{
    json_writer w = {.out = stdout};
    json_begin_object(&w, NULL);
    json_begin_object(&w, "probe");
    json_put_int64(&w, "nodes", t->size);
    json_put_bool(&w, "coherent", !t->is_incoherent);
    json_begin_object(&w, "ways");
    for (int way = 0; way < WAYS; way++) {
        json_begin_object(&w, way_names[way]);
        json_put_int64(&w, "files", t->files[way]);
        json_put_reals(&w, "seconds", t->seconds[way], t->writes[way]);
        for (int fault = NONE + 1; fault < FAULTS; fault++)
            json_put_int64(&w, fault_names[fault], faults[way][fault]);
        json_end_object(&w);
    }
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
    putchar('\n');
}

void probe_folder(const char *folder)
{
    static folder_test t;
    MPI_Comm node;
    int rank, sums[WAYS][FAULTS];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &t.rank);
    bool takes_part = t.rank == 0 && rank < MOST_NODES;
    MPI_Comm_split(MPI_COMM_WORLD, takes_part, 0, &t.comm);
    MPI_Comm_rank(t.comm, &t.rank);
    MPI_Comm_size(t.comm, &t.size);
    t.folder = folder;
    for (t.way = AT_ONCE; t.way < WAYS && takes_part; t.way++)
        test_way(&t);
    double end = MPI_Wtime() + seconds_of_checks;
    for (t.way = AT_ONCE; t.way < WAYS && takes_part; t.way++)
        check_way(&t, end);
    MPI_Reduce(t.faults, sums, WAYS * FAULTS, MPI_INT, MPI_SUM, 0, t.comm);
    if (takes_part && t.rank == 0)
        print_test(&t, sums);
    MPI_Comm_free(&t.comm);
    MPI_Comm_free(&node);
}
