/* SPDX-License-Identifier: BSD-3-Clause */
/* The record file: what is added, replaced, refused, and left by several processes. */
#include "record/record_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failing_malloc.h"
#include "suite.h"

enum { RANKS = 3, BINS = 4, UNIT = 1024, NOBODY = 65534 };

static char dir[64], path[96], lock[112];

static void make_dir(void)
{
    strcpy(dir, "/tmp/test_record_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/view.crs", dir);
    snprintf(lock, sizeof lock, "%s.lock", path);
}

/* Returns how many files there were. */
static size_t remove_files(void)
{
    char name[512];
    size_t files = 0;
    DIR *stream = opendir(dir);
    ck_assert_ptr_nonnull(stream);
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        snprintf(name, sizeof name, "%s/%s", dir, entry->d_name);
        files += entry->d_name[0] != '.' && unlink(name) == 0;
    }
    closedir(stream);
    return files;
}

static void remove_dir(void)
{
    remove_files();
    ck_assert_int_eq(rmdir(dir), 0);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- additions ---- */

static record_origin origin_of(const char *run)
{
    return (record_origin){"ring", run, RANKS, ACCESS_WEIGHT_COUNT};
}

/* Ranks 0 and 1 are neighbours once, and rank 1 accesses 100 bytes of bin 2. */
static record_addition one_access(size_t ranks)
{
    record_addition a = {.view = {.rows = ranks, .cols = ranks}, .totals = {1, 2, 100, 30, 7}};
    matrix_entry entry = {1, 2, 100};
    matrix bytes;
    access_pattern pattern = {.file = (char *)"out.dat", .unit = UNIT};
    ck_assert_int_eq(matrix_builder_add(&a.view, 0, 1, 1), 0);
    ck_assert_int_eq(matrix_builder_add(&a.view, 1, 0, 1), 0);
    ck_assert_int_eq(matrix_from_entries(&bytes, ranks, BINS, &entry, 1), 0);
    ck_assert_int_eq(view_file_add_calls(&a.profile, &pattern, &bytes, 1), 0);
    matrix_release(&bytes);
    return a;
}

static int add_access(record_file *file, const char *run)
{
    const record_origin origin = origin_of(run);
    record_addition a = one_access(RANKS);
    int rc = record_file_add(file, path, &origin, &a);
    record_addition_release(&a);
    return rc;
}

/* As a process that has not written before. */
static int add_afresh(const char *run)
{
    record_file file = {0};
    int rc = add_access(&file, run);
    record_file_release(&file);
    return rc;
}

static void write_text(const char *text)
{
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(text, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
}

static void check_text(const char *text)
{
    char present[4096] = "";
    FILE *stream = fopen(path, "r");
    ck_assert_ptr_nonnull(stream);
    present[fread(present, 1, sizeof present - 1, stream)] = '\0';
    fclose(stream);
    ck_assert_str_eq(present, text);
}

/* The file is the record of so many accesses; -1: of any number, which is returned. */
static int64_t check_record(const char *run, int64_t accesses)
{
    view_file f;
    matrix_error error;
    char comments[512];
    FILE *stream = fopen(path, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(view_file_read(stream, &f, &error), 0);
    fclose(stream);
    int64_t n = matrix_get(&f.view, 0, 1);
    if (accesses >= 0)
        ck_assert_int_eq(n, accesses);
    snprintf(comments, sizeof comments,
             "view matrix of fcoll/tatp, format 3\nprogram: ring\nrun: %s\nranks: 3\n"
             "weight: count\nfiles: %lld\naccesses: %lld\nbytes: %lld\nindependent: %lld\nmissed: "
             "%lld\n",
             run, (long long)n, 2 * (long long)n, 100 * (long long)n, 30 * (long long)n,
             7 * (long long)n);
    ck_assert_str_eq(f.comments, comments);
    ck_assert_int_eq(matrix_get(&f.view, 1, 0), n);
    ck_assert_uint_eq(f.patterns, 1);
    ck_assert_int_eq(f.pattern[0].calls, n);
    ck_assert_int_eq(matrix_get(&f.bytes[0], 1, 2), 100 * n);
    view_file_release(&f);
    return n;
}

/* ---- one process ---- */

START_TEST(additions_of_one_run_are_summed)
{
    record_file file = {0};
    for (int64_t n = 1; n <= 3; n++) {
        ck_assert_int_eq(add_access(&file, "a"), 0);
        check_record("a", n);
    }
    ck_assert_int_eq(add_afresh("a"), 0);
    check_record("a", 4);
    ck_assert_int_eq(add_access(&file, "a"), 0);
    check_record("a", 5);
    record_file_release(&file);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

START_TEST(the_weight_is_named)
{
    char line[64];
    bool found = false;
    record_file file = {0};
    record_origin origin = origin_of("a");
    record_addition a = one_access(RANKS);
    origin.weight = ACCESS_WEIGHT_BYTES;
    ck_assert_int_eq(record_file_add(&file, path, &origin, &a), 0);
    record_addition_release(&a);
    record_file_release(&file);
    FILE *stream = fopen(path, "r");
    while (fgets(line, sizeof line, stream) != NULL)
        found = found || strcmp(line, "% weight: bytes\n") == 0;
    fclose(stream);
    ck_assert(found);
}
END_TEST

START_TEST(the_mode_is_that_of_the_umask)
{
    struct stat status;
    mode_t mask = umask(027);
    ck_assert_int_eq(add_afresh("a"), 0);
    umask(mask);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
}
END_TEST

START_TEST(the_file_of_another_run_is_replaced)
{
    static const char *const others[] = {
        "",
        "no view file",
        "FILEVIEW\n2 4\n1 0\n5 5\n1 2 3 3\n",
        "FILEVIEW\n% run: ab\n% accesses: 77\n2 4\n1 0\n5 5\n1 2 3 3\n",
        "FILEVIEW\n% run: b\nbroken",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_text(others[i]);
        ck_assert_int_eq(add_afresh("a"), 0);
        check_record("a", 1);
    }
    record_file file = {0};
    ck_assert_int_eq(add_access(&file, "a"), 0);
    check_record("a", 2);
    ck_assert_int_eq(add_afresh("b"), 0);
    check_record("b", 1);
    ck_assert_int_eq(add_access(&file, "a"), 0);
    check_record("a", 1);
    record_file_release(&file);
}
END_TEST

START_TEST(a_file_of_this_run_that_is_unusable_stays)
{
    static const char *const broken = "FILEVIEW\n% run: a\n% files: 3\n2 4\n1 0\n5";
    static const char *const of_four = "FILEVIEW\n% run: a\n2 5\n1 0\n5 5\n1 2 3 3 3\n";
    write_text(broken);
    ck_assert_int_eq(add_afresh("a"), -EBADMSG);
    check_text(broken);
    write_text(of_four);
    ck_assert_int_eq(add_afresh("a"), -EINVAL);
    check_text(of_four);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* Sanitizers and valgrind see what is not freed: some of it is allocated inside libc. */
START_TEST(without_memory_it_fails)
{
    const record_origin origin = origin_of("a");
    bool failed = true;
    int64_t accesses = 1;
    ck_assert_int_eq(add_afresh("a"), 0);
    for (long nth = 0; failed; nth++) {
        record_file file = {0};
        record_addition a = one_access(RANKS);
        fail_allocation(nth);
        int rc = record_file_add(&file, path, &origin, &a);
        record_file_release(&file);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        accesses += rc == 0;
        record_addition_release(&a);
        check_record("a", accesses);
    }
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* ---- places that cannot be written to ---- */

/* Limits and rights that a child changes are its own. */
static pid_t start_child(int (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(run());
    return child;
}

static void expect_success(pid_t child)
{
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

START_TEST(wrong_paths_are_refused)
{
    ck_assert_int_eq(record_file_check(path), 0);
    ck_assert_uint_eq(remove_files(), 0);
    ck_assert_int_eq(record_file_check(dir), -EISDIR);
    snprintf(path, sizeof path, "%s/none/view.crs", dir);
    ck_assert_int_eq(record_file_check(path), -ENOENT);
    ck_assert_int_eq(add_afresh("a"), -ENOENT);
    snprintf(path, sizeof path, "%s", dir);
    ck_assert_int_lt(add_afresh("a"), 0);
    snprintf(lock, sizeof lock, "%s.lock", dir);
    ck_assert_int_eq(access(lock, F_OK), -1);
}
END_TEST

static int write_without_permission(void)
{
    if (geteuid() == 0 && seteuid(NOBODY) != 0)
        return 1;
    if (record_file_check(path) != -EACCES)
        return 2;
    return add_afresh("a") == -EACCES ? 0 : 3;
}

START_TEST(a_folder_without_permission_is_refused)
{
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(chmod(dir, 0555), 0);
    expect_success(start_child(write_without_permission));
    ck_assert_int_eq(chmod(dir, 0755), 0);
    check_record("a", 1);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

static int write_to_full_disk(void)
{
    struct rlimit limit = {64, 64};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    record_file file = {0};
    int first = add_access(&file, "a"), second = add_access(&file, "a");
    record_file_release(&file);
    return first < 0 && second < 0 ? 0 : 2;
}

START_TEST(a_full_disk_leaves_the_old_file)
{
    ck_assert_int_eq(add_afresh("a"), 0);
    expect_success(start_child(write_to_full_disk));
    check_record("a", 1);
    ck_assert_int_eq(add_afresh("a"), 0);
    check_record("a", 2);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* ---- several processes ---- */

enum { WRITERS = 4, ADDITIONS = 50 };

static int add_many(void)
{
    record_file file = {0};
    int rc = 0;
    for (int i = 0; i < ADDITIONS && rc == 0; i++)
        rc = add_access(&file, "a");
    record_file_release(&file);
    return rc != 0;
}

START_TEST(processes_that_add_at_the_same_time_lose_nothing)
{
    pid_t child[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        child[i] = start_child(add_many);
    for (int i = 0; i < WRITERS; i++)
        expect_success(child[i]);
    check_record("a", WRITERS * ADDITIONS);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

static int add_forever(void)
{
    record_file file = {0};
    for (;;)
        if (add_access(&file, "a") != 0)
            return 1;
}

/* Whether the lock was held or not, the next writer gets it. */
START_TEST(a_killed_writer_leaves_a_whole_file)
{
    ck_assert_int_eq(add_afresh("a"), 0);
    for (long i = 0; i < 20; i++) {
        int status;
        pid_t child = start_child(add_forever);
        pause_ms(5 + 3 * i);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        int64_t accesses = check_record("a", -1);
        ck_assert_int_eq(add_afresh("a"), 0);
        check_record("a", accesses + 1);
    }
}
END_TEST

static int add_once(void)
{
    return add_afresh("a") != 0;
}

static int hold_lock(void)
{
    int fd = open(lock, O_RDWR | O_CREAT | O_EXCL, 0666);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    return fd;
}

/* The child has a copy of the descriptor, so that close is not enough. */
static void drop_lock(int fd)
{
    ck_assert_int_eq(flock(fd, LOCK_UN), 0);
    close(fd);
}

/* As the holder of a lock does that another process takes at once. */
START_TEST(a_lock_file_is_replaced_while_a_process_waits)
{
    int first = hold_lock();
    pid_t child = start_child(add_once);
    pause_ms(100);
    ck_assert_int_eq(unlink(lock), 0);
    int second = hold_lock();
    drop_lock(first);
    pause_ms(100);
    ck_assert_int_eq(waitpid(child, NULL, WNOHANG), 0);
    ck_assert_int_eq(access(path, F_OK), -1);
    drop_lock(second);
    expect_success(child);
    check_record("a", 1);
}
END_TEST

START_TEST(a_lock_file_is_removed_while_a_process_waits)
{
    int held = hold_lock();
    pid_t child = start_child(add_once);
    pause_ms(100);
    ck_assert_int_eq(unlink(lock), 0);
    drop_lock(held);
    expect_success(child);
    check_record("a", 1);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record_file");
    TCase *all = tcase_create("record_file");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, make_dir, remove_dir);
    tcase_add_test(all, additions_of_one_run_are_summed);
    tcase_add_test(all, the_weight_is_named);
    tcase_add_test(all, the_mode_is_that_of_the_umask);
    tcase_add_test(all, the_file_of_another_run_is_replaced);
    tcase_add_test(all, a_file_of_this_run_that_is_unusable_stays);
    tcase_add_test(all, without_memory_it_fails);
    tcase_add_test(all, wrong_paths_are_refused);
    tcase_add_test(all, a_folder_without_permission_is_refused);
    tcase_add_test(all, a_full_disk_leaves_the_old_file);
    tcase_add_test(all, processes_that_add_at_the_same_time_lose_nothing);
    tcase_add_test(all, a_killed_writer_leaves_a_whole_file);
    tcase_add_test(all, a_lock_file_is_replaced_while_a_process_waits);
    tcase_add_test(all, a_lock_file_is_removed_while_a_process_waits);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
