/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into programs of an MPICH over UCX that has more ranks than processors: a rank that
 * waits lets others run. In MPI_Finalize it closes no connections: by TCP alone it often waits for
 * ever that others do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

unsigned ucp_worker_progress(void *worker);
void *ucp_disconnect_nb(void *endpoint);

/* It is complete. */
void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*_Atomic next)(void *worker);
    if (next == NULL)
        next = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned events = next(worker);
    if (events == 0)
        sched_yield();
    return events;
}
