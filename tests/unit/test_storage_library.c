/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of questions to CephFS behind FUSE, by a library in the place of librados
 * (fake_rados.h): orders of questions, answers and the end of the program, and what is asked again.
 */
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

#include "fake_rados.h"
#include "suite.h"

enum { FUSE = 0x65735546 };
enum { LONG = 60000, SHORT = 20 }; /* milliseconds */

enum { OBJECT = 8192, GROUPS = 24 };

static fake_rados fake;
static sem_t connecting, ending;
static FILE *file;     /* the one that is asked about ... */
static uint64_t inode; /* ... and its number */
static const char *fsid, *pool, *name_space;
static size_t threads; /* when a test begins */

int fstatfs(int fd, struct statfs *system)
{
    (void)fd;
    memset(system, 0, sizeof *system);
    system->f_type = FUSE;
    return 0;
}

int fstat(int fd, struct stat *status)
{
    int rc = fstatat(fd, "", status, AT_EMPTY_PATH);
    status->st_ino = inode;
    return rc;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    static const char layout[] = "stripe_unit=8192 stripe_count=1 object_size=8192 pool=data";
    const char *text = strcmp(name, "ceph.file.layout") == 0                  ? layout
                       : strcmp(name, "ceph.cluster_fsid") == 0               ? fsid
                       : strcmp(name, "ceph.file.layout.pool") == 0           ? pool
                       : strcmp(name, "ceph.file.layout.pool_namespace") == 0 ? name_space
                                                                              : NULL;
    (void)path;
    ck_assert_uint_ge(size, 1000);
    if (text == NULL) {
        errno = ENODATA;
        return -1;
    }
    memcpy(value, text, strlen(text));
    return (ssize_t)strlen(text);
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
    file = tmpfile();
    ck_assert_ptr_nonnull(file);
    sem_init(&connecting, 0, 0);
    sem_init(&ending, 0, 0);
    fake = (fake_rados){.find_group = ceph_find_group, .epoch = 12, .groups = GROUPS};
    inode = UINT64_C(0x10000000000);
    fsid = FAKE_RADOS_FSID;
    pool = "data";
    name_space = "";
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

/* The connection stays until the process ends, which the library checks. */
static void end_test(void)
{
    wait_for_threads();
    ck_assert_int_le(fake.connected, 1);
    ck_assert_int_eq(fake.shutdowns, fake.connects - fake.connected);
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
        char name[CEPH_OBJECT_BYTES], host[20];
        ceph_name_object(inode, k, name);
        int64_t osd = (ceph_find_group(name_space, name, fake.groups) + fake.epoch) % 3;
        snprintf(host, sizeof host, "osd%d", (int)osd);
        ck_assert_int_eq((int64_t)storage_target_number(layout, e.target[k]), osd);
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

static int commands_of(int64_t objects)
{
    int before = fake.commands;
    check_answer(ask(objects * OBJECT), (size_t)objects);
    return fake.commands - before;
}

/* Once every placement group and every server is known, one question says that the map of the
 * cluster is the same. */
START_TEST(what_is_known_is_not_asked_again)
{
    enum { OBJECTS = 1000, SERVERS = 3, NUMBER_OF_GROUPS = 1 };
    ck_assert_int_eq(commands_of(OBJECTS), GROUPS + SERVERS + NUMBER_OF_GROUPS);
    ck_assert_int_eq(commands_of(OBJECTS), 1);
    inode++;
    ck_assert_int_eq(commands_of(OBJECTS / 2), 1);
    ck_assert_int_eq(fake.connects, 1);
}
END_TEST

START_TEST(map_changes)
{
    (void)commands_of(100);
    fake.epoch++;
    ck_assert_int_gt(commands_of(100), 1);
    fake.epoch++;
    fake.groups = 37;
    ck_assert_int_gt(commands_of(100), 1);
    ck_assert_int_eq(commands_of(100), 1);
    pool = "another";
    ck_assert_int_gt(commands_of(100), 1);
    ck_assert_int_eq(fake.connects, 1);
}
END_TEST

START_TEST(namespace_of_a_file)
{
    name_space = "mine";
    (void)commands_of(100);
    name_space = "";
    (void)commands_of(100);
}
END_TEST

START_TEST(file_is_closed_first)
{
    fake.connect = &connecting;
    storage_question *question = ask(2 * OBJECT);
    fclose(file);
    file = NULL;
    sem_post(&connecting);
    check_answer(question, 2);
}
END_TEST

/* Before the answer, and after it. */
START_TEST(questions_are_dropped)
{
    fake.connect = &connecting;
    storage_drop(ask(0));
    storage_drop(NULL);
    sem_post(&connecting);
    wait_for_threads();
    storage_question *question = ask(0);
    wait_for_threads();
    storage_drop(question);
}
END_TEST

/* Its time begins with the question. */
START_TEST(late)
{
    fake.connect = &connecting;
    storage_question *question = ask(0);
    usleep(SHORT * 1000);
    check_failure(question, 0, -ETIMEDOUT, "no answer within 0 ms");
    check_failure(ask(0), SHORT, -ETIMEDOUT, "no answer within 20 ms");
    for (int k = 0; k < 3; k++)
        sem_post(&connecting);
    check_answer(ask(0), 1);
}
END_TEST

START_TEST(no_access)
{
    fake.connect_error = -EACCES;
    check_failure(ask(0), LONG, -EACCES, "librados: no access to the cluster: Permission denied");
    fake.connect_error = 0;
    check_answer(ask(0), 1);
}
END_TEST

static const struct {
    const char *arguments, *id;
} users[] = {
    {NULL, ""},      {"", ""},    {"--id user", "user"}, {"-c x --id=user --no-log", "user"},
    {"--idx y", ""}, {"--id", ""}};

START_TEST(id_of_the_user)
{
    if (users[_i].arguments != NULL)
        setenv("CEPH_ARGS", users[_i].arguments, 1);
    else
        unsetenv("CEPH_ARGS");
    check_answer(ask(0), 1);
    ck_assert_str_eq(fake.id, users[_i].id);
}
END_TEST

START_TEST(another_file)
{
    fsid = "other";
    check_failure(ask(0), LONG, -ENOTSUP,
                  "librados: the file is on cluster other, not on " FAKE_RADOS_FSID);
    fsid = NULL;
    check_failure(ask(0), LONG, -ENOTSUP, "a file system of FUSE that does not say where data are");
    fsid = FAKE_RADOS_FSID;
    pool = "\"";
    check_failure(ask(0), LONG, -EBADMSG, "ceph.file.layout.pool is not plain text");
    pool = "data";
    inode = 1024;
    check_failure(ask(0), LONG, -EBADMSG, "inode 1024 is not one of CephFS");
}
END_TEST

/* Of one object; NULL: the answer is not understood. */
static const struct {
    const char *command, *reply, *record;
} replies[] = {
    {"osd map", "", NULL},
    {"osd map", "{}", NULL},
    {"osd map", "{\"epoch\":0,\"pgid\":\"2.0\",\"acting_primary\":0}", NULL},
    {"osd map", "{\"epoch\":1,\"pgid\":\"2.0\"}", NULL},
    {"osd map", "{\"epoch\":1,\"acting_primary\":0}", NULL},
    {"osd map", "{\"epoch\":1,\"pgid\":\"2.7000\",\"acting_primary\":0}", NULL},
    {"osd map", "{\"epoch\":1,\"pgid\":\"2.-1\",\"acting_primary\":0}", NULL},
    {"osd map", "{\"epoch\":1,\"pgid\":\"2.0x\",\"acting_primary\":0}", NULL},
    {"osd map", "{\"epoch\":1,\"pgid\":\"2", NULL},
    {"osd map", "{\"epoch\":\"1\",\"pgid\":\"2.0\",\"acting_primary\":0}", NULL},
    {"osd pool get", "{}", NULL},
    {"osd pool get", "{\"pg_num\":0}", NULL},
    {"osd pool get", "{\"pg_num\":-3}", NULL},
    {"osd pool get", "{\"pg_num\":99999999999999999999}", NULL},
    {"osd map", "{\"epoch\":1,\"pgid\":\"2.0\",\"acting_primary\":-1}",
     "targets -\nextent 0 - 8192 1 8192\n"},
    {"osd find", "{}", "targets 0\nextent 0 - 8192 1 8192\n"},
    {"osd find", "{\"crush_location\":{}}", "targets 0\nextent 0 - 8192 1 8192\n"},
    {"osd find", "{\"crush_location\":{\"host\":\"", "targets 0\nextent 0 - 8192 1 8192\n"},
    {"osd find", "{\"crush_location\":{\"host\":\"two words\"}}",
     "targets 0\nextent 0 - 8192 1 8192\n"},
};

START_TEST(answers_are_checked)
{
    fake.groups = 1;
    fake.reply = replies[_i].reply;
    fake.replied_command = replies[_i].command;
    for (int k = 0; k < 2; k++) {
        storage_layout *layout = NULL;
        matrix_error error = {0, ""};
        int rc = storage_query(fileno(file), 0, 0, LONG, &layout, &error);
        if (replies[_i].record == NULL) {
            ck_assert_int_eq(rc, -ENOTSUP);
            ck_assert_ptr_nonnull(strstr(error.reason, "is not understood"));
            continue;
        }
        ck_assert_msg(rc == 0, "%s", error.reason);
        char *text = storage_record(layout);
        ck_assert_str_eq(text, replies[_i].record);
        free(text);
        storage_free(layout);
    }
    if (replies[_i].record == NULL) {
        fake.reply = NULL;
        check_answer(ask(0), 1);
    }
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
    fake.connect = &connecting;
    storage_question *first = ask(0), *second = ask(0);
    ck_assert_int_eq(fcntl(fileno(file), F_SETLK, &lock), 0);
    storage_drop(first);
    sem_post(&connecting);
    sem_post(&connecting);
    check_answer(second, 1);
    wait_for_threads();
    ck_assert_int_eq(holder_of_lock(fileno(file)), getpid());
}
END_TEST

/* ---- several questions ---- */

START_TEST(questions_share_a_connection)
{
    storage_question *question[4];
    fake.connect = &connecting;
    for (size_t k = 0; k < 4; k++)
        question[k] = ask((int64_t)(k + 1) * OBJECT);
    storage_drop(question[2]);
    wait_until_asleep(4);
    sem_post(&connecting);
    check_answer(question[3], 4);
    check_answer(question[0], 1);
    check_answer(question[1], 2);
    wait_for_threads();
    ck_assert_int_eq(fake.connects, 1);
}
END_TEST

/* ---- the end of the program ---- */

static void *post_later(void *semaphore)
{
    usleep(SHORT * 1000);
    sem_post(semaphore);
    return NULL;
}

static void let_post_later(sem_t *semaphore)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, post_later, semaphore) != 0)
        _exit(1);
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

