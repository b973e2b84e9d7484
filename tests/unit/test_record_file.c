/* SPDX-License-Identifier: BSD-3-Clause */
/* The record file: what is added, replaced, refused, and left by other processes. */
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

#include "base/version.h"
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

/* Calls until one fails; 0: none does. */
static int statuses_left, renames_left;
static bool has_links = true;

int link(const char *from, const char *to)
{
    errno = EPERM;
    return has_links ? linkat(AT_FDCWD, from, AT_FDCWD, to, 0) : -1;
}

int rename(const char *from, const char *to)
{
    errno = EIO;
    return renames_left > 0 && --renames_left == 0 ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int fstat(int fd, struct stat *status)
{
    if (statuses_left > 0 && --statuses_left == 0) {
        errno = EIO;
        return -1;
    }
    return fstatat(fd, "", status, AT_EMPTY_PATH);
}

/* A name in the folder; an absolute one is as it is. */
static const char *beside(const char *name)
{
    static char text[4][128];
    static size_t next;
    char *made = text[next++ % 4];
    snprintf(made, sizeof text[0], "%s%s%s", name[0] == '/' ? "" : dir, name[0] == '/' ? "" : "/",
             name);
    return made;
}

static void make_dir(void)
{
    strcpy(dir, "/tmp/test_record_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    strcpy(path, beside("view.crs"));
}

/* Returns how many files there were. */
static size_t remove_files(void)
{
    size_t files = 0;
    DIR *stream = opendir(dir);
    ck_assert_ptr_nonnull(stream);
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream))
        files += entry->d_name[0] != '.' && unlinkat(dirfd(stream), entry->d_name, 0) == 0;
    closedir(stream);
    return files;
}

static void remove_dir(void)
{
    remove_files();
    ck_assert_int_eq(rmdir(dir), 0);
}

static mode_t mode_of(const char *name)
{
    struct stat status;
    ck_assert_int_eq(lstat(name, &status), 0);
    return status.st_mode;
}

