/* SPDX-License-Identifier: BSD-3-Clause */
/* The record file: what is added, replaced, refused, and left by several processes. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "record/record_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failing_malloc.h"
#include "suite.h"

enum { RANKS = 3, BINS = 4, UNIT = 1024, NOBODY = 65534 };

static char dir[64], path[96];

/* These take the place of libc's for the code under test as well. */
static bool is_time_skipped;
static int masks_set;

int nanosleep(const struct timespec *time, struct timespec *left)
{
    return is_time_skipped ? 0 : clock_nanosleep(CLOCK_REALTIME, 0, time, left);
}

mode_t umask(mode_t mask)
{
    masks_set++;
    return (mode_t)syscall(SYS_umask, mask);
}

static void make_dir(void)
{
    strcpy(dir, "/tmp/test_record_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/view.crs", dir);
}

/* A name in the folder. */
static const char *beside(const char *name)
{
    static char text[4][128];
    static size_t next;
    char *made = text[next++ % 4];
    snprintf(made, sizeof text[0], "%s/%s", dir, name);
    return made;
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

/* Ranks 0 and 1 are neighbours once, and rank 1 accesses 100 bytes of bin 2; twice. */
static void add_entry(record_file *file, size_t ranks)
{
    record_entry one = {.pattern = {.unit = UNIT}, .totals = {0, 0, 50, 15, 4}};
    matrix_entry neighbours[] = {{0, 1, 1}, {1, 0, 1}}, bytes = {1, 2, 50};
    ck_assert_int_eq(matrix_from_entries(&one.view, ranks, ranks, neighbours, 2), 0);
    ck_assert_int_eq(matrix_from_entries(&one.bytes, ranks, BINS, &bytes, 1), 0);
    ck_assert_int_eq(record_file_add(file, "out.dat", &one, 2, true), 0);
    record_entry_release(&one);
}

static int open_as(record_file **file, const char *program, const char *run)
{
    const record_origin origin = {program, run, ACCESS_WEIGHT_COUNT, 0};
    return record_file_open(file, path, &origin);
}

static record_file *start_run(const char *program, const char *run)
{
    record_file *file = NULL;
    ck_assert_int_eq(open_as(&file, program, run), 0);
    return file;
}

static int write_record(record_file *file)
{
    bool elsewhere = true;
    int rc = record_file_write(file, &elsewhere);
    ck_assert(!elsewhere);
    return rc;
}

static int add_access(record_file *file)
{
    add_entry(file, RANKS);
    return write_record(file);
}

/* As a process of the run that has not written before. */
static int add_afresh(const char *run)
{
    record_file *file = NULL;
    int rc = open_as(&file, "ring", run);
    if (rc == 0)
        rc = add_access(file);
    record_file_free(file);
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

/* Compares the comments but for the stamps. */
static void check_comments(const char *comments, const char *runs, int64_t n)
{
    char wanted[1024], present[1024] = "";
    snprintf(wanted, sizeof wanted,
             "view matrix of fcoll/tatp, format 4\nprogram: ring\n%s"
             "ranks: 3\nweight: count\nfiles: %lld\naccesses: %lld\nbytes: %lld\n"
             "independent: %lld\nmissed: %lld\n",
             runs, (long long)n, 2 * (long long)n, 100 * (long long)n, 30 * (long long)n,
             8 * (long long)n);
    for (const char *line = comments; *line != '\0'; line = strchr(line, '\n') + 1)
        if (strncmp(line, "began: ", 7) != 0 && strncmp(line, "written: ", 9) != 0)
            strncat(present, line, (size_t)(strchr(line, '\n') + 1 - line));
    ck_assert_str_eq(present, wanted);
}

/* The file of that name is the record of these runs ("run: a\n") and so many additions; -1: of any
 * number, which is returned. */
static int64_t check_named(const char *name, const char *runs, int64_t additions)
{
    view_file f;
    matrix_error error;
    FILE *stream = fopen(name, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(view_file_read(stream, &f, &error), 0);
    fclose(stream);
    int64_t n = matrix_get(&f.view, 0, 1) / 2;
    if (additions >= 0)
        ck_assert_int_eq(n, additions);
    check_comments(f.comments, runs, n);
    ck_assert_int_eq(matrix_get(&f.view, 1, 0), 2 * n);
    ck_assert_uint_eq(f.patterns, 1);
    ck_assert_int_eq(f.pattern[0].calls, 2 * n);
    ck_assert_int_eq(matrix_get(&f.bytes[0], 1, 2), 100 * n);
    view_file_release(&f);
    return n;
}

static int64_t check_record(const char *run, int64_t additions)
{
    char runs[64];
    snprintf(runs, sizeof runs, "run: %s\n", run);
    return check_named(path, runs, additions);
}

/* ---- one run ---- */

START_TEST(additions_of_one_run_are_summed)
{
    record_file *file = start_run("ring", "a");
    for (int64_t n = 1; n <= 3; n++) {
        ck_assert_int_eq(add_access(file), 0);
        check_record("a", n);
    }
    ck_assert_int_eq(add_afresh("a"), 0);
    check_record("a", 4);
    ck_assert_int_eq(add_access(file), 0);
    ck_assert_int_eq(add_access(file), 0);
    check_record("a", 6);
    record_file_free(file);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* Launchers may use a name again, as of the same process number in a new container. */
START_TEST(the_same_name_is_another_run_if_that_began_before)
{
    struct timespec now;
    record_file *file = NULL;
    ck_assert_int_eq(add_afresh("a"), 0);
    clock_gettime(CLOCK_REALTIME, &now);
    record_origin origin = {"ring", "a", ACCESS_WEIGHT_COUNT,
                            (int64_t)now.tv_sec * 1000000000 + now.tv_nsec};
    ck_assert_int_eq(record_file_open(&file, path, &origin), 0);
    ck_assert_int_eq(add_access(file), 0);
    record_file_free(file);
    check_record("a", 1);
    origin.started = 1;
    ck_assert_int_eq(record_file_open(&file, path, &origin), 0);
    ck_assert_int_eq(add_access(file), 0);
    record_file_free(file);
    check_record("a", 2);
}
END_TEST

/* The processes of the later run must not take its record for that of the earlier one. */
START_TEST(a_later_run_of_the_same_name_is_one_run)
{
    struct timespec now;
    record_file *first = NULL, *second = NULL;
    ck_assert_int_eq(add_afresh("a"), 0);
    clock_gettime(CLOCK_REALTIME, &now);
    record_origin origin = {"ring", "a", ACCESS_WEIGHT_COUNT,
                            (int64_t)now.tv_sec * 1000000000 + now.tv_nsec};
    ck_assert_int_eq(record_file_open(&first, path, &origin), 0);
    ck_assert_int_eq(add_access(first), 0);
    ck_assert_int_eq(record_file_open(&second, path, &origin), 0);
    ck_assert_int_eq(add_access(second), 0);
    check_record("a", 2);
    ck_assert_int_eq(add_access(first), 0);
    check_record("a", 3);
    record_file_free(first);
    record_file_free(second);
}
END_TEST

START_TEST(without_additions_nothing_is_written)
{
    record_file *file = start_run("ring", "a");
    ck_assert_int_eq(write_record(file), 0);
    ck_assert_uint_eq(remove_files(), 0);
    ck_assert_int_eq(add_access(file), 0);
    check_record("a", 1);
    ck_assert_int_eq(write_record(file), 0);
    check_record("a", 1);
    record_file_free(file);
}
END_TEST

START_TEST(the_weight_is_named)
{
    char line[64];
    bool found = false, elsewhere;
    record_file *file;
    const record_origin origin = {"ring", "a", ACCESS_WEIGHT_BYTES, 0};
    ck_assert_int_eq(record_file_open(&file, path, &origin), 0);
    add_entry(file, RANKS);
    ck_assert_int_eq(record_file_write(file, &elsewhere), 0);
    record_file_free(file);
    FILE *stream = fopen(path, "r");
    while (fgets(line, sizeof line, stream) != NULL)
        found = found || strcmp(line, "% weight: bytes\n") == 0;
    fclose(stream);
    ck_assert(found);
}
END_TEST

/* The mask is the process's: no other thread may create files without one. */
START_TEST(the_mode_is_that_of_the_umask)
{
    struct stat status;
    mode_t mask = umask(027);
    masks_set = 0;
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(masks_set, 0);
    umask(mask);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
}
END_TEST

START_TEST(the_mode_of_a_file_stays)
{
    struct stat status;
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
}
END_TEST

#define FIRST "FILEVIEW\n% view matrix of fcoll/tatp, format 4\n"

START_TEST(the_record_of_an_earlier_run_is_replaced)
{
    static const char *const others[] = {
        "",
        FIRST "% run: ab\n% accesses: 77\n2 4\n1 0\n5 5\n1 2 3 3\n",
        FIRST "% run: b\nbroken",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_text(others[i]);
        ck_assert_int_eq(add_afresh("a"), 0);
        check_record("a", 1);
    }
    ck_assert_int_eq(add_afresh("b"), 0);
    check_record("b", 1);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

START_TEST(a_record_of_this_run_that_is_unusable_stays)
{
    static const char *const broken = FIRST "% run: a\n% ranks: 3\n% files: 3\n2 4\n1 0\n5";
    static const char *const of_four = FIRST "% run: a\n% ranks: 3\n2 5\n1 0\n5 5\n1 2 3 3 3\n";
    write_text(broken);
    ck_assert_int_eq(add_afresh("a"), -EBADMSG);
    check_text(broken);
    write_text(of_four);
    ck_assert_int_eq(add_afresh("a"), -EBADMSG);
    check_text(of_four);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* Each allocation of a write fails in turn; the next write has everything. Sanitizers and valgrind
 * see what is not freed: some of it is allocated inside libc. */
static void fail_allocations(bool with_another_process)
{
    record_file *file = start_run("ring", "a");
    bool failed = true;
    ck_assert_int_eq(add_access(file), 0);
    for (long nth = 0; failed; nth++) {
        add_entry(file, RANKS);
        if (with_another_process)
            ck_assert_int_eq(add_afresh("a"), 0);
        int64_t before = check_record("a", -1);
        bool elsewhere;
        fail_allocation(nth);
        int rc = record_file_write(file, &elsewhere);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        check_record("a", failed ? before : before + 1);
        ck_assert_int_eq(write_record(file), 0);
        check_record("a", before + 1);
    }
    record_file_free(file);
    ck_assert_uint_eq(remove_files(), 1);
}

START_TEST(without_memory_nothing_is_lost)
{
    fail_allocations(false);
    fail_allocations(true);
}
END_TEST

START_TEST(without_memory_it_is_not_opened)
{
    bool failed = true;
    for (long nth = 0; failed; nth++) {
        record_file *file = NULL;
        fail_allocation(nth);
        int rc = open_as(&file, "ring", "a");
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        record_file_free(file);
    }
}
END_TEST

/* An access near the largest offset is refused alone. */
START_TEST(what_cannot_be_recorded_is_refused_alone)
{
    record_file *file = start_run("ring", "a");
    record_entry far = {.pattern = {.first = INT64_MAX - 100, .unit = UNIT},
                        .totals = {.bytes = 1}};
    record_entry large = {.totals = {.bytes = INT64_MAX / 2}};
    matrix_entry bytes = {1, 2, 50};
    ck_assert_int_eq(matrix_allocate(&far.view, RANKS, RANKS, 0), 0);
    ck_assert_int_eq(matrix_from_entries(&far.bytes, RANKS, BINS, &bytes, 1), 0);
    ck_assert_int_eq(matrix_allocate(&large.view, RANKS, RANKS, 0), 0);
    add_entry(file, RANKS);
    ck_assert_int_eq(record_file_add(file, "out.dat", &far, 1, true), -ERANGE);
    ck_assert_int_eq(record_file_add(file, "out.dat", &large, 1, true), -ERANGE);
    ck_assert_int_eq(record_file_add(file, "out.dat", &large, INT64_MAX, true), -ERANGE);
    record_entry_release(&far);
    record_entry_release(&large);
    ck_assert_int_eq(write_record(file), 0);
    check_record("a", 1);
    record_file_free(file);
}
END_TEST

/* ---- several runs ---- */

START_TEST(runs_at_the_same_time_share_the_record)
{
    record_file *a = start_run("ring", "a"), *b = start_run("ring", "b");
    ck_assert_int_eq(add_access(a), 0);
    ck_assert_int_eq(add_access(b), 0);
    ck_assert_int_eq(add_access(a), 0);
    check_named(path, "run: a\nrun: b\n", 3);
    record_file_free(a);
    record_file_free(b);
    ck_assert_int_eq(add_afresh("c"), 0);
    check_record("c", 1);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* A later run cannot know whether the earlier one has ended. */
START_TEST(a_run_that_was_taken_for_an_earlier_one_adds_everything_again)
{
    record_file *a = start_run("ring", "a"), *other = start_run("ring", "a");
    ck_assert_int_eq(add_access(a), 0);
    ck_assert_int_eq(add_access(other), 0);
    ck_assert_int_eq(add_afresh("b"), 0);
    check_record("b", 1);
    ck_assert_int_eq(write_record(a), 0);
    check_named(path, "run: b\nrun: a\n", 2);
    ck_assert_int_eq(write_record(other), 0);
    check_named(path, "run: b\nrun: a\n", 3);
    ck_assert_int_eq(write_record(a), 0);
    check_named(path, "run: b\nrun: a\n", 3);
    record_file_free(a);
    record_file_free(other);
}
END_TEST

static void write_elsewhere(record_file *file, size_t ranks, bool wanted)
{
    bool elsewhere = !wanted;
    add_entry(file, ranks);
    ck_assert_int_eq(record_file_write(file, &elsewhere), 0);
    ck_assert(elsewhere == wanted);
}

/* Another program, another number of ranks: reported once; later runs replace these records. */
START_TEST(another_program_at_the_same_time_records_elsewhere)
{
    static const char *const runs[2][3] = {{"a", "b", "c"}, {"d", "e", "f"}};
    for (int round = 0; round < 2; round++) {
        record_file *a = start_run("ring", runs[round][0]), *b = start_run("star", runs[round][1]);
        record_file *b2 = start_run("star", runs[round][1]), *c = start_run("ring", runs[round][2]);
        ck_assert_int_eq(add_access(a), 0);
        write_elsewhere(b, RANKS, true);
        write_elsewhere(b, RANKS, false);
        write_elsewhere(b2, RANKS, false);
        write_elsewhere(c, RANKS + 1, true);
        ck_assert_str_eq(record_file_place(a), path);
        ck_assert_str_eq(record_file_path(b), path);
        ck_assert_str_eq(record_file_place(b), beside("view.crs.2"));
        ck_assert_str_eq(record_file_place(c), beside("view.crs.3"));
        check_record(runs[round][0], 1);
        record_file_free(a);
        record_file_free(b);
        record_file_free(b2);
        record_file_free(c);
    }
    ck_assert_uint_eq(remove_files(), 3);
}
END_TEST

START_TEST(names_with_numbers_that_are_taken_are_left_out)
{
    ck_assert_int_eq(mkfifo(beside("view.crs.2"), 0600), 0);
    ck_assert_int_eq(mkdir(beside("view.crs.3"), 0700), 0);
    snprintf(path, sizeof path, "%s", beside("view.crs.4"));
    write_text("a letter");
    snprintf(path, sizeof path, "%s", beside("view.crs"));
    record_file *a = start_run("ring", "a"), *b = start_run("star", "b");
    ck_assert_int_eq(add_access(a), 0);
    write_elsewhere(b, RANKS, true);
    ck_assert_str_eq(record_file_place(b), beside("view.crs.5"));
    record_file_free(a);
    record_file_free(b);
    snprintf(path, sizeof path, "%s", beside("view.crs.4"));
    check_text("a letter");
    ck_assert_int_eq(rmdir(beside("view.crs.3")), 0);
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

static int open_only(void)
{
    record_file *file = NULL;
    int rc = open_as(&file, "ring", "a");
    record_file_free(file);
    return rc;
}

START_TEST(wrong_paths_are_refused)
{
    ck_assert_int_eq(open_only(), 0);
    ck_assert_uint_eq(remove_files(), 0);
    snprintf(path, sizeof path, "%s/none/view.crs", dir);
    ck_assert_int_eq(open_only(), -ENOENT);
    snprintf(path, sizeof path, "%s", dir);
    ck_assert_int_eq(open_only(), -EISDIR);
    ck_assert_uint_eq(remove_files(), 0);
}
END_TEST

static void check_is_kind(mode_t kind)
{
    struct stat status;
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & S_IFMT, kind);
}

START_TEST(only_a_regular_file_is_written)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(open_only(), -EINVAL);
    check_is_kind(S_IFIFO);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("none.crs", path), 0);
    ck_assert_int_eq(open_only(), -EINVAL);
    check_is_kind(S_IFLNK);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("/dev/null", path), 0);
    ck_assert_int_eq(open_only(), -EINVAL);
    snprintf(path, sizeof path, "/dev/null");
    ck_assert_int_eq(open_only(), -EINVAL);
    check_is_kind(S_IFCHR);
}
END_TEST

/* While the record is open. */
START_TEST(a_file_that_becomes_something_else_is_left)
{
    record_file *file = start_run("ring", "a");
    add_entry(file, RANKS);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(write_record(file), -EINVAL);
    ck_assert_int_eq(unlink(path), 0);
    write_text("a letter");
    ck_assert_int_eq(write_record(file), -EEXIST);
    check_text("a letter");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(write_record(file), 0);
    check_record("a", 1);
    record_file_free(file);
}
END_TEST

START_TEST(the_target_of_a_link_is_written)
{
    char name[96];
    strcpy(name, path);
    ck_assert_int_eq(mkdir(beside("sub"), 0700), 0);
    snprintf(path, sizeof path, "%s/sub/target.crs", dir);
    write_text("");
    strcpy(path, name);
    ck_assert_int_eq(symlink("sub/target.crs", path), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    check_record("a", 2);
    check_is_kind(S_IFLNK);
    ck_assert_int_eq(unlink(path), 0);
    snprintf(path, sizeof path, "%s/sub/target.crs", dir);
    check_record("a", 2);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(beside("sub")), 0);
}
END_TEST

START_TEST(a_file_that_is_no_record_is_left)
{
    static const char *const others[] = {
        "a letter",
        "FILEVIEW",
        "FILEVIEW\n2 4\n1 0\n5 5\n1 2 3 3\n",
        FIRST "2 4\n1 0\n5 5\n1 2 3 3\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_text(others[i]);
        ck_assert_int_eq(open_only(), -EEXIST);
        check_text(others[i]);
    }
    ck_assert_int_eq(truncate(path, INT64_C(6) << 30), 0);
    ck_assert_int_eq(open_only(), -EEXIST);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

static int write_without_permission(void)
{
    if (geteuid() == 0 && seteuid(NOBODY) != 0)
        return 1;
    return open_only() == -EACCES ? 0 : 2;
}

START_TEST(a_folder_without_permission_is_refused)
{
    ck_assert_int_eq(chmod(dir, 0555), 0);
    expect_success(start_child(write_without_permission));
    ck_assert_int_eq(chmod(dir, 0755), 0);
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
    struct rlimit limit = {64, 4096};
    signal(SIGXFSZ, SIG_IGN);
    record_file *file = start_run("ring", "a");
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (add_access(file) != -EFBIG || add_access(file) != -EFBIG)
        return 2;
    limit.rlim_cur = 4096;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || write_record(file) != 0)
        return 3;
    record_file_free(file);
    return 0;
}

/* The error is that of the system, and what could not be written is written later. */
START_TEST(a_full_disk_leaves_the_old_file)
{
    ck_assert_int_eq(add_afresh("a"), 0);
    expect_success(start_child(write_to_full_disk));
    check_record("a", 3);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* Only ENOENT is "no file yet". */
static int write_without_descriptors(void)
{
    record_file *file = start_run("ring", "a");
    struct rlimit limit, none;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    for (none = limit, none.rlim_cur = 0; none.rlim_cur < 16; none.rlim_cur++) {
        add_entry(file, RANKS);
        setrlimit(RLIMIT_NOFILE, &none);
        int rc = write_record(file);
        setrlimit(RLIMIT_NOFILE, &limit);
        if (rc != 0 && rc != -EMFILE)
            return 2;
    }
    int rc = write_record(file);
    record_file_free(file);
    return rc == 0 ? 0 : 3;
}

START_TEST(without_descriptors_nothing_is_lost)
{
    ck_assert_int_eq(add_afresh("a"), 0);
    expect_success(start_child(write_without_descriptors));
    check_record("a", 17);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* ---- several processes ---- */

enum { WRITERS = 4, ADDITIONS = 50 };

static int add_many(void)
{
    record_file *file = start_run("ring", "a");
    int rc = 0;
    for (int i = 0; i < ADDITIONS && rc == 0; i++)
        rc = add_access(file);
    record_file_free(file);
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
    record_file *file = start_run("ring", "a");
    for (;;)
        if (add_access(file) != 0)
            return 1;
}

/* Whether the lock was held or not, the next writer gets it, and removes what the killed one may
 * have left. */
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
        int64_t additions = check_record("a", -1);
        ck_assert_int_eq(add_afresh("a"), 0);
        check_record("a", additions + 1);
    }
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

START_TEST(what_a_killed_writer_left_is_removed)
{
    static const char *const left[] = {"", "FILEV", FIRST "% program: ring\n% ru"};
    char name[96];
    ck_assert_int_eq(add_afresh("a"), 0);
    strcpy(name, path);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        snprintf(path, sizeof path, "%s", beside("view.crs.new"));
        write_text(left[i]);
        strcpy(path, name);
        ck_assert_int_eq(add_afresh("a"), 0);
        ck_assert_int_eq(access(beside("view.crs.new"), F_OK), -1);
    }
    snprintf(path, sizeof path, "%s", beside("view.crs.new"));
    write_text("a letter");
    strcpy(path, name);
    ck_assert_int_eq(add_afresh("a"), -ENOTUNIQ);
    check_record("a", 4);
    snprintf(path, sizeof path, "%s", beside("view.crs.new"));
    check_text("a letter");
}
END_TEST

/* As another user may who can read the file. */
static int hold_lock(short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int fd = open(path, type == F_RDLCK ? O_RDONLY : O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &whole), 0);
    return fd;
}

START_TEST(waiting_for_a_lock_ends)
{
    record_file *file = start_run("ring", "a");
    ck_assert_int_eq(add_access(file), 0);
    int held = hold_lock(F_RDLCK);
    is_time_skipped = true;
    ck_assert_int_eq(add_access(file), -ETIMEDOUT);
    is_time_skipped = false;
    check_record("a", 1);
    close(held);
    ck_assert_int_eq(write_record(file), 0);
    check_record("a", 2);
    record_file_free(file);
}
END_TEST

START_TEST(other_locks_and_lock_files_do_not_matter)
{
    char name[96];
    ck_assert_int_eq(add_afresh("a"), 0);
    int fd = open(path, O_RDONLY);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    strcpy(name, path);
    snprintf(path, sizeof path, "%s", beside("view.crs.lock"));
    write_text("");
    int held = hold_lock(F_WRLCK);
    strcpy(path, name);
    ck_assert_int_eq(add_afresh("a"), 0);
    check_record("a", 2);
    close(held);
    close(fd);
    ck_assert_uint_eq(remove_files(), 2);
}
END_TEST

static int add_once(void)
{
    return add_afresh("a") != 0;
}

/* As a holder of the lock does that replaces the record, while others wait for the old one. */
START_TEST(the_record_is_replaced_while_a_process_waits)
{
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(link(path, beside("copy")), 0);
    int held = hold_lock(F_WRLCK);
    pid_t child = start_child(add_once);
    pause_ms(100);
    ck_assert_int_eq(waitpid(child, NULL, WNOHANG), 0);
    ck_assert_int_eq(unlink(path), 0);
    expect_success(child);
    check_record("a", 1);
    close(held);
    ck_assert_uint_eq(remove_files(), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record_file");
    TCase *all = tcase_create("record_file");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, make_dir, remove_dir);
    tcase_add_test(all, additions_of_one_run_are_summed);
    tcase_add_test(all, the_same_name_is_another_run_if_that_began_before);
    tcase_add_test(all, a_later_run_of_the_same_name_is_one_run);
    tcase_add_test(all, without_additions_nothing_is_written);
    tcase_add_test(all, the_weight_is_named);
    tcase_add_test(all, the_mode_is_that_of_the_umask);
    tcase_add_test(all, the_mode_of_a_file_stays);
    tcase_add_test(all, the_record_of_an_earlier_run_is_replaced);
    tcase_add_test(all, a_record_of_this_run_that_is_unusable_stays);
    tcase_add_test(all, without_memory_nothing_is_lost);
    tcase_add_test(all, without_memory_it_is_not_opened);
    tcase_add_test(all, what_cannot_be_recorded_is_refused_alone);
    tcase_add_test(all, runs_at_the_same_time_share_the_record);
    tcase_add_test(all, a_run_that_was_taken_for_an_earlier_one_adds_everything_again);
    tcase_add_test(all, another_program_at_the_same_time_records_elsewhere);
    tcase_add_test(all, names_with_numbers_that_are_taken_are_left_out);
    tcase_add_test(all, wrong_paths_are_refused);
    tcase_add_test(all, only_a_regular_file_is_written);
    tcase_add_test(all, a_file_that_becomes_something_else_is_left);
    tcase_add_test(all, the_target_of_a_link_is_written);
    tcase_add_test(all, a_file_that_is_no_record_is_left);
    tcase_add_test(all, a_folder_without_permission_is_refused);
    tcase_add_test(all, a_full_disk_leaves_the_old_file);
    tcase_add_test(all, without_descriptors_nothing_is_lost);
    tcase_add_test(all, processes_that_add_at_the_same_time_lose_nothing);
    tcase_add_test(all, a_killed_writer_leaves_a_whole_file);
    tcase_add_test(all, what_a_killed_writer_left_is_removed);
    tcase_add_test(all, waiting_for_a_lock_ends);
    tcase_add_test(all, other_locks_and_lock_files_do_not_matter);
    tcase_add_test(all, the_record_is_replaced_while_a_process_waits);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
