/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of a library within somebody else's program.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

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

#endif
