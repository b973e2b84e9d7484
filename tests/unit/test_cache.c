/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's cache: keys of programs, whose folder and files are read, and bounds. */
#define _GNU_SOURCE /* futimens */
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

/* The time of the last change is always another one. */
static void write_file(const char *path, const char *text)
{
    static time_t changed = 1000000000;
    const struct timespec when = {changed++, 0};
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(text, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, (struct timespec[]){when, when}, 0), 0);
}

static void set_change(const char *path, time_t seconds, long nanoseconds)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {seconds, nanoseconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* ---- keys ---- */

/* Arguments up to the first NULL. */
static cache_key key_of(const char *file, size_t ranks, char *const *argument)
{
    const cache_program program = {file, argument, dir};
    cache_key made;
    ck_assert_int_eq(cache_key_make(&program, ranks, &made, NULL), 0);
    ck_assert_uint_eq(strlen(made.text), CACHE_KEY_LENGTH);
    return made;
}

#define KEY(file, ranks, ...) key_of(file, ranks, (char *[]){__VA_ARGS__, NULL})
#define ck_assert_key(a, op, b) ck_assert_int_##op(strcmp((a).text, (b).text), 0)

START_TEST(a_program_has_one_key_under_every_name)
{
    char self_file[512] = "";
    const char *prog = beside("prog");
    write_file(prog, "x");
    ck_assert_int_eq(symlink("prog", beside("link")), 0);
    cache_key made = KEY(prog, 4, "prog", "10");
    ck_assert_key(made, eq, KEY("prog", 4, "./prog", "10"));
    ck_assert_key(made, eq, KEY("./link", 4, "link", "10"));
    ck_assert_key(made, ne, KEY(prog, 5, "prog", "10"));
    ck_assert_key(made, ne, KEY(prog, 4, "prog", "11"));
    ck_assert_key(made, ne, KEY(prog, 4, "prog", "1", "0"));
    ck_assert_key(made, ne, KEY(prog, 4, "prog"));
    ck_assert_int_eq(strncmp(made.text, KEY(prog, 4, "prog").text, 16), 0);
    ck_assert_int_gt(readlink("/proc/self/exe", self_file, sizeof self_file - 1), 0);
    ck_assert_key(KEY("/proc/self/exe", 4, "x"), eq, KEY(self_file, 4, "x"));
}
END_TEST

START_TEST(name_size_and_time_of_the_file_count)
{
    const char *prog = beside("prog"), *other = beside("other");
    write_file(prog, "x");
    write_file(other, "x");
    set_change(prog, 7, 5);
    set_change(other, 7, 5);
    cache_key made = KEY(prog, 4, "prog");
    ck_assert_key(made, ne, KEY(other, 4, "prog"));
    set_change(prog, 8, 5);
    ck_assert_key(made, ne, KEY(prog, 4, "prog"));
    set_change(prog, 7, 6);
    ck_assert_key(made, ne, KEY(prog, 4, "prog"));
    write_file(prog, "y");
    set_change(prog, 7, 5);
    ck_assert_key(made, eq, KEY(prog, 4, "prog"));
    write_file(prog, "xy");
    set_change(prog, 7, 5);
    ck_assert_key(made, ne, KEY(prog, 4, "prog"));
}
END_TEST

START_TEST(a_script_counts_and_not_its_interpreter)
{
    const char *script = beside("script"), *python = beside("python3.11");
    write_file(script, "#!/usr/bin/env python3\n");
    write_file(python, "x");
    ck_assert_int_eq(symlink("python3.11", beside("interpreter")), 0);
    cache_key launched = KEY(script, 4, "./script", "10");
    ck_assert_key(launched, eq, KEY(python, 4, "python3", "script", "10"));
    ck_assert_key(launched, eq, KEY("interpreter", 4, "interpreter", "script", "10"));
    ck_assert_key(launched, eq, KEY(python, 4, "python3", "-u", "-W", "ignore", "script", "10"));
    write_file(script, "#!/usr/bin/env python3\n");
    ck_assert_key(launched, ne, KEY(script, 4, "./script", "10"));
    ck_assert_key(launched, ne, KEY(python, 4, "python3", "script", "10"));
}
END_TEST

static const char *script_name(const char *file, const char *argument)
{
    static char text[256];
    snprintf(text, sizeof text, "%s", argument);
    char *arguments[] = {"program", "-u", text, "10", NULL};
    const cache_program program = {file, arguments, dir};
    return cache_find_script_name(&program);
}

START_TEST(a_script_has_its_own_name)
{
    const char *script = beside("script");
    write_file(script, "x");
    write_file(beside("python3.11"), "x");
    ck_assert_str_eq(script_name("python3.11", script), "script");
    ck_assert_str_eq(script_name("python3.11", "script"), "script");
    ck_assert_str_eq(script_name("python3.11", "./script"), "script");
    ck_assert_ptr_null(script_name("python3.11", "none"));
    ck_assert_ptr_null(script_name("script", "script"));
    ck_assert_ptr_null(script_name("missing", "script"));
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
    write_file(beside("python3"), "x");
    write_file(beside("pythonic"), "x");
    write_file(beside("script"), "x");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const cache_program program = {cases[i].file, cases[i].argument, dir};
        cache_key made;
        int rc = cache_key_make(&program, 4, &made, NULL);
        ck_assert_msg(rc == cases[i].rc, "%s, case %zu: %d", cases[i].file, i, rc);
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
    write_file(wanted, "x");
    write_file(beside("bin/text"), "x");
    ck_assert_int_eq(chmod(beside("bin/text"), 0600), 0);
    snprintf(path, sizeof path, "/nowhere:%s/bin", dir);
    check_found("prog", "/", path, wanted);
    check_found("bin/prog", dir, NULL, wanted);
    check_found(wanted, "/", "/nowhere", wanted);
    check_found("prog", beside("bin"), "/nowhere:", wanted);
    ck_assert_int_eq(cache_find_program("prog", dir, "bin", &file), 0);
    free(file);
    check_found("prog", dir, NULL, NULL);
    check_found("sh", dir, NULL, "/bin/sh");
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
    write_file(beside("openmpi-tatp"), "");
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

static time_t time_used(void)
{
    struct stat status;
    ck_assert_int_eq(stat(record_file(), &status), 0);
    return status.st_atime;
}

START_TEST(a_record_is_the_users)
{
    int folder = open_cache();
    char *path = NULL;
    ck_assert_int_eq(cache_record_path(&key, &path), 0);
    ck_assert_str_eq(path, record_file());
    free(path);
    ck_assert_int_eq(cache_open_record(folder, &key, true), -ENOENT);
    write_file(record_file(), "x");
    int fd = cache_open_record(folder, &key, true);
    ck_assert_int_ge(fd, 0);
    close(fd);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(record_file(), NOBODY, 0), 0);
        ck_assert_int_eq(cache_open_record(folder, &key, true), -EPERM);
    }
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    ck_assert_int_eq(symlink("/etc/passwd", record_file()), 0);
    ck_assert_int_eq(cache_open_record(folder, &key, true), -ELOOP);
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    ck_assert_int_eq(mkfifo(record_file(), 0600), 0);
    ck_assert_int_eq(cache_open_record(folder, &key, true), -EPERM);
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    ck_assert_int_eq(cache_remove(folder, &key), 0);
    close(folder);
}
END_TEST

