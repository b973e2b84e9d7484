/* SPDX-License-Identifier: BSD-3-Clause */
/* Small pieces written through a mapping: of files in memory and on a disk, beside a model that is
 * written byte by byte. */
#define _GNU_SOURCE /* memfd_create, madvise */
#include "access/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seeded.h"
#include "suite.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { MOST = 300, MODEL_BYTES = 4 << 20, KINDS = 2, ROUNDS = 400 };

static access_extent extent[MOST];
static size_t count;
static char data[MODEL_BYTES], model[MODEL_BYTES], found[MODEL_BYTES];

/* ---- the kernel's populate, which a test makes fail ---- */

static int populates, failing_populate;

int madvise(void *address, size_t bytes, int advice)
{
    if (advice == MADV_POPULATE_WRITE && ++populates == failing_populate) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_madvise, address, bytes, advice);
}

/* ---- files ---- */

static int page(void)
{
    return (int)sysconf(_SC_PAGESIZE);
}

/* In memory, or in a folder that usually is on a disk. */
static int open_file(int kind)
{
    char path[] = "/tmp/test_pages.XXXXXX";
    int fd = kind == 0 ? memfd_create("test_pages", 0) : mkstemp(path);
    ck_assert_int_ge(fd, 0);
    if (kind != 0)
        unlink(path);
    return fd;
}

/* Writes as long as the model is, of its bytes. */
static void fill_file(int fd, uint64_t *state, int64_t bytes)
{
    memset(model, 0, sizeof model);
    for (int64_t i = 0; i < bytes; i++)
        model[i] = (char)next_random(state);
    ck_assert_int_eq(pwrite(fd, model, (size_t)bytes, 0), bytes);
}

static void append_extent(int64_t offset, int64_t bytes)
{
    ck_assert_int_le(offset + bytes, MODEL_BYTES);
    ck_assert_uint_lt(count, MOST);
    extent[count++] = (access_extent){offset, data + offset, bytes};
}

/* As the component does. */
static int write_extents(int fd)
{
    const access_extent *last = &extent[count - 1];
    ck_assert_int_eq(pwrite(fd, last->data, (size_t)last->bytes, last->offset), last->bytes);
    return access_pages_write(fd, extent, count);
}

static void check_file(int fd, int64_t bytes)
{
    struct stat status;
    ck_assert_int_eq(fstat(fd, &status), 0);
    ck_assert_int_eq(status.st_size, bytes);
    ck_assert_int_eq(pread(fd, found, sizeof found, 0), bytes);
    ck_assert_int_eq(memcmp(found, model, (size_t)bytes), 0);
}

/* Kernels before Linux 5.14 cannot. */
static bool is_supported(void)
{
    int fd = open_file(0);
    count = 0;
    append_extent(0, 1);
    int rc = write_extents(fd);
    close(fd);
    ck_assert(rc == 0 || rc == -EINVAL);
    return rc == 0;
}

/* ---- tests ---- */

static void draw_extents(uint64_t *state)
{
    int64_t at = pick(state, 0, 3 * page());
    size_t wanted = (size_t)pick(state, 1, MOST);
    count = 0;
    while (count < wanted) {
        bool large = pick(state, 0, 19) == 0;
        int64_t bytes = large ? page() + pick(state, -1, 1) : pick(state, 1, 100);
        if (at + bytes > MODEL_BYTES)
            return;
        append_extent(at, bytes);
        switch (pick(state, 0, 9)) {
        case 0: at += bytes; break;
        case 1: at = (at + bytes) / page() * page() + page(); break;
        case 2: at += bytes + pick(state, 1, 3 * page()); break;
        default: at += bytes + pick(state, 1, 200); break;
        }
    }
}

