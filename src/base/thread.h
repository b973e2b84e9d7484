/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of a library within somebody else's program.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Starts a thread that takes none of the program's signals. As pthread_create. */
static inline int base_start_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* Something that a thread does besides; or, without a thread, whoever waits for it. */
struct base_task {
    void *(*run)(void *);
    void *context;
    pthread_t thread;
    bool has_thread;
};

static inline struct base_task base_begin_task(void *(*run)(void *), void *context)
{
    struct base_task task = {.run = run, .context = context};
    task.has_thread = base_start_thread(&task.thread, run, context) == 0;
    return task;
}

/* Waits until it is done; does it now if it has no thread. */
static inline void base_end_task(const struct base_task *task)
{
    if (task->has_thread)
        pthread_join(task->thread, NULL);
    else
        task->run(task->context);
}

#endif