/* Volatile, or it is not kept: nothing reads it. */
static storage_question *volatile left;

static void leave_a_question(void)
{
    fake.connect = &connecting;
    left = ask(0);
    let_post_later(&connecting);
}

static void leave_a_dropped_question(void)
{
    fake.connect = &connecting;
    storage_drop(ask(0));
    wait_until(&fake.connects, 1);
    let_post_later(&connecting);
}

static void leave_a_connection(void)
{
    fake.shutdown = &ending;
    check_answer(ask(0), 1);
    let_post_later(&ending);
}

/* The connection is its parent's: where it would end it, a thread would stay in the library. */
static void exit_again(void)
{
    fake.may_stay_connected = true;
}

static void leave_to_a_child(void)
{
    fake.shutdown = &ending;
    check_answer(ask(0), 1);
    wait_for_threads(); /* a thread that ends may hold locks of the C library or the sanitizers */
    int status = end_after(exit_again);
    sem_post(&ending);
    if (status != 0)
        _exit(status);
}

static void leave_a_thread(void)
{
    fake.connect = &connecting;
    fake.may_stay_in_use = true;
    check_failure(ask(0), SHORT, -ETIMEDOUT, "no answer within 20 ms");
    wait_until(&fake.connects, 1);
}

static void (*const ends[])(void) = {leave_a_question, leave_a_dropped_question, leave_a_connection,
                                     leave_to_a_child, leave_a_thread};

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
    if (getenv(FAKE_RADOS) == NULL) {
        setenv(FAKE_RADOS, "none", 1);
        return run_with_library(arguments);
    }
    snprintf(address, sizeof address, "%p", (void *)&fake);
    setenv(FAKE_RADOS, address, 1);
    TCase *cases = tcase_create("questions by librados");
    tcase_add_checked_fixture(cases, begin_test, end_test);
    add_tests(cases, what_is_known_is_not_asked_again, map_changes, namespace_of_a_file,
              file_is_closed_first, questions_are_dropped, late, no_access);
    tcase_add_loop_test(cases, id_of_the_user, 0, sizeof users / sizeof *users);
    tcase_add_test(cases, another_file);
    tcase_add_loop_test(cases, answers_are_checked, 0, sizeof replies / sizeof *replies);
    add_tests(cases, locks_of_the_file_stay, questions_share_a_connection);
    tcase_add_loop_test(cases, process_ends, 0, sizeof ends / sizeof *ends);
    Suite *suite = suite_create("storage library");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
