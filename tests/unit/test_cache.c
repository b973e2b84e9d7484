/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's cache: keys of programs, whose folder and files are read, bounds, and when a placement
 * is worse. */
#define _GNU_SOURCE /* asprintf, futimens */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "failing_malloc.h"
#include "suite.h"

enum { NOBODY = 65534 };

static char dir[64];
static const cache_key key = {"0123456789abcdef-01234567"};

static void make_dir(void)
{
    strcpy(dir, "/tmp/test_cache.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", dir, 1), 0);
}

static void remove_dir(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

/* A name in the test's folder. */
static const char *beside(const char *name)
{
    static char text[4][256];
    static size_t next;
    char *made = text[next++ % 4];
    snprintf(made, sizeof text[0], "%s/%s", dir, name);
    return made;
}

/* Writes ("w") or appends ("a"). */
static void write_file(const char *path, const char *mode, const char *text, size_t length)
{
    FILE *stream = fopen(path, mode);
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(text, 1, length, stream), length);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
}

/* Runs a command with the names of two files. Returns its status. */
static int run_command(const char *command, const char *from, const char *to)
{
    char text[1024];
    snprintf(text, sizeof text, "%s '%s' '%s' 2>&1", command, from, to);
    return system(text);
}

/* This program. */
static void copy_self(const char *to)
{
    char self[512] = "";
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    ck_assert_int_eq(run_command("cp", self, to), 0);
}

/* ---- keys ---- */

/* Arguments up to the first NULL. */
static cache_key key_of(const char *file, size_t ranks, char *const *argument)
{
    const cache_program program = {file, argument, dir};
    cache_key made;
    ck_assert_int_eq(cache_key_make(&program, ranks, &made), 0);
    ck_assert_uint_eq(strlen(made.text), CACHE_KEY_LENGTH);
    return made;
}

#define KEY(file, ranks, ...) key_of(file, ranks, (char *[]){__VA_ARGS__, NULL})
#define ck_assert_key(a, op, b) ck_assert_int_##op(strcmp((a).text, (b).text), 0)

START_TEST(a_program_has_one_key_under_every_name)
{
    const char *copy = beside("copy");
    copy_self(copy);
    cache_key self = KEY("/proc/self/exe", 4, "prog", "10");
    ck_assert_key(self, eq, KEY(copy, 4, "./copy", "10"));
    ck_assert_key(self, eq, KEY("copy", 4, "copy", "10"));
    ck_assert_key(self, ne, KEY(copy, 5, "copy", "10"));
    ck_assert_key(self, ne, KEY(copy, 4, "copy", "11"));
    ck_assert_key(self, ne, KEY(copy, 4, "copy", "1", "0"));
    ck_assert_key(self, ne, KEY(copy, 4, "copy"));
    ck_assert_int_eq(strncmp(self.text, KEY(copy, 4, "copy").text, 16), 0);
}
END_TEST

START_TEST(a_build_id_is_the_key_or_else_the_contents)
{
    const char *copy = beside("copy"), *other = beside("other");
    copy_self(copy);
    cache_key before = KEY(copy, 4, "copy");
    write_file(copy, "a", "x", 1);
    ck_assert_key(before, eq, KEY(copy, 4, "copy"));
    if (run_command("objcopy --remove-section .note.gnu.build-id", copy, other) != 0)
        return;
    before = KEY(other, 4, "other");
    ck_assert_key(before, ne, KEY(copy, 4, "copy"));
    write_file(other, "a", "x", 1);
    ck_assert_key(before, ne, KEY(other, 4, "other"));
}
END_TEST

START_TEST(a_script_counts_and_not_its_interpreter)
{
    const char *script = beside("script"), *python = beside("python3.11");
    write_file(script, "w", "#!/usr/bin/env python3\n", 23);
    copy_self(python);
    cache_key launched = KEY(script, 4, "./script", "10");
    ck_assert_key(launched, eq, KEY(python, 4, "python3", "script", "10"));
    ck_assert_key(launched, eq, KEY(python, 4, "python3", "-u", "-W", "ignore", "script", "10"));
    write_file(script, "w", "#!/usr/bin/env python4\n", 23);
    ck_assert_key(launched, ne, KEY(script, 4, "./script", "10"));
    ck_assert_key(launched, ne, KEY(python, 4, "python3", "script", "10"));
}
END_TEST

