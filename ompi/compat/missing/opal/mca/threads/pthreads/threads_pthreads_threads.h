/* SPDX-License-Identifier: BSD-3-Clause */
/* Stand-in for a header that Open MPI's threads.h includes and no release installs. */
#ifndef TATP_COMPAT_THREADS_PTHREADS_THREADS_H
#define TATP_COMPAT_THREADS_PTHREADS_THREADS_H

#include <sched.h>

static inline void opal_thread_yield(void)
{
    (void)sched_yield();
}

#endif
