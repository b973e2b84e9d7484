/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of questions to CephFS behind FUSE, by a library in the place of libcephfs
 * (fake_cephfs.h): orders of questions, answers and the end of the program. */
#define _GNU_SOURCE /* F_OFD_GETLK */
#include "storage/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fake_cephfs.h"
#include "suite.h"

enum { FUSE = 0x65735546 };
enum { LONG = 60000, SHORT = 20 }; /* milliseconds */

static fake_cephfs fake;
static sem_t mount, unmount;
static FILE *file;     /* the one that is asked about */
static size_t threads; /* when a test begins */

int fstatfs(int fd, struct statfs *system)
{
    (void)fd;
    memset(system, 0, sizeof *system);
    system->f_type = FUSE;
    return 0;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    static const char layout[] = "stripe_unit=8192 stripe_count=1 object_size=8192 pool=data";
    (void)path;
    ck_assert_str_eq(name, "ceph.file.layout");
    ck_assert_uint_ge(size, sizeof layout - 1);
    memcpy(value, layout, sizeof layout - 1);
    return sizeof layout - 1;
}

/* *awake: how many run, but this one; NULL: not wanted. */
static size_t count_threads(size_t *awake)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[300], line[100] = "";
        if (task->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *stat_file = awake != NULL && atoi(task->d_name) != getpid() ? fopen(path, "r") : NULL;
        if (stat_file == NULL)
            continue;
        if (fgets(line, sizeof line, stat_file) != NULL && strstr(line, ") S ") == NULL)
            ++*awake;
        fclose(stat_file);
    }
    closedir(tasks);
    return count;
}

static void begin_test(void)
{
    struct stat status;
    file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fstat(fileno(file), &status), 0);
    sem_init(&mount, 0, 0);
    sem_init(&unmount, 0, 0);
    fake = (fake_cephfs){.inode = status.st_ino};
    threads = count_threads(NULL);
}

static void wait_for_threads(void)
{
    while (count_threads(NULL) > threads)
        usleep(1000);
}

/* So many questions wait: for the library, or for each other. */
static void wait_until_asleep(size_t questions)
{
    size_t awake, count;
    do {
        usleep(1000);
        awake = 0;
        count = count_threads(&awake);
    } while (count != threads + questions || awake > 0);
}

static void end_test(void)
{
    wait_for_threads();
    ck_assert_int_eq(fake.mounted, 0);
    ck_assert_int_eq(fake.mounts, fake.unmounts);
    if (file != NULL)
        fclose(file);
}

static void wait_until(const atomic_int *counter, int value)
{
    while (*counter != value)
        usleep(1000);
}

static storage_question *ask(int64_t to)
{
    storage_question *question = NULL;
    matrix_error error = {0, ""};
    int rc = storage_ask(fileno(file), 0, to, &question, &error);
    ck_assert_msg(rc == 0, "%s", error.reason);
    return question;
}

static void check_answer(storage_question *question, size_t objects)
{
    storage_layout *layout = NULL;
    storage_extent e;
    matrix_error error = {0, ""};
    int rc = storage_answer(question, LONG, &layout, &error);
    ck_assert_msg(rc == 0, "%s", error.reason);
    storage_get_extent(layout, 0, &e);
    ck_assert_uint_eq(e.objects, objects);
    for (size_t k = 0; k < objects; k++) {
        char host[20];
        snprintf(host, sizeof host, "osd%zu", k % 3);
        ck_assert_str_eq(storage_target_host(layout, e.target[k]), host);
    }
    storage_free(layout);
}

static void check_failure(storage_question *question, int milliseconds, int expected,
                          const char *reason)
{
    storage_layout *layout = NULL;
    matrix_error error = {0, ""};
    ck_assert_int_eq(storage_answer(question, milliseconds, &layout, &error), expected);
    ck_assert_str_eq(error.reason, reason);
    ck_assert_ptr_null(layout);
}

/* ---- one question ---- */