START_TEST(what_is_no_program_has_no_key)
{
    static const struct {
        const char *file;
        char *argument[4];
        int rc;
    } cases[] = {
        {"python3", {"python3"}, -ENOEXEC}, /* without a script */
        {"python3", {"python3", "-m", "script"}, -ENOEXEC},
        {"python3", {"python3", "-c", "script"}, -ENOEXEC},
        {"python3", {NULL}, -ENOEXEC},
        {"pythonic", {"pythonic"}, 0}, /* no interpreter */
        {"missing", {"x"}, -ENOENT},
        {".", {"x"}, -ENOEXEC},
    };
    copy_self(beside("python3"));
    copy_self(beside("pythonic"));
    write_file(beside("script"), "w", "x", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cache_program program = {cases[i].file, cases[i].argument, dir};
        cache_key made;
        int rc = cache_key_make(&program, 4, &made);
        ck_assert_msg(rc == cases[i].rc, "%s, case %zu: %d", cases[i].file, i, rc);
    }
}
END_TEST

/* Every prefix of an executable, and notes with wrong lengths, have some key. */
START_TEST(a_damaged_executable_has_a_key_by_its_contents)
{
    enum { LENGTH = 4096 };
    static char text[LENGTH], damaged[LENGTH];
    FILE *stream = fopen("/proc/self/exe", "r");
    ck_assert_uint_eq(fread(text, 1, LENGTH, stream), LENGTH);
    fclose(stream);
    for (size_t i = 0; i < LENGTH; i += 7) {
        memcpy(damaged, text, LENGTH);
        memset(damaged + i, 0xff, i + 8 < LENGTH ? 8 : LENGTH - i);
        write_file(beside("damaged"), "w", damaged, i % 2 == 0 ? LENGTH : i);
        (void)KEY("damaged", 4, "damaged");
    }
}
END_TEST

/* wanted: its file; NULL: there is none. */
static void check_found(const char *name, const char *folder, const char *path, const char *wanted)
{
    char *file = NULL;
    ck_assert_int_eq(cache_find_program(name, folder, path, &file), wanted == NULL ? -ENOENT : 0);
    if (wanted == NULL)
        return;
    ck_assert_str_eq(file, wanted);
    free(file);
}

START_TEST(the_program_is_found_as_execvp_finds_it)
{
    char path[512], wanted[256], *file;
    ck_assert_int_eq(mkdir(beside("bin"), 0700), 0);
    strcpy(wanted, beside("bin/prog"));
    write_file(wanted, "w", "x", 1);
    write_file(beside("bin/text"), "w", "x", 1);
    ck_assert_int_eq(chmod(beside("bin/text"), 0600), 0);
    snprintf(path, sizeof path, "/nowhere:%s/bin", dir);
    check_found("prog", "/", path, wanted);
    check_found("bin/prog", dir, NULL, wanted);
    check_found(wanted, "/", "/nowhere", wanted);
    check_found("prog", beside("bin"), "/nowhere:", wanted);
    ck_assert_int_eq(cache_find_program("prog", dir, "bin", &file), 0);
    free(file);
    check_found("prog", dir, NULL, NULL);
    check_found("bin", dir, "", NULL);
    if (geteuid() != 0)
        check_found("text", "/", path, NULL);
}
END_TEST

/* ---- the folder ---- */

static int open_cache(void)
{
    int folder = cache_open(true);
    ck_assert_int_ge(folder, 0);
    return folder;
}