START_TEST(random_extents)
{
    uint64_t state = first_seed() + (uint64_t)_i;
    if (!is_supported())
        return;
    for (int64_t i = 0; i < MODEL_BYTES; i++)
        data[i] = (char)next_random(&state);
    for (uint64_t round = random_cases(10); round > 0; round--) {
        int fd = open_file(_i % KINDS);
        draw_extents(&state);
        const access_extent *last = &extent[count - 1];
        int64_t end = last->offset + last->bytes, before = pick(&state, 0, end + page());
        if (before > MODEL_BYTES)
            before = MODEL_BYTES;
        fill_file(fd, &state, before);
        ck_assert_int_eq(write_extents(fd), 0);
        for (size_t i = 0; i < count; i++)
            memcpy(model + extent[i].offset, extent[i].data, (size_t)extent[i].bytes);
        check_file(fd, before > end ? before : end);
        close(fd);
    }
}
END_TEST

/* Pages without extents, within and behind the mapping, get no space. */
START_TEST(holes_stay_empty)
{
    enum { PIECES = 40, STRETCHES = 5, APART = 16 };
    struct stat status;
    if (!is_supported())
        return;
    int fd = open_file(0);
    count = 0;
    for (int s = 0; s < STRETCHES; s++)
        for (int i = 0; i < PIECES; i++)
            append_extent((int64_t)s * APART * page() + i * 60, 8);
    ck_assert_int_eq(write_extents(fd), 0);
    ck_assert_int_eq(fstat(fd, &status), 0);
    ck_assert_int_eq(status.st_blocks * 512, STRETCHES * page());
    close(fd);
}
END_TEST

/* Bytes of the same pages, every other one. */
static void write_share(int fd, int share, int round)
{
    count = 0;
    for (int i = 0; i < MOST; i++)
        append_extent(i * 40 + share * 20, 20);
    memset(data, 'a' + share + round % 10 * 2, MOST * 40);
    ck_assert_int_eq(write_extents(fd), 0);
}