START_TEST(connection_ends_with_its_question)
{
    for (int k = 1; k <= 3; k++) {
        check_answer(ask(5 * FAKE_CEPHFS_OBJECT), 5);
        wait_until(&fake.unmounts, k);
        wait_until(&fake.mounted, 0);
        ck_assert_int_eq(fake.mounts, k);
    }
}
END_TEST

/* A slow end is nothing that an answer waits for. */
START_TEST(answer_before_the_end)
{
    fake.unmount = &unmount;
    check_answer(ask(0), 1);
    wait_until(&fake.unmounts, 1);
    ck_assert_int_eq(fake.mounted, 1);
    sem_post(&unmount);
}
END_TEST

START_TEST(file_is_closed_first)
{
    fake.mount = &mount;
    storage_question *question = ask(2 * FAKE_CEPHFS_OBJECT);
    fclose(file);
    file = NULL;
    sem_post(&mount);
    check_answer(question, 2);
}
END_TEST

START_TEST(dropped_before_the_answer)
{
    fake.mount = &mount;
    storage_drop(ask(0));
    storage_drop(NULL);
    sem_post(&mount);
}
END_TEST

START_TEST(dropped_after_the_answer)
{
    storage_question *question = ask(0);
    wait_until(&fake.unmounts, 1);
    storage_drop(question);
}
END_TEST

/* Its time begins with the question. */
START_TEST(late)
{
    fake.mount = &mount;
    storage_question *question = ask(0);
    usleep(SHORT * 1000);
    check_failure(question, 0, -ETIMEDOUT, "no answer within 0 ms");
    check_failure(ask(0), SHORT, -ETIMEDOUT, "no answer within 20 ms");
    for (int k = 0; k < 3; k++)
        sem_post(&mount);
    check_answer(ask(0), 1);
}
END_TEST

START_TEST(no_access)
{
    fake.mount_error = -EACCES;
    check_failure(ask(0), LONG, -ENOTSUP,
                  "libcephfs: no access to the file system: Permission denied");
    fake.mount_error = 0;
    fake.mounts = 0;
    check_answer(ask(0), 1);
}
END_TEST

START_TEST(another_file)
{
    storage_layout *layout = NULL;
    matrix_error error = {0, ""};
    fake.inode++;
    ck_assert_int_eq(storage_query(fileno(file), 0, 0, LONG, &layout, &error), -ENOTSUP);
    ck_assert_ptr_nonnull(strstr(error.reason, "Stale file handle"));
}
END_TEST

/* By another process, for which it would wait; none: 0. */
static pid_t holder_of_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    char path[STORAGE_FD_PATH];
    storage_path_of_fd(fd, path);
    int again = open(path, O_RDWR); /* stays open, as the lock does */
    ck_assert_int_ge(again, 0);
    ck_assert_int_eq(fcntl(again, F_OFD_GETLK, &lock), 0);
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

/* Locks of POSIX end with any descriptor of the file that the process closes. */
START_TEST(locks_of_the_file_stay)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    fake.mount = &mount;
    storage_question *first = ask(0), *second = ask(0);
    ck_assert_int_eq(fcntl(fileno(file), F_SETLK, &lock), 0);
    storage_drop(first);
    sem_post(&mount);
    sem_post(&mount);
    check_answer(second, 1);
    wait_for_threads();
    ck_assert_int_eq(holder_of_lock(fileno(file)), getpid());
}
END_TEST

/* ---- several questions ---- */

START_TEST(questions_share_a_connection)
{
    storage_question *question[4];
    fake.mount = &mount;
    for (size_t k = 0; k < 4; k++)
        question[k] = ask((int64_t)(k + 1) * FAKE_CEPHFS_OBJECT);
    storage_drop(question[2]);
    wait_until_asleep(4);
    sem_post(&mount);
    check_answer(question[3], 4);
    check_answer(question[0], 1);
    check_answer(question[1], 2);
    wait_for_threads();
    ck_assert_int_eq(fake.mounts, 1);
}
END_TEST

