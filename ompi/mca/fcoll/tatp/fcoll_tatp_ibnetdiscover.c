/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs ibnetdiscover, or what the site has in its place, and reads what it prints. */
#include "fcoll_tatp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* What a program prints. In memory, because a pipe would have to be read while it runs. */
typedef struct printed {
    FILE *out, *err;
} printed;

static FILE *open_memory(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    FILE *stream = fd >= 0 ? fdopen(fd, "r+") : NULL;
    if (fd >= 0 && NULL == stream)
        close(fd);
    return stream;
}

static void close_printed(printed *text)
{
    if (NULL != text->out)
        fclose(text->out);
    if (NULL != text->err)
        fclose(text->err);
}

/* Not by fork: where a network adapter writes into this process's memory, a copy of the process
 * could take the pages away from it. Returns an errno value. */
static int spawn(const char *path, const printed *text, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    char *arguments[] = {(char *)path, NULL};
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&actions, fileno(text->out), STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, fileno(text->err), STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn(pid, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Until the process ends, and with it, at the latest, the time. Returns an errno value. */
static int await(pid_t pid, int seconds, int *status)
{
    const struct timespec nap = {0, 5000000};
    double end = now() + seconds;
    pid_t ended;
    while ((ended = waitpid(pid, status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (now() > end) {
            kill(pid, SIGKILL);
            while (waitpid(pid, status, 0) < 0 && errno == EINTR)
                ;
            return ETIMEDOUT;
        }
        nanosleep(&nap, NULL);
    }
    /* A program that ignores SIGCHLD leaves no status: what was printed has to do. */
    if (ended < 0)
        *status = 0;
    return 0;
}

/* The first line of what it complained of, or nothing. */
static void read_complaint(FILE *err, char *line, size_t size)
{
    line[0] = '\0';
    rewind(err);
    if (NULL != fgets(line, (int)size, err))
        line[strcspn(line, "\n")] = '\0';
}

static void describe_end(int status, FILE *err, matrix_error *error)
{
    char complaint[120];
    read_complaint(err, complaint, sizeof complaint);
    const char *colon = complaint[0] != '\0' ? ": " : "";
    if (WIFEXITED(status))
        snprintf(error->reason, sizeof error->reason, "it ended with exit status %d%s%s",
                 WEXITSTATUS(status), colon, complaint);
    else
        snprintf(error->reason, sizeof error->reason, "it was ended by signal %d%s%s",
                 WTERMSIG(status), colon, complaint);
}

/* Returns 0 or a negative value, with the reason in `error`. */
static int run(const char *path, int seconds, const printed *text, matrix_error *error)
{
    pid_t pid;
    int status = 0, rc = spawn(path, text, &pid);
    if (rc != 0) {
        snprintf(error->reason, sizeof error->reason, "%s", strerror(rc));
        return -rc;
    }
    rc = await(pid, seconds, &status);
    if (rc != 0) {
        snprintf(error->reason, sizeof error->reason, "it did not end within %d seconds", seconds);
        return -rc;
    }
    if (status == 0)
        return 0;
    describe_end(status, text->err, error);
    return -EIO;
}

static int read_fabric(FILE *out, topo_fabric **fabric, matrix_error *error)
{
    rewind(out);
    return topo_fabric_read(out, fabric, error);
}

static topo_fabric *discover(const char *path, int seconds)
{
    matrix_error error = {0, "there is no memory for what it prints"};
    topo_fabric *fabric = NULL;
    printed text = {open_memory("ibnetdiscover"), open_memory("complaints")};
    int rc = -ENOMEM;
    if (NULL != text.out && NULL != text.err)
        rc = run(path, seconds, &text, &error);
    if (rc == 0)
        rc = read_fabric(text.out, &fabric, &error);
    if (rc != 0)
        tatp_discover_refuse(&error);
    close_printed(&text);
    return fabric;
}

/* Under the lock, so that threads which open files at the same time run it once. */
const topo_fabric *tatp_discover(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    if (NULL == c->ibnetdiscover || c->ibnetdiscover[0] == '\0')
        return NULL;
    OPAL_THREAD_LOCK(&c->lock);
    if (!c->discovered)
        c->fabric = discover(c->ibnetdiscover, c->ibnetdiscover_timeout);
    c->discovered = true;
    OPAL_THREAD_UNLOCK(&c->lock);
    return c->fabric;
}

void tatp_discover_refuse(const matrix_error *error)
{
    static atomic_flag told = ATOMIC_FLAG_INIT; /* once a process, not for each group of ranks */
    char reason[sizeof error->reason + 64];
    if (atomic_flag_test_and_set(&told))
        return;
    if (error->line > 0)
        snprintf(reason, sizeof reason, "line %lu of what it prints: %s",
                 (unsigned long)error->line, error->reason);
    else
        snprintf(reason, sizeof reason, "%s", error->reason);
    tatp_show_help("ibnetdiscover", mca_fcoll_tatp_component.ibnetdiscover, reason);
}

void tatp_discover_release(void)
{
    topo_fabric_free(mca_fcoll_tatp_component.fabric);
    mca_fcoll_tatp_component.fabric = NULL;
}