static void write_text(const char *name, const char *text)
{
    FILE *stream = fopen(name, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(text, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
}

static void check_text(const char *name, const char *text)
{
    char present[4096] = "";
    FILE *stream = fopen(name, "r");
    ck_assert_ptr_nonnull(stream);
    present[fread(present, 1, sizeof present - 1, stream)] = '\0';
    fclose(stream);
    ck_assert_str_eq(present, text);
}

/* ---- additions ---- */

/* Ranks 0 and 1 are neighbours once, and rank 1 accesses 100 bytes of bin 2; twice. */
static void add_entry(record_file *file, size_t ranks)
{
    record_entry one = {.pattern = {.unit = UNIT}, .accessed = 50};
    matrix_entry neighbours[] = {{0, 1, 1}, {1, 0, 1}}, bytes = {1, 2, 50};
    ck_assert_int_eq(matrix_from_entries(&one.view, ranks, ranks, neighbours, 2), 0);
    ck_assert_int_eq(matrix_from_entries(&one.bytes, ranks, BINS, &bytes, 1), 0);
    ck_assert_int_eq(record_file_add(file, "out.dat", &one, 2, true), 0);
    record_entry_release(&one);
}

/* started: of the run, in nanoseconds since 1970. */
static int open_as(record_file **file, const char *program, const char *run, int64_t started)
{
    const record_origin origin = {program, run, started, ""};
    return record_file_open(file, path, &origin);
}

static record_file *start_run(const char *program, const char *run, int64_t started)
{
    record_file *file = NULL;
    ck_assert_int_eq(open_as(&file, program, run, started), 0);
    return file;
}

static int write_record(record_file *file)
{
    record_news news;
    return record_file_write(file, &news);
}

static int add_access(record_file *file)
{
    add_entry(file, RANKS);
    return write_record(file);
}

static int open_only(void)
{
    record_file *file = NULL;
    int rc = open_as(&file, "ring", "a", 0);
    record_file_free(file);
    return rc;
}

/* As a process of the run that has not written before. */
static int add_afresh(const char *run)
{
    record_file *file = NULL;
    int rc = open_as(&file, "ring", run, 0);
    if (rc == 0)
        rc = add_access(file);
    record_file_free(file);
    return rc;
}

static view_file read_record(const char *name)
{
    view_file f;
    matrix_error error;
    FILE *stream = fopen(name, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(view_file_read(stream, &f, &error), 0);
    fclose(stream);
    return f;
}

/* The file is the record of that run, with so many additions; -1: of any number. Returns it. */
static int64_t check_record(const char *run, int64_t additions)
{
    char wanted[1024];
    view_file f = read_record(path);
    int64_t n = matrix_get(&f.view, 0, 1) / 2;
    if (additions >= 0)
        ck_assert_int_eq(n, additions);
    snprintf(wanted, sizeof wanted,
             "view matrix of fcoll/tatp, format 4\nversion: " TATP_VERSION "\nprogram: ring\n"
             "run: %s\nranks: 3\nfiles: %lld\naccesses: %lld\nbytes: %lld\n",
             run, (long long)n, 2 * (long long)n, 100 * (long long)n);
    ck_assert_str_eq(f.comments, wanted);
    ck_assert_int_eq(matrix_get(&f.view, 1, 0), 2 * n);
    ck_assert_uint_eq(f.patterns, 1);
    ck_assert_int_eq(f.pattern[0].calls, 2 * n);
    ck_assert_int_eq(matrix_get(&f.bytes[0], 1, 2), 100 * n);
    view_file_release(&f);
    return n;
}

/* ---- one run ---- */

/* Without additions nothing is written. */
START_TEST(additions_of_one_run_are_summed)
{
    record_file *file = start_run("ring", "a", 0);
    ck_assert_int_eq(write_record(file), 0);
    ck_assert_uint_eq(remove_files(), 0);
    for (int64_t n = 1; n <= 3; n++) {
        ck_assert_int_eq(add_access(file), 0);
        check_record("a", n);
        ck_assert_int_eq(write_record(file), 0);
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

/* Launchers may use a name again, as of the same process number in a new container. The processes
 * of the later run must not take its record for that of the earlier one. */
START_TEST(the_same_name_is_another_run_if_that_wrote_before)
{
    struct timespec now, before;
    ck_assert_int_eq(add_afresh("a"), 0);
    clock_gettime(CLOCK_REALTIME, &now);
    before = (struct timespec){now.tv_sec - 5, 0};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, (struct timespec[]){before, before}, 0), 0);
    int64_t started = ((int64_t)now.tv_sec - 2) * 1000000000;
    for (int64_t n = 1; n <= 2; n++) {
        record_file *file = start_run("ring", "a", started);
        ck_assert_int_eq(add_access(file), 0);
        check_record("a", n);
        record_file_free(file);
    }
}
END_TEST

/* The clock of the file system may be behind. */
START_TEST(what_the_run_holds_is_its_own_at_any_time)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    record_file *file = start_run("ring", "a", ((int64_t)now.tv_sec + 100) * 1000000000);
    for (int64_t n = 1; n <= 2; n++) {
        ck_assert_int_eq(add_access(file), 0);
        check_record("a", n);
    }
    record_file_free(file);
}
END_TEST

/* The mask is the process's: no other thread may create files without one. */
START_TEST(the_mode_is_that_of_the_umask_and_stays)
{
    mode_t mask = umask(027);
    masks_set = 0;
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(masks_set, 0);
    umask(mask);
    ck_assert_uint_eq(mode_of(path) & 0777, 0640);
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_uint_eq(mode_of(path) & 0777, 0600);
}
END_TEST

#define FIRST "FILEVIEW\n% view matrix of fcoll/tatp, format 4\n% program: ring\n"

/* What is there when run "a" adds: replaced, or refused and left as it is. */
static const struct {
    const char *name, *text;
    int rc;
} versions[] = {
    {"an empty file", "", 0},
    {"of another run", FIRST "% run: ab\n% ranks: 3\n% accesses: 77\n2 4\n1 0\n5 5\n1 2 3 3\n", 0},
    {"of this run on 4 ranks", FIRST "% run: a\n% ranks: 4\nbroken", 0},
    {"of another run, damaged", FIRST "% run: b\n% ranks: 3\nbroken", 0},
    {"of this run, damaged", FIRST "% run: a\n% ranks: 3\n% files: 3\n2 4\n1 0\n5", -EBADMSG},
    {"of four ranks", FIRST "% run: a\n% ranks: 3\n2 5\n1 0\n5 5\n1 2 3 3 3\n", -EBADMSG},
    {"no record", "a letter", -EEXIST},
    {"the first word", "FILEVIEW", -EEXIST},
    {"stock Open MPI's", "FILEVIEW\n2 4\n1 0\n5 5\n1 2 3 3\n", -EEXIST},
    {"no run", FIRST "2 4\n1 0\n5 5\n1 2 3 3\n", -EEXIST},
};

START_TEST(what_is_there_is_replaced_or_left)
{
    const char *text = versions[_i].text;
    write_text(path, text);
    ck_assert_int_eq(open_only(), versions[_i].rc == -EEXIST ? -EEXIST : 0);
    int rc = add_afresh("a");
    ck_assert_msg(rc == versions[_i].rc, "%s: %d", versions[_i].name, rc);
    if (rc == 0) {
        check_record("a", 1);
        ck_assert_int_eq(add_afresh("b"), 0);
        check_record("b", 1);
    } else {
        check_text(path, text);
    }
    bool is_kept = rc == 0 && strstr(text, "% ranks: 4") != NULL;
    ck_assert_uint_eq(remove_files(), is_kept ? 2 : 1);
}
END_TEST

static const char earlier[] =
    "FILEVIEW\n% view matrix of fcoll/tatp\n% program: halo\n% run: h\n% ranks: 4\n";

/* A record is kept, but not in place of something that is none: known at the beginning. */
START_TEST(nothing_else_is_replaced_by_what_is_kept)
{
    record_file *file = start_run("ring", "a", 0);
    write_text(path, earlier);
    ck_assert_int_eq(symlink("view.crs", beside("view.crs~")), 0);
    ck_assert_int_eq(open_only(), -ENOTUNIQ);
    ck_assert_int_eq(unlink(beside("view.crs~")), 0);
    ck_assert_int_eq(mkdir(beside("view.crs~"), 0700), 0);
    ck_assert_int_eq(open_only(), -ENOTUNIQ);
    ck_assert_int_eq(rmdir(beside("view.crs~")), 0);
    write_text(beside("view.crs~"), "a letter");
    ck_assert_int_eq(open_only(), -ENOTUNIQ);
    ck_assert_int_eq(add_access(file), -ENOTUNIQ);
    check_text(beside("view.crs~"), "a letter");
    check_text(path, earlier);
    record_file_free(file);
}
END_TEST

/* News is what was there, of the first process of a run. */
START_TEST(what_is_replaced_is_told)
{
    char *kept = strdup(beside("view.crs~"));
    record_news news;
    write_text(path, earlier);
    write_text(kept, earlier);
    for (int n = 1; n <= 2; n++) {
        record_file *file = start_run("ring", "a", 0);
        add_entry(file, RANKS);
        ck_assert_int_eq(record_file_write(file, &news), 0);
        ck_assert(news.is_first == (n == 1));
        ck_assert(news.keeps == (n == 1));
        check_text(kept, earlier);
        ck_assert_str_eq(news.before.program, n == 1 ? "halo" : "ring");
        ck_assert_uint_eq(news.before.ranks, n == 1 ? 4 : RANKS);
        check_record("a", n);
        ck_assert_int_eq(record_file_write(file, &news), 0);
        ck_assert(!news.is_first);
        record_file_free(file);
    }
    ck_assert_uint_eq(remove_files(), 2);
    free(kept);
}
END_TEST

/* A file system without links refuses the second renaming, too. */
START_TEST(what_cannot_be_replaced_stays)
{
    record_file *file = start_run("ring", "a", 0);
    write_text(path, earlier);
    add_entry(file, RANKS);
    has_links = false;
    renames_left = 2;
    ck_assert_int_eq(write_record(file), -EIO);
    check_text(path, earlier);
    ck_assert_int_eq(write_record(file), 0);
    check_record("a", 1);
    check_text(beside("view.crs~"), earlier);
    record_file_free(file);
}
END_TEST

/* Each allocation of a write fails in turn; the next write has everything. Sanitizers and valgrind
 * see what is not freed: some of it is allocated inside libc. */
START_TEST(without_memory_nothing_is_lost)
{
    record_file *file = start_run("ring", "a", 0);
    record_news news;
    bool failed = true;
    ck_assert_int_eq(add_access(file), 0);
    for (long nth = 0; failed; nth++) {
        add_entry(file, RANKS);
        int64_t before = check_record("a", -1);
        fail_allocation(nth);
        int rc = record_file_write(file, &news);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        check_record("a", failed ? before : before + 1);
        ck_assert_int_eq(write_record(file), 0);
        check_record("a", before + 1);
    }
    record_file_free(file);
    ck_assert_uint_eq(remove_files(), 1);
    failed = true;
    for (long nth = 0; failed; nth++) {
        file = NULL;
        fail_allocation(nth);
        int rc = open_as(&file, "ring", "a", 0);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        record_file_free(file);
    }
    ck_assert_uint_eq(remove_files(), 0);
}
END_TEST

/* An access near the largest offset is refused alone. */
START_TEST(what_cannot_be_recorded_is_refused_alone)
{
    record_file *file = start_run("ring", "a", 0);
    record_entry far = {.pattern = {.first = INT64_MAX - 100, .unit = UNIT}, .accessed = 1};
    record_entry large = {.accessed = INT64_MAX / 2};
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

/* ---- places that cannot be written to ---- */

START_TEST(only_a_regular_file_is_written)
{
    static const struct {
        const char *name;
        int rc;
        mode_t kind; /* 0: there is nothing */
    } cases[] = {
        {"view.crs", 0, 0},          {"none/view.crs", -ENOENT, 0},   {".", -EISDIR, S_IFDIR},
        {"fifo", -EINVAL, S_IFIFO},  {"link", -ENOENT, S_IFLNK},      {"device", -EINVAL, S_IFLNK},
        {"large", -EEXIST, S_IFREG}, {"/dev/null", -EINVAL, S_IFCHR},
    };
    ck_assert_int_eq(mkfifo(beside("fifo"), 0600), 0);
    ck_assert_int_eq(symlink("none/view.crs", beside("link")), 0);
    ck_assert_int_eq(symlink("/dev/null", beside("device")), 0);
    write_text(beside("large"), "");
    ck_assert_int_eq(truncate(beside("large"), INT64_C(6) << 30), 0);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        strcpy(path, beside(cases[i].name));
        int rc = open_only();
        ck_assert_msg(rc == cases[i].rc, "%s: %d", path, rc);
        if (cases[i].kind != 0)
            ck_assert_uint_eq(mode_of(path) & S_IFMT, cases[i].kind);
    }
    ck_assert_uint_eq(remove_files(), 4);
}
END_TEST

/* In a folder that all may write to, as root sees it; nobody else can make such files. */
START_TEST(what_others_have_put_there_is_left)
{
    static const char *const suffixes[] = {"", ".new", "~"};
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chmod(dir, 01777), 0);
    for (size_t i = 0; i < LENGTH(suffixes); i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        ck_assert_int_eq(symlink("target", name), 0);
        ck_assert_int_eq(lchown(name, NOBODY, NOBODY), 0);
        ck_assert_int_eq(open_only(), i == 0 ? -EPERM : -ENOTUNIQ);
        ck_assert_uint_eq(remove_files(), 1);
    }
    write_text(beside("view.crs.new"), "");
    ck_assert_int_eq(chown(beside("view.crs.new"), NOBODY, NOBODY), 0);
    ck_assert_int_eq(open_only(), -EPERM);
    check_text(beside("view.crs.new"), "");
    ck_assert_uint_eq(remove_files(), 1);
    write_text(path, "");
    ck_assert_int_eq(chmod(path, 0622), 0);
    ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    write_text(beside("own"), "");
    ck_assert_uint_eq(mode_of(path), mode_of(beside("own")));
    ck_assert_uint_eq(remove_files(), 2);
    ck_assert_int_eq(chmod(dir, 0770), 0);
}
END_TEST

/* Of a group, for example: what its other members have put there is used. */
START_TEST(a_folder_can_be_shared)
{
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(symlink("target", path), 0);
    ck_assert_int_eq(lchown(path, NOBODY, NOBODY), 0);
    write_text(beside("target.new"), "");
    ck_assert_int_eq(chown(beside("target.new"), NOBODY, NOBODY), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert(S_ISREG(mode_of(beside("target"))));
    ck_assert_uint_eq(remove_files(), 2);
}
END_TEST

/* While the record is open. */
START_TEST(a_file_that_becomes_something_else_is_left)
{
    record_file *file = start_run("ring", "a", 0);
    add_entry(file, RANKS);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(write_record(file), -EINVAL);
    ck_assert_int_eq(unlink(path), 0);
    write_text(path, "a letter");
    ck_assert_int_eq(write_record(file), -EEXIST);
    check_text(path, "a letter");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(write_record(file), 0);
    check_record("a", 1);
    record_file_free(file);
}
END_TEST

/* It is made where it is missing. */
START_TEST(the_target_of_a_link_is_written)
{
    ck_assert_int_eq(mkdir(beside("sub"), 0700), 0);
    ck_assert_int_eq(symlink("sub/target.crs", path), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    check_record("a", 2);
    ck_assert_uint_eq(mode_of(path) & S_IFMT, S_IFLNK);
    ck_assert_int_eq(rename(beside("sub/target.crs"), path), 0);
    check_record("a", 2);
    ck_assert_int_eq(rmdir(beside("sub")), 0);
}
END_TEST

/* In a child: limits and rights that it changes are its own. */
static void expect_success(int (*run)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(run());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static int write_to_full_disk(void)
{
    struct rlimit limit = {64, 4096};
    signal(SIGXFSZ, SIG_IGN);
    record_file *file = start_run("ring", "a", 0);
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
    expect_success(write_to_full_disk);
    check_record("a", 3);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

START_TEST(an_opening_that_fails_leaves_nothing)
{
    record_file *file;
    for (int calls = 1, rc = -EIO; rc != 0; calls++) {
        statuses_left = calls;
        rc = open_as(&file, "a", "1", 0);
        ck_assert(rc == -EIO || (rc == 0 && statuses_left > 0));
        ck_assert_uint_eq(remove_files(), 0);
    }
    statuses_left = 0;
    record_file_free(file);
}
END_TEST

/* ---- other processes ---- */

START_TEST(what_a_killed_writer_left_is_removed)
{
    static const char *const left[] = {"", "FILEV", FIRST "% program: ring\n% ru"};
    ck_assert_int_eq(add_afresh("a"), 0);
    for (size_t i = 0; i < LENGTH(left); i++) {
        write_text(beside("view.crs.new"), left[i]);
        ck_assert_int_eq(add_afresh("a"), 0);
        ck_assert_int_eq(access(beside("view.crs.new"), F_OK), -1);
    }
    write_text(beside("view.crs.new"), "a letter");
    ck_assert_int_eq(add_afresh("a"), -ENOTUNIQ);
    check_record("a", 4);
    check_text(beside("view.crs.new"), "a letter");
}
END_TEST

/* The one that writes first, until all of its processes have ended. */
START_TEST(of_runs_at_the_same_time_one_keeps_the_file)
{
    record_file *one = start_run("ring", "a", 0), *two = start_run("ring", "b", 0);
    record_news news;
    for (int64_t n = 1; n <= 3; n++) {
        ck_assert_int_eq(add_access(one), 0);
        add_entry(two, RANKS);
        ck_assert_int_eq(record_file_write(two, &news), -EALREADY);
        ck_assert_str_eq(news.before.run, "a");
        check_record("a", n);
    }
    record_file_free(one);
    one = start_run("ring", "a", 0);
    ck_assert_int_eq(add_access(one), 0);
    ck_assert_int_eq(write_record(two), -EALREADY);
    check_record("a", 4);
    record_file_free(one);
    ck_assert_int_eq(write_record(two), 0);
    check_record("b", 3);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(add_access(two), -EALREADY);
    ck_assert_int_eq(add_afresh("a"), 0);
    ck_assert_int_eq(write_record(two), -EALREADY);
    check_record("a", 1);
    record_file_free(two);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

/* As another user may who can read the file. */
static int hold_lock(const char *name, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int fd = open(name, type == F_RDLCK ? O_RDONLY : O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &whole), 0);
    return fd;
}

/* tests/record/histories has writers in all orders, and such that are killed. */
START_TEST(waiting_for_a_lock_ends)
{
    record_file *file = start_run("ring", "a", 0);
    ck_assert_int_eq(add_access(file), 0);
    write_text(beside("view.crs.new"), FIRST);
    int held = hold_lock(beside("view.crs.new"), F_RDLCK);
    is_time_skipped = true;
    ck_assert_int_eq(add_access(file), -ETIMEDOUT);
    is_time_skipped = false;
    check_record("a", 1);
    close(held);
    ck_assert_int_eq(write_record(file), 0);
    check_record("a", 2);
    record_file_free(file);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

START_TEST(locks_of_the_record_do_not_matter)
{
    ck_assert_int_eq(add_afresh("a"), 0);
    int fd = open(path, O_RDONLY), held = hold_lock(path, F_WRLCK);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    ck_assert_int_eq(add_afresh("a"), 0);
    check_record("a", 2);
    close(held);
    close(fd);
    ck_assert_uint_eq(remove_files(), 1);
}
END_TEST

int main(void)
{
    return run_tests_between(
        make_dir, remove_dir, "record_file", ONCE(additions_of_one_run_are_summed),
        ONCE(the_same_name_is_another_run_if_that_wrote_before),
        ONCE(what_the_run_holds_is_its_own_at_any_time),
        ONCE(of_runs_at_the_same_time_one_keeps_the_file),
        ONCE(the_mode_is_that_of_the_umask_and_stays),
        TIMES(what_is_there_is_replaced_or_left, LENGTH(versions)),
        ONCE(nothing_else_is_replaced_by_what_is_kept), ONCE(what_is_replaced_is_told),
        ONCE(what_cannot_be_replaced_stays), ONCE(without_memory_nothing_is_lost),
        ONCE(what_cannot_be_recorded_is_refused_alone), ONCE(only_a_regular_file_is_written),
        ONCE(what_others_have_put_there_is_left), ONCE(a_folder_can_be_shared),
        ONCE(a_file_that_becomes_something_else_is_left), ONCE(the_target_of_a_link_is_written),
        ONCE(a_full_disk_leaves_the_old_file), ONCE(an_opening_that_fails_leaves_nothing),
        ONCE(what_a_killed_writer_left_is_removed), ONCE(waiting_for_a_lock_ends),
        ONCE(locks_of_the_record_do_not_matter));
}