/* While the connection of the first one ends. */
START_TEST(question_during_the_end)
{
    fake.unmount = &unmount;
    check_answer(ask(0), 1);
    wait_until(&fake.unmounts, 1);
    storage_question *second = ask(0);
    check_failure(ask(0), SHORT, -ETIMEDOUT, "no answer within 20 ms");
    sem_post(&unmount);
    sem_post(&unmount);
    sem_post(&unmount);
    check_answer(second, 1);
}
END_TEST

/* ---- the end of the program ---- */

static void *post_later(void *semaphore)
{
    usleep(SHORT * 1000);
    sem_post(semaphore);
    return NULL;
}

/* The status of a process that ends after that function. */
static int end_after(void (*function)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        function();
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static storage_question *left;

static void leave_a_question(void)
{
    pthread_t thread;
    fake.mount = &mount;
    left = ask(0);
    if (pthread_create(&thread, NULL, post_later, &mount) != 0)
        _exit(1);
}

static void leave_a_dropped_question(void)
{
    pthread_t thread;
    fake.mount = &mount;
    storage_drop(ask(0));
    wait_until(&fake.mounts, 1);
    if (pthread_create(&thread, NULL, post_later, &mount) != 0)
        _exit(1);
}

static void leave_a_connection(void)
{
    pthread_t thread;
    fake.unmount = &unmount;
    check_answer(ask(0), 1);
    if (pthread_create(&thread, NULL, post_later, &unmount) != 0)
        _exit(1);
}

static void leave_a_thread(void)
{
    fake.mount = &mount;
    fake.may_stay_in_use = true;
    check_failure(ask(0), SHORT, -ETIMEDOUT, "no answer within 20 ms");
    wait_until(&fake.mounts, 1);
}

static void (*const ends[])(void) = {leave_a_question, leave_a_dropped_question, leave_a_connection,
                                     leave_a_thread};

/* It waits for threads in the library, but not for ever. */
START_TEST(process_ends)
{
    ck_assert_int_eq(end_after(ends[_i]), 0);
}
END_TEST

/* This program once more, so that dlopen finds the library. */
static int run_with_library(char **arguments)
{
    char program[PATH_MAX], folders[2 * PATH_MAX];
    const char *others = getenv("LD_LIBRARY_PATH");
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return EXIT_FAILURE;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(folders, sizeof folders, "%s/.libs%s%s", program, others != NULL ? ":" : "",
             others != NULL ? others : "");
    setenv("LD_LIBRARY_PATH", folders, 1);
    execv("/proc/self/exe", arguments);
    perror("test_storage_library");
    return EXIT_FAILURE;
}

int main(int count, char **arguments)
{
    char address[40];
    (void)count;
    if (getenv(FAKE_CEPHFS) == NULL) {
        setenv(FAKE_CEPHFS, "none", 1);
        return run_with_library(arguments);
    }
    snprintf(address, sizeof address, "%p", (void *)&fake);
    setenv(FAKE_CEPHFS, address, 1);
    TCase *cases = tcase_create("questions by libcephfs");
    tcase_add_checked_fixture(cases, begin_test, end_test);
    tcase_add_test(cases, connection_ends_with_its_question);
    tcase_add_test(cases, answer_before_the_end);
    tcase_add_test(cases, file_is_closed_first);
    tcase_add_test(cases, dropped_before_the_answer);
    tcase_add_test(cases, dropped_after_the_answer);
    tcase_add_test(cases, late);
    tcase_add_test(cases, no_access);
    tcase_add_test(cases, another_file);
    tcase_add_test(cases, locks_of_the_file_stay);
    tcase_add_test(cases, questions_share_a_connection);
    tcase_add_test(cases, question_during_the_end);
    tcase_add_loop_test(cases, process_ends, 0, sizeof ends / sizeof *ends);
    Suite *suite = suite_create("storage library");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
