/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance_faults: errors of the system on one rank. Each is one on all ranks, nobody hangs, and
 * the file can be used afterwards. tests/simulate has errors in all calls, and between all ranks.
 */
#include "conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"

#ifndef OMPI_MAJOR_VERSION
#define OMPI_MAJOR_VERSION 0 /* another MPI */
#endif

#define BYTES 40000 /* of each rank in one call */

static const struct deal deal = {0, 100, 100, 28, 4};
static const struct deal holes = {0, 8, 20, 0, 4};

/* Two aggregators with buffers so small that a call takes many cycles, or none at all. */
static MPI_File open_small(struct test *t, int amode, bool independent)
{
    char hints[128];
    snprintf(hints, sizeof hints, "cb_nodes=%d cb_buffer_size=4096 collective_buffering=%s",
             t->ranks > 1 ? 2 : 1, independent ? "false" : "true");
    MPI_File file = open_with(t, amode, hints);
    set_dealt_view(t, file, &deal);
    return file;
}

static MPI_File create_small(struct test *t)
{
    return open_small(t, MPI_MODE_RDWR | MPI_MODE_CREATE, false);
}

static int write_call(struct test *t, MPI_File file, enum kind kind, uint64_t seed)
{
    return write_data(t, kind, file,
                      &(struct data){RESIZED, 4, 0, BYTES, seed + (uint64_t)t->rank, true});
}

static int read_call(struct test *t, MPI_File file, enum kind kind, uint64_t seed)
{
    return read_data(t, kind, file,
                     &(struct data){RESIZED, 4, 0, BYTES, seed + (uint64_t)t->rank, true});
}

/* What all ranks wrote in one call; the file has nothing else. */
static void check_call(struct test *t, const struct deal *d, uint64_t seed)
{
    struct bytes model = {0};
    model_deal(t, &model, d, 0, BYTES, seed);
    check_file(t, &model);
}

/* All ranks must have the same: success, or the same error. */
enum { SUCCESS = MPI_SUCCESS, ANY_ERROR = -1 }; /* or an error class */
static bool agreed(struct test *t, const char *what, int rc, int wanted)
{
    int class = same_class(t, what, rc);
    if (wanted == ANY_ERROR ? class == MPI_SUCCESS : class != wanted)
        differ(t, "%s: error class %d, not %d", what, class, wanted);
    return class != MPI_SUCCESS;
}

static int sum_of_all(struct test *t, int own)
{
    int all;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, t->comm);
    return all;
}

static void rewind_file(MPI_File file)
{
    MPI_File_seek(file, 0, MPI_SEEK_SET);
}

/* After a failed call the same handle does everything right. */
static void use_again(struct test *t, MPI_File file, enum kind kind, uint64_t seed)
{
    rewind_file(file);
    agreed(t, "write afterwards", write_call(t, file, kind, seed), SUCCESS);
    synchronise(t, file);
    check_call(t, &deal, seed);
    rewind_file(file);
    agreed(t, "read afterwards", read_call(t, file, kind, seed), SUCCESS);
    MPI_Barrier(t->comm);
}

/* After an error of which the file may have any part. */
static void empty_and_use(struct test *t, MPI_File file, enum kind kind, uint64_t seed)
{
    must(t, "set_size", MPI_File_set_size(file, 0));
    MPI_Barrier(t->comm);
    set_dealt_view(t, file, &deal);
    use_again(t, file, kind, seed);
    close_file(t, &file);
}

/* --- the file fails --- */

struct story {
    int class;
    struct file_fault fault;
};

/* The accesses of all ranks fail. Each piece is an access of its own. */
static void case_told(struct test *t, int independent)
{
    const struct story *story = t->row;
    struct file_fault fault = story->fault;
    if (story->fault.fault == NOTHING && OMPI_MAJOR_VERSION >= 5) {
        skip_case(t, "Open MPI 5 itself repeats a write of nothing for ever");
        return;
    }
    inject_file_system(NFS_SUPER_MAGIC);
    MPI_File file = open_small(t, MPI_MODE_RDWR | MPI_MODE_CREATE, independent);
    agreed(t, "write before", write_call(t, file, ALL, 1), SUCCESS);
    synchronise(t, file);
    fault.path = t->path;
    rewind_file(file);
    inject_file(&fault);
    int rc = (fault.write ? write_call : read_call)(t, file, ALL, 1);
    if (sum_of_all(t, inject_end()) == 0)
        differ(t, "no access was disturbed");
    agreed(t, fault.write ? "write" : "read", rc, story->class);
    use_again(t, file, ALL, 100);
    close_file(t, &file);
    inject_file_system(0);
}

