/* SPDX-License-Identifier: BSD-3-Clause
 *
 * histories: writers of one record file, as processes that stop before each system call on files
 * until the scheduler lets them go on, in an order that a seed determines; some are killed there.
 *
 * system.c has the system calls, writer.c what a writer does, model.c what the file must contain,
 * histories.c the scheduler. Writers and scheduler share a `history`.
 */
#ifndef TESTS_RECORD_HISTORY_H
#define TESTS_RECORD_HISTORY_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WRITERS = 8, ADDITIONS = 3, RUNS = 3, EVENTS = 4096 };

/* What a writer did, in the order in which it happened. */
enum event_kind {
    REPLACED, /* put a version in place */
    ENDED,    /* to write, without an error: all that it added is or was in the file */
    REFUSED,  /* because another run has the file */
    FINISHED  /* recording: its version may be replaced from now on */
};

struct event {
    enum event_kind kind;
    int writer, added; /* number of additions so far */
    bool is_first;     /* of ENDED: it is told that its run was not in the file */
};

struct writer {
    pid_t process;
    int run, additions; /* of a run; how often it adds, and writes */
    sem_t go;
    int added;
    const char *failure;
    bool killed, done;
};

struct history {
    uint64_t seed;
    char dir[64];
    int writers;
    int ranks[RUNS]; /* of each run */
    struct writer writer[WRITERS];
    sem_t stopped; /* the writer that runs has stopped before a call, or ended */
    int events;
    struct event event[EVENTS];
};

/* ---- system.c: in a writer ---- */

extern struct history *present; /* NULL: calls do not stop */
extern int present_writer;

/* Waits for the scheduler. */
void stop_here(void);

void note_event(enum event_kind kind, bool is_first);

/* ---- writer.c ---- */

/* What one writer does; exits with 0. */
_Noreturn void run_writer(struct history *h, int writer);
void name_record(const struct history *h, char *path, size_t capacity);

/* ---- model.c ---- */

/* Replays the events in their order on a model of the file, and compares the result with it.
 * Returns what is wrong, or NULL. */
const char *check_history(const struct history *h);

#endif