/* When it was recorded stays. */
START_TEST(the_use_of_a_record_is_noted)
{
    int folder = open_cache();
    cache_entry *entry;
    size_t count;
    write_file(record_file(), "x");
    close(cache_open_record(folder, &key, false));
    ck_assert_int_lt(time_used(), time(NULL) - 1000);
    close(cache_open_record(folder, &key, true));
    ck_assert_int_ge(time_used(), time(NULL) - 1000);
    ck_assert_int_eq(cache_list(folder, &entry, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(entry->key.text, key.text);
    ck_assert_int_eq(entry->used, time_used());
    ck_assert_int_lt(entry->recorded, entry->used - 1000);
    free(entry);
    close(folder);
}
END_TEST

static int list_and_free(int folder)
{
    cache_entry *entry = NULL;
    size_t count;
    int rc = cache_list(folder, &entry, &count);
    free(entry);
    return rc;
}

START_TEST(without_memory_nothing_is_listed_and_nothing_leaks)
{
    int folder = open_cache();
    write_file(record_file(), "x");
    fail_each_allocation(list_and_free(folder));
    close(folder);
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
        {"0000000000000002-00000000.crs", 10, CACHE_MOST_DAYS - 1, true},
        {"0000000000000003-00000000.runs", 10, 1, false},
        {"0000000000000004-00000000.crs.new", 10, 1, false},
        {"0000000000000005-00000000.crs.new", 10, 0, true},
        {"notes", 1, 0, true},
    };
    check_trim(files, LENGTH(files), 2, 1);
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
        {"0000000000000003-00000000.crs", 10, 1, true},
        {"0000000000000004-00000000.crs", CACHE_MOST_BYTES + 1, 0, false},
    };
    check_trim(files, LENGTH(files), 4, 2);
}
END_TEST

int main(void)
{
    return run_tests_between(
        make_dir, remove_dir, "cache", ONCE(a_program_has_one_key_under_every_name),
        ONCE(name_size_and_time_of_the_file_count), ONCE(a_script_counts_and_not_its_interpreter),
        ONCE(a_script_has_its_own_name), ONCE(what_is_no_program_has_no_key),
        ONCE(the_program_is_found_as_execvp_finds_it), ONCE(the_folder_is_the_users_alone),
        ONCE(the_folder_is_below_the_cache_or_the_home), ONCE(a_record_is_the_users),
        ONCE(the_use_of_a_record_is_noted),
        ONCE(without_memory_nothing_is_listed_and_nothing_leaks),
        ONCE(old_entries_and_left_files_are_removed),
        ONCE(the_oldest_of_too_many_entries_are_removed),
        ONCE(the_oldest_arguments_of_a_program_are_removed),
        ONCE(the_oldest_of_too_large_entries_are_removed));
}