/* --- the file system delays an error --- */

static int handled;   /* the class that an error handler got */
static int disturbed; /* calls until then */

static void note_class(MPI_File *file, int *code, ...)
{
    (void)file;
    disturbed = inject_end();
    MPI_Error_class(*code, &handled);
}

static struct test *closing;
static MPI_File opened; /* most likely with the handle of the one that is closed */

static void note_and_close(MPI_File *file, int *code, ...)
{
    note_class(file, code);
    MPI_File_close(file);
    opened = create_small(closing);
}

/* Open MPI's MPI_File_close returns no error; its handler learns of it. */
enum { BY_HANDLER, BY_CLOSE, BY_CLOSES, BY_SYNC, BY_WRITE };
static const char *const delays[] = {"handler", "close", "closes", "sync", "write", NULL};

static int call_delayed(struct test *t, MPI_File *file, int variant)
{
    if (variant == BY_WRITE)
        return write_call(t, *file, ALL, 2);
    return variant == BY_SYNC ? MPI_File_sync(*file) : MPI_File_close(file);
}

/* By a write on nodes whose caches are not coherent. */
static void case_delayed(struct test *t, int variant)
{
    MPI_Errhandler handler;
    inject_file_system(variant == BY_WRITE ? V9FS_MAGIC : 0);
    MPI_File file = create_small(closing = t);
    MPI_File_create_errhandler(variant == BY_CLOSES ? note_and_close : note_class, &handler);
    MPI_File_set_errhandler(file, handler);
    agreed(t, "write", write_call(t, file, ALL, 1), SUCCESS);
    handled = MPI_SUCCESS;
    disturbed = 0;
    if (t->rank == 0 || variant == BY_WRITE)
        inject_flush(t->path, ENOSPC);
    int rc = call_delayed(t, &file, variant);
    if (sum_of_all(t, disturbed + inject_end()) == 0)
        differ(t, "no call was disturbed");
    agreed(t, delays[variant], variant == BY_HANDLER ? handled : rc, MPI_ERR_NO_SPACE);
    if (handled == MPI_SUCCESS)
        differ(t, "the handler got no error");
    if (variant >= BY_CLOSES)
        empty_and_use(t, variant == BY_CLOSES ? opened : file, ALL, 2);
    inject_file_system(0);
    MPI_Errhandler_free(&handler);
}

/* --- mapped pages --- */

/* A file that is written with holes. */
struct sparse {
    long file_system; /* 0: what it is */
    int populate_error, amode;
    bool atomic, maps; /* pages are mapped, or that is tried */
};

/* With `before` bytes, which are what the model is then. */
static MPI_File open_sparse(struct test *t, const struct sparse *s, bool independent,
                            int64_t before, struct bytes *model)
{
    *model = create_filled(t, before, 99);
    inject_file_system(s->file_system);
    MPI_File file = open_small(t, s->amode, independent);
    set_dealt_view(t, file, &holes);
    must(t, "set_atomicity", MPI_File_set_atomicity(file, s->atomic));
    return file;
}

/* After a write by all ranks. */
static void close_sparse(struct test *t, MPI_File *file, struct bytes *model)
{
    close_file(t, file);
    inject_file_system(0);
    model_deal(t, model, &holes, 0, BYTES, 0);
    check_file(t, model);
}

/* Pieces with holes between all of them, over bytes that were there. */
static void write_sparse(struct test *t, const struct sparse *s, bool independent, int64_t before)
{
    struct bytes model;
    inject_populate(s->populate_error);
    MPI_File file = open_sparse(t, s, independent, before, &model);
    agreed(t, "write", write_call(t, file, ALL, 0), SUCCESS);
    close_sparse(t, &file, &model);
    int own = inject_populate(0), all = sum_of_all(t, own);
    if ((all > 0) != s->maps || (s->populate_error != 0 && own > 1))
        differ(t, "%d mappings, %d of all ranks", own, all);
}

static const char *const sparse_variants[] = {"ext4",       "no_space", "old_kernel", "nfs",
                                              "write_only", "atomic",   NULL};