START_TEST(the_folder_is_the_users_alone)
{
    struct stat status;
    ck_assert_int_eq(cache_open(false), -ENOENT);
    close(open_cache());
    ck_assert_int_eq(stat(beside("openmpi-tatp"), &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    for (mode_t others = 1; others < 0100; others <<= 1) {
        ck_assert_int_eq(chmod(beside("openmpi-tatp"), 0700 | others), 0);
        ck_assert_int_eq(cache_open(true), -EPERM);
    }
    ck_assert_int_eq(chmod(beside("openmpi-tatp"), 0700), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(beside("openmpi-tatp"), NOBODY, NOBODY), 0);
        ck_assert_int_eq(cache_open(true), -EPERM);
    }
    ck_assert_int_eq(rmdir(beside("openmpi-tatp")), 0);
    ck_assert_int_eq(mkdir(beside("mine"), 0700), 0);
    ck_assert_int_eq(symlink("mine", beside("openmpi-tatp")), 0);
    ck_assert_int_lt(cache_open(true), 0);
    ck_assert_int_eq(unlink(beside("openmpi-tatp")), 0);
    write_file(beside("openmpi-tatp"), "w", "", 0);
    ck_assert_int_eq(cache_open(true), -ENOTDIR);
}
END_TEST

START_TEST(the_folder_is_below_the_cache_or_the_home)
{
    char *path = NULL;
    ck_assert_int_eq(setenv("HOME", dir, 1), 0);
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    ck_assert_int_eq(cache_path(&path), 0);
    ck_assert_str_eq(path, beside(".cache/openmpi-tatp"));
    free(path);
    close(open_cache());
    ck_assert_int_eq(unsetenv("HOME"), 0);
    ck_assert_int_eq(cache_open(true), -ENXIO);
}
END_TEST

/* ---- records ---- */

static const char *record_file(void)
{
    static char name[64];
    snprintf(name, sizeof name, "openmpi-tatp/%s.crs", key.text);
    return beside(name);
}

START_TEST(a_record_is_the_users_alone)
{
    int folder = open_cache();
    struct stat status;
    char *path = cache_record_path(beside("openmpi-tatp"), &key);
    ck_assert_str_eq(path, record_file());
    free(path);
    ck_assert_int_eq(cache_open_record(folder, &key), -ENOENT);
    ck_assert_int_eq(cache_create_record(folder, &key), 0);
    ck_assert_int_eq(cache_create_record(folder, &key), 0);
    ck_assert_int_eq(stat(record_file(), &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    ck_assert_int_eq(cache_open_record(folder, &key), -ENOENT);
    write_file(record_file(), "w", "x", 1);
    int fd = cache_open_record(folder, &key);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(chmod(record_file(), 0602), 0);
    ck_assert_int_eq(cache_open_record(folder, &key), -EPERM);
    ck_assert_int_eq(chmod(record_file(), 0600), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(record_file(), NOBODY, 0), 0);
        ck_assert_int_eq(cache_open_record(folder, &key), -EPERM);
    }
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    ck_assert_int_eq(symlink("/etc/passwd", record_file()), 0);
    ck_assert_int_eq(cache_open_record(folder, &key), -ELOOP);
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    ck_assert_int_eq(mkfifo(record_file(), 0600), 0);
    ck_assert_int_eq(cache_open_record(folder, &key), -EPERM);
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    close(folder);
}
END_TEST

/* ---- runs ---- */

static void add_runs(cache_runs *runs, uint64_t mapping, size_t count, int64_t milliseconds)
{
    for (size_t i = 0; i < count; i++)
        cache_runs_add(runs, &(cache_sample){mapping, 2, 2000000 * (milliseconds + (int64_t)i)});
}

START_TEST(runs_are_read_as_they_were_written)
{
    char *const argument[] = {"prog", "a b", "\x1b[1m", NULL};
    cache_runs runs = {.ranks = 0}, read;
    int folder = open_cache();
    ck_assert_int_eq(cache_read_runs(folder, &key, &read), -ENOENT);
    cache_runs_describe(&runs, "/bin/prog", argument, 4);
    add_runs(&runs, 7, 3, 10);
    cache_runs_set_mark(&runs, CACHE_PLACED, 7);
    cache_runs_set_mark(&runs, CACHE_PLACED, 7);
    cache_runs_set_mark(&runs, CACHE_DROPPED, UINT64_MAX);
    ck_assert_int_eq(cache_write_runs(folder, &key, &runs), 0);
    ck_assert_int_eq(cache_read_runs(folder, &key, &read), 0);
    ck_assert_int_eq(memcmp(&runs, &read, sizeof runs), 0);
    ck_assert_str_eq(read.arguments, "a b \\x1b[1m");
    ck_assert_uint_eq(read.marks[CACHE_PLACED], 1);
    close(folder);
}
END_TEST

START_TEST(the_latest_runs_and_mappings_are_kept)
{
    cache_runs runs = {.ranks = 0};
    add_runs(&runs, 1, 3 * CACHE_MOST_SAMPLES, 0);
    ck_assert_uint_eq(runs.samples, CACHE_MOST_SAMPLES);
    ck_assert_int_eq(runs.sample[CACHE_MOST_SAMPLES - 1].nanoseconds,
                     2000000 * (3 * CACHE_MOST_SAMPLES - 1));
    for (uint64_t m = 0; m < 3 * CACHE_MOST_MAPPINGS; m++)
        cache_runs_set_mark(&runs, CACHE_DROPPED, m);
    ck_assert_uint_eq(runs.marks[CACHE_DROPPED], CACHE_MOST_MAPPINGS);
    ck_assert(cache_runs_has_mark(&runs, CACHE_DROPPED, 3 * CACHE_MOST_MAPPINGS - 1));
    ck_assert(!cache_runs_has_mark(&runs, CACHE_DROPPED, 0));
}
END_TEST

START_TEST(long_arguments_are_cut_off)
{
    static char text[2 * CACHE_TEXT_SIZE];
    char *argument[CACHE_TEXT_SIZE + 2] = {"prog"};
    cache_runs runs;
    memset(text, 'x', sizeof text - 1);
    cache_runs_describe(&runs, text, (char *[]){"prog", text, text, NULL}, 4);
    ck_assert_uint_lt(strlen(runs.arguments), CACHE_TEXT_SIZE);
    for (size_t i = 1; i <= CACHE_TEXT_SIZE; i++)
        argument[i] = (char *)"";
    cache_runs_describe(&runs, "prog", argument, 4);
    ck_assert_uint_lt(strlen(runs.arguments), CACHE_TEXT_SIZE);
    cache_runs_describe(&runs, "prog", (char *[]){NULL}, 4);
    ck_assert_str_eq(runs.arguments, "");
}
END_TEST

static cache_runs parse_text(const char *text, size_t length)
{
    cache_runs runs;
    FILE *stream = fmemopen((void *)text, length, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(cache_runs_parse(stream, &runs), 0);
    fclose(stream);
    return runs;
}

START_TEST(damaged_lines_are_skipped)
{
    static const char text[] = "run 1 0 5\nrun 1 2\nrun x 1 1\nrun 5 1 -1\nplaced\ndropped x\n"
                               "other 5\n\n\x01\xff\nrun 5 1 7\nplaced 5\nranks -\n";
    cache_runs runs = parse_text(text, sizeof text - 1);
    ck_assert_uint_eq(runs.samples, 1);
    ck_assert_int_eq(runs.sample[0].nanoseconds, 7);
    ck_assert_uint_eq(runs.marks[CACHE_PLACED], 1);
    ck_assert_uint_eq(runs.marks[CACHE_DROPPED], 0);
    ck_assert_uint_eq(parse_text("run 5 1 7\n\0run 5 1 7\n", 21).samples, 1);
}
END_TEST

START_TEST(without_memory_nothing_is_read_and_nothing_leaks)
{
    size_t node[] = {0, 1, 0};
    cache_runs runs = {.ranks = 4};
    int folder = open_cache(), rc = -ENOMEM;
    uint64_t mapping;
    add_runs(&runs, 7, 3, 10);
    ck_assert_int_eq(cache_write_runs(folder, &key, &runs), 0);
    for (long n = 0; rc == -ENOMEM; n++) {
        fail_allocation(n);
        rc = cache_read_runs(folder, &key, &runs);
        stop_failing();
        ck_assert(rc == 0 || rc == -ENOMEM);
        ck_assert_int_eq(allocations.live, 0);
    }
    fail_allocation(0);
    ck_assert_int_eq(cache_mapping(node, 3, 2, &mapping), -ENOMEM);
    stop_failing();
    close(folder);
}
END_TEST

START_TEST(a_mapping_is_which_ranks_share_nodes)
{
    static const size_t node[4][4] = {{0, 0, 1, 1}, {2, 2, 0, 0}, {0, 1, 0, 1}, {0, 0, 1, 2}};
    uint64_t mapping[4];
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(cache_mapping(node[i], 4, 3, &mapping[i]), 0);
    ck_assert_uint_eq(mapping[0], mapping[1]);
    ck_assert_uint_ne(mapping[0], mapping[2]);
    ck_assert_uint_ne(mapping[0], mapping[3]);
}
END_TEST

/* ---- which placement is worse ---- */

enum { STOCK = 1, PLACED = 2 };

static cache_verdict judge(const cache_runs *runs)
{
    cache_comparison c;
    return cache_runs_judge(runs, PLACED, STOCK, &c);
}

START_TEST(a_placement_is_dropped_after_enough_runs)
{
    cache_runs runs = {.ranks = 4};
    cache_comparison c;
    ck_assert_int_eq(judge(&runs), CACHE_PLACE);
    add_runs(&runs, STOCK, 1, 100);
    add_runs(&runs, PLACED, CACHE_LEAST_RUNS - 1, 200);
    ck_assert_int_eq(judge(&runs), CACHE_PLACE);
    add_runs(&runs, PLACED, 1, 200);
    ck_assert_int_eq(judge(&runs), CACHE_MEASURE_STOCK);
    add_runs(&runs, STOCK, CACHE_LEAST_RUNS - 2, 100);
    ck_assert_int_eq(judge(&runs), CACHE_MEASURE_STOCK);
    add_runs(&runs, STOCK, 1, 100);
    ck_assert_int_eq(cache_runs_judge(&runs, PLACED, STOCK, &c), CACHE_DROP);
    ck_assert_uint_eq(c.runs, CACHE_LEAST_RUNS);
    ck_assert_uint_eq(c.stock_runs, CACHE_LEAST_RUNS);
    ck_assert(c.seconds > .2 && c.seconds < .21 && c.stock_seconds >= .1 && c.stock_seconds < .11);
    cache_runs_set_mark(&runs, CACHE_DROPPED, PLACED);
    ck_assert_int_eq(judge(&runs), CACHE_STAY_DROPPED);
    ck_assert_int_eq(cache_runs_judge(&runs, 3, STOCK, &c), CACHE_PLACE);
}
END_TEST

START_TEST(single_slow_runs_and_small_differences_drop_nothing)
{
    cache_runs runs = {.ranks = 4}, slow, near;
    add_runs(&runs, STOCK, 6, 100);
    slow = near = runs;
    add_runs(&slow, PLACED, 4, 100);
    add_runs(&slow, PLACED, 2, 1000);
    ck_assert_int_eq(judge(&slow), CACHE_PLACE);
    add_runs(&near, PLACED, 6, 107);
    ck_assert_int_eq(judge(&near), CACHE_PLACE);
    add_runs(&runs, PLACED, 8, 50);
    ck_assert_int_eq(judge(&runs), CACHE_PLACE);
    /* only the latest runs count */
    add_runs(&runs, PLACED, 16, 500);
    ck_assert_int_eq(judge(&runs), CACHE_DROP);
}
END_TEST

/* ---- bounds ---- */

/* A file in the folder, and whether cache_trim leaves it. */
struct made_file {
    char name[40];
    int64_t bytes;
    int days; /* since it was used */
    bool stays;
};

static void make_file(int folder, const struct made_file *file)
{
    const struct timespec when = {time(NULL) - (time_t)file->days * 86400, 0};
    int fd = openat(folder, file->name, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, file->bytes), 0);
    ck_assert_int_eq(futimens(fd, (struct timespec[]){when, when}), 0);
    close(fd);
}

static size_t count_entries(int folder)
{
    cache_entry *entry;
    size_t count;
    ck_assert_int_eq(cache_list(folder, &entry, &count), 0);
    for (size_t i = 1; i < count; i++)
        ck_assert_int_ge(entry[i - 1].used, entry[i].used);
    free(entry);
    return count;
}

/* Of the files, which make up so many entries, those that are to stay make up `left`. */
static void check_trim(const struct made_file *file, size_t files, size_t entries, size_t left)
{
    int folder = open_cache();
    for (size_t i = 0; i < files; i++)
        make_file(folder, &file[i]);
    ck_assert_uint_eq(count_entries(folder), entries);
    ck_assert_int_eq(cache_trim(folder), 0);
    ck_assert_uint_eq(count_entries(folder), left);
    for (size_t i = 0; i < files; i++)
        ck_assert_msg((faccessat(folder, file[i].name, F_OK, 0) == 0) == file[i].stays, "%s",
                      file[i].name);
    close(folder);
}

START_TEST(old_entries_and_left_files_are_removed)
{
    static const struct made_file files[] = {
        {"0000000000000001-00000000.crs", 10, CACHE_MOST_DAYS + 1, false},
        {"0000000000000002-00000000.crs", 10, CACHE_MOST_DAYS + 1, true},
        {"0000000000000002-00000000.runs", 10, 1, true},
        {"0000000000000003-00000000.runs", 10, 0, true},
        {"0000000000000004-00000000.new-1", 10, 1, false},
        {"0000000000000005-00000000.new-1", 10, 0, true},
        {"notes", 1, 0, true},
    };
    check_trim(files, sizeof files / sizeof *files, 3, 2);
}
END_TEST

START_TEST(the_oldest_of_too_many_entries_are_removed)
{
    enum { FILES = CACHE_MOST_ENTRIES + 10 };
    struct made_file file[FILES];
    for (unsigned i = 0; i < FILES; i++) {
        file[i] = (struct made_file){"", 10, i < 10 ? 2 : 1, i >= 10};
        snprintf(file[i].name, sizeof file[i].name, "%016x-00000000.crs", i);
    }
    check_trim(file, FILES, FILES, CACHE_MOST_ENTRIES);
}
END_TEST

/* The last file is of another program. */
START_TEST(the_oldest_arguments_of_a_program_are_removed)
{
    enum { FILES = CACHE_MOST_ARGUMENTS + 4 };
    struct made_file file[FILES];
    for (unsigned i = 0; i < FILES; i++) {
        file[i] = (struct made_file){"", 10, i < 3 ? 2 : 1, i >= 3};
        snprintf(file[i].name, sizeof file[i].name, "%016x-%08x.crs", 1 + (i == FILES - 1), i + 1);
    }
    file[FILES - 1].days = 3;
    check_trim(file, FILES, FILES, CACHE_MOST_ARGUMENTS + 1);
}
END_TEST

START_TEST(the_oldest_of_too_large_entries_are_removed)
{
    static const struct made_file files[] = {
        {"0000000000000001-00000000.crs", CACHE_MOST_BYTES / 2, 3, false},
        {"0000000000000002-00000000.crs", CACHE_MOST_BYTES / 2, 2, true},
        {"0000000000000002-00000000.runs", 10, 2, true},
        {"0000000000000003-00000000.crs", 10, 1, true},
        {"0000000000000004-00000000.crs", CACHE_MOST_BYTES + 1, 0, false},
    };
    check_trim(files, sizeof files / sizeof *files, 4, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache");
    TCase *all = tcase_create("cache");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, make_dir, remove_dir);
    add_tests(
        all, a_program_has_one_key_under_every_name, a_build_id_is_the_key_or_else_the_contents,
        a_script_counts_and_not_its_interpreter, what_is_no_program_has_no_key,
        a_damaged_executable_has_a_key_by_its_contents, the_program_is_found_as_execvp_finds_it,
        the_folder_is_the_users_alone, the_folder_is_below_the_cache_or_the_home,
        a_record_is_the_users_alone, runs_are_read_as_they_were_written,
        the_latest_runs_and_mappings_are_kept, long_arguments_are_cut_off,
        damaged_lines_are_skipped, without_memory_nothing_is_read_and_nothing_leaks,
        a_mapping_is_which_ranks_share_nodes, a_placement_is_dropped_after_enough_runs,
        single_slow_runs_and_small_differences_drop_nothing, old_entries_and_left_files_are_removed,
        the_oldest_of_too_many_entries_are_removed, the_oldest_arguments_of_a_program_are_removed,
        the_oldest_of_too_large_entries_are_removed);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