START_TEST(two_processes_in_the_same_pages)
{
    enum { BYTES = MOST * 40 };
    int fd = open_file(_i), status;
    if (!is_supported())
        return;
    int rounds = (int)random_cases(ROUNDS);
    pid_t other = fork();
    for (int round = 0; round <= rounds; round++) {
        write_share(fd, other == 0, round);
        ck_assert_int_eq(pread(fd, found, BYTES, 0) > 0, 1);
        for (int i = 0; i < MOST; i++)
            ck_assert_int_eq(found[i * 40 + (other == 0) * 20 + i % 20], data[0]);
    }
    if (other == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(pread(fd, found, sizeof found, 0), BYTES);
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(found[i], 'a' + i / 20 % 2 + rounds % 10 * 2);
    close(fd);
}
END_TEST

/* A file that was opened for one direction only. */
START_TEST(modes)
{
    static const int mode[] = {O_RDONLY, O_WRONLY};
    char path[32];
    int fd = open_file(0);
    ck_assert_int_eq(ftruncate(fd, page()), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int other = open(path, mode[_i]);
    ck_assert_int_ge(other, 0);
    count = 0;
    append_extent(0, 1);
    ck_assert_int_eq(access_pages_write(other, extent, count), -EACCES);
    ck_assert_int_eq(access_pages_write(-1, extent, count), -EBADF);
    close(other);
    close(fd);
}
END_TEST

/* A store behind the end of file would be a signal. */
START_TEST(behind_the_end_of_file)
{
    uint64_t state = 1;
    if (!is_supported())
        return;
    int fd = open_file(_i);
    fill_file(fd, &state, page());
    memset(data, 'x', sizeof data);
    count = 0;
    append_extent(0, 8);
    append_extent(page() + 8, 8);
    ck_assert_int_eq(access_pages_write(fd, extent, count), -EFAULT);
    check_file(fd, page());
    close(fd);
}
END_TEST

START_TEST(no_space)
{
    uint64_t state = 1;
    int stretches = is_supported() ? 3 : 1, fd = open_file(0);
    fill_file(fd, &state, 5 * page());
    memset(data, 'x', sizeof data);
    count = 0;
    append_extent(0, 8);
    append_extent(2 * page(), 8);
    append_extent(4 * page(), 8);
    populates = 0;
    for (failing_populate = 1; failing_populate <= stretches; failing_populate++) {
        populates = 0;
        ck_assert_int_eq(access_pages_write(fd, extent, count), -ENOSPC);
        ck_assert_int_eq(populates, failing_populate);
        check_file(fd, 5 * page());
    }
    close(fd);
}
END_TEST

/* ---- the decisions ---- */

/* Pieces of `bytes` bytes, so many in every `apart`th page. */
static bool pays(int pieces, int in_page, int64_t bytes, int apart)
{
    count = 0;
    for (int i = 0; i < pieces; i++)
        extent[count++] = (access_extent){(int64_t)(i / in_page) * apart * page() +
                                              i % in_page * (page() / in_page),
                                          data, bytes};
    return access_pages_pay(extent, count);
}

START_TEST(what_pays)
{
    ck_assert(!access_pages_pay(extent, 0));
    ck_assert(!pays(1, 1, 8, 1));
    ck_assert(!pays(16, 256, 8, 1));
    ck_assert(pays(32, 256, 8, 1));
    ck_assert(pays(MOST, 256, 8, 1));
    ck_assert(pays(MOST, 256, 8, 1000));
    ck_assert(pays(MOST, 2, 8, 1));
    ck_assert(!pays(MOST, 1, 8, 1));
    ck_assert(!pays(MOST, 2, 8, 2));
    ck_assert(pays(MOST, 4, 8, 2));
    ck_assert(!pays(MOST, 1, page() / 2, 1));
    ck_assert(!pays(MOST, 1, 3 * (int64_t)page(), 4));
    const access_extent last[] = {{INT64_MAX - 2, data, 1}, {INT64_MAX - 1, data, 1}};
    ck_assert(!access_pages_pay(last, 2));
}
END_TEST

static int64_t estimate_runs(const access_run *run, size_t runs)
{
    access_list list = {0};
    for (size_t i = 0; i < runs; i++)
        ck_assert_int_eq(access_append_run(&list, &run[i]), 0);
    int64_t requests = access_pages_estimate(&list);
    access_release(&list);
    return requests;
}

START_TEST(estimates)
{
    int64_t size = page(), far = 100 * size;
    const access_run dense = {0, 8, 16, size / 4, 0}, sparse = {0, 8, 2 * size, 50, 0};
    const access_run single[] = {{0, 8, 0, 1, 0}, {16, 4, 0, 1, 8}, {far, 8, 0, 1, 12}};
    const access_run last = {INT64_MAX - 8, 8, 0, 1, 0};
    ck_assert_int_eq(estimate_runs(NULL, 0), 0);
    ck_assert_int_eq(estimate_runs(&dense, 1), 4 + 1);
    ck_assert_int_eq(estimate_runs(&sparse, 1), 50);
    ck_assert_int_eq(estimate_runs(single, 3), 2);
    ck_assert_int_eq(estimate_runs(&last, 1), 1);
}
END_TEST

START_TEST(file_systems)
{
    int fd = open_file(0), ends[2];
    ck_assert(access_pages_are_shared(fd));
    close(fd);
    ck_assert(!access_pages_are_shared(fd));
    fd = open("/proc/self/maps", O_RDONLY);
    ck_assert(!access_pages_are_shared(fd));
    close(fd);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert(!access_pages_are_shared(ends[1]));
}
END_TEST

int main(void)
{
    return run_tests("pages", TIMES(random_extents, 20), ONCE(holes_stay_empty),
                     TIMES(two_processes_in_the_same_pages, KINDS), TIMES(modes, 2),
                     TIMES(behind_the_end_of_file, KINDS), ONCE(no_space), ONCE(what_pays),
                     ONCE(estimates), ONCE(file_systems));
}