static void case_pages(struct test *t, int variant)
{
    static const struct sparse files[] = {
        {EXT4_SUPER_MAGIC, 0, MPI_MODE_RDWR, .maps = true},
        {EXT4_SUPER_MAGIC, ENOSPC, MPI_MODE_RDWR, .maps = true},
        {EXT4_SUPER_MAGIC, EINVAL, MPI_MODE_RDWR, .maps = true},
        {NFS_SUPER_MAGIC, 0, MPI_MODE_RDWR, .maps = false},
        {EXT4_SUPER_MAGIC, 0, MPI_MODE_WRONLY, .maps = true}, /* OMPIO opens it for reading, too */
        {EXT4_SUPER_MAGIC, 0, MPI_MODE_RDWR, .atomic = true, .maps = false},
    };
    for (int independent = 0; independent < 2; independent++) {
        write_sparse(t, &files[variant], independent, 0);
        write_sparse(t, &files[variant], independent, 10000);
        write_sparse(t, &files[variant], independent, (int64_t)4 * t->ranks * BYTES);
    }
}

/* A process that reads the file, and writes it back later, with a lock meanwhile. Returns when it
 * has read. */
static pid_t modify_file(const struct test *t, int64_t size)
{
    int ready[2];
    char done = 0;
    fflush(NULL);
    pid_t child = pipe(ready) == 0 ? fork() : -1;
    if (child != 0) {
        if (child < 0 || read(ready[0], &done, 1) != 1)
            MPI_Abort(MPI_COMM_WORLD, 2);
        return child;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *data = malloc((size_t)size);
    int fd = open(t->path, O_RDWR);
    if (data == NULL || fcntl(fd, F_SETLKW, &lock) != 0 || read(fd, data, (size_t)size) != size ||
        write(ready[1], "x", 1) != 1)
        _exit(1);
    usleep(300000);
    _exit(lseek(fd, 0, SEEK_SET) == 0 && write(fd, data, (size_t)size) == size ? 0 : 1);
}

/* Where Open MPI takes locks: nothing that ranks write through pages is lost when another process
 * writes back what was there before. The script says that it does. */
static void case_locked_pages(struct test *t, int independent)
{
    static const struct sparse mapped = {.file_system = EXT4_SUPER_MAGIC, .amode = MPI_MODE_RDWR};
    struct bytes model;
    int64_t size = (int64_t)4 * t->ranks * BYTES;
    int status = 0;
    pid_t child = 0;
    MPI_File file = open_sparse(t, &mapped, independent, size, &model);
    if (t->rank == 0)
        child = modify_file(t, size);
    MPI_Barrier(t->comm);
    agreed(t, "write", write_call(t, file, ALL, 0), SUCCESS);
    if (t->rank == 0 && (waitpid(child, &status, 0) != child || status != 0))
        differ(t, "the other process failed");
    close_sparse(t, &file, &model);
}

/* --- file systems; the script makes them --- */

/* The folder is on a file system with room for little. The row is the view. */
static void case_full(struct test *t, int kind)
{
    enum { ROOM = 8 << 20 };
    const struct deal *d = t->row;
    struct statvfs fs;
    int room = statvfs(t->dir, &fs) == 0 && fs.f_bavail * fs.f_frsize < ROOM;
    if (sum_of_all(t, room) < t->ranks) {
        skip_case(t, "%s has much room", t->dir);
        return;
    }
    MPI_File file = create_small(t);
    struct memory m = memory_make(PLAIN, ROOM / t->ranks / 400 * 400 + 4000, 4);
    set_dealt_view(t, file, d);
    inject_populate(0);
    agreed(t, "write", call_write(kind, file, 0, &m, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    int mapped = sum_of_all(t, inject_populate(0));
    if ((mapped > 0) != (d->step > d->block))
        differ(t, "%d mappings", mapped);
    empty_and_use(t, file, kind, 3);
    memory_release(&m);
}

/* --- no memory for a request --- */

/* 4-byte elements of all ranks in their views, by external32: as written below, or 0. */
static void check_ints(struct test *t, int64_t first, int64_t count, bool written)
{
    for (int64_t i = first; i < first + count * t->ranks && t->rank == 0; i++) {
        struct view v = dealt_view(&deal, t, (int)((i - first) / count));
        int64_t place = view_place(&v, 4 * (first + (i - first) % count));
        unsigned char got[4], wanted[4] = {written * 1, written * 2, written * 3, written * 4};
        if (peek(t, t->path, place, got, 4) && memcmp(got, wanted, 4) != 0)
            differ(t, "byte %" PRId64 " is %d, %swritten", place, got[0], written ? "" : "not ");
    }
}

/* One rank has no memory for one more request: the call fails on all ranks, and writes nothing. */
static void start_too_many(struct test *t, MPI_File file, int victim, int calls)
{
    enum { MOST = 80, COUNT = 100 };
    int data[COUNT], rc[MOST], failures = 0;
    MPI_Request request[MOST];
    for (int i = 0; i < COUNT; i++)
        data[i] = 0x01020304;
    inject_no_stack(t->rank == victim);
    for (int i = 0; i < calls; i++)
        rc[i] = MPI_File_iwrite_at_all(file, i * COUNT, data, COUNT, MPI_INT, &request[i]);
    for (int i = 0; i < calls; i++)
        if (rc[i] == MPI_SUCCESS)
            rc[i] = MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    inject_no_stack(false);
    for (int i = 0; i < calls; i++) {
        bool failed = same_class(t, "iwrite_at_all", rc[i]) != MPI_SUCCESS;
        failures += failed;
        check_ints(t, i * COUNT, COUNT, !failed);
    }
    if (failures == 0)
        differ(t, "no call failed");
}

/* Each process keeps the stacks that it had. */
static void case_no_request(struct test *t, int variant)
{
    (void)variant;
    if (t->ranks == 1)
        skip_case(t, "no call is in flight without another rank");
    for (int round = 0; round < 2 && t->ranks > 1; round++) {
        int victim = round == 0 ? t->ranks - 1 : 0;
        struct view v = dealt_view(&deal, t, t->rank);
        MPI_File file = create_small(t);
        must(t, "set_size", MPI_File_set_size(file, 0));
        must(t, "set_size", MPI_File_set_size(file, (MPI_Offset)t->ranks * BYTES));
        set_view_as(t, file, &v, "external32", MPI_INFO_NULL);
        start_too_many(t, file, victim, 40 * (round + 1));
        set_view(t, file, &v);
        use_again(t, file, I_ALL, (uint64_t)victim);
        close_file(t, &file);
    }
}

/* --- a rank dies; there is nothing to report afterwards --- */

/* The first rank that accesses the file, the last rank, which may wait for data, or each one while
 * it allocates what it will share. */
static const char *const deaths[] = {"writer", "other", "sharing", NULL};

static void case_killed(struct test *t, int variant)
{
    const struct file_fault fault = {KILL, .write = true, .after = 2, .path = t->path};
    MPI_File file = create_small(t);
    if (variant == 2)
        inject_death();
    else
        agreed(t, "write", write_call(t, file, AT_ALL, 1), SUCCESS);
    if (variant == 0)
        inject_file(&fault);
    else if (variant == 1 && t->rank == t->ranks - 1)
        kill(getpid(), SIGKILL);
    write_call(t, file, AT_ALL, 2);
    differ(t, "nobody died");
    close_file(t, &file);
}

static const char *const ways[] = {"aggregators", "independent", NULL};
#define TOLD(wanted, ...) case_told, ways, ROW(struct story, wanted, {__VA_ARGS__})

static const struct family families[] = {
    {"write_eio", TOLD(MPI_ERR_IO, FAIL, .write = true, .error = EIO)},
    {"write_full", TOLD(MPI_ERR_NO_SPACE, HALF_FAIL, .write = true, .error = ENOSPC, .after = 1)},
    {"write_quota", TOLD(MPI_ERR_QUOTA, FAIL, .write = true, .error = EDQUOT)},
    {"write_read_only", TOLD(MPI_ERR_READ_ONLY, FAIL, .write = true, .error = EROFS)},
    {"write_nothing", TOLD(MPI_ERR_IO, NOTHING, .write = true)},
    {"read_eio", TOLD(MPI_ERR_IO, FAIL, .write = false, .error = EIO)},
    {"delayed", case_delayed, delays, NULL},
    {"pages", case_pages, sparse_variants, NULL},
    {"locked_pages", case_locked_pages, ways, NULL},
    {"full", case_full, own_kinds, ROW(struct deal, 0, 100, 100, 0, 4)},
    {"full_holes", case_full, own_kinds, ROW(struct deal, 0, 12, 24, 0, 4)},
    {"no_request", case_no_request, NULL, NULL},
    {"killed", case_killed, deaths, NULL},
    {0},
};

int main(int argc, char **argv)
{
    static const struct family *const table[] = {families, NULL};
    return conformance_main(argc, argv, table);
}
