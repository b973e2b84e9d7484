/* SPDX-License-Identifier: BSD-3-Clause */
/* Stand-in for a header that Open MPI's tsd.h includes and no release installs: storage of each
 * thread. */
#ifndef TATP_COMPAT_THREADS_PTHREADS_TSD_H
#define TATP_COMPAT_THREADS_PTHREADS_TSD_H

#include <pthread.h>

#include "opal/constants.h"

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_set(opal_tsd_key_t key, void *value)
{
    return 0 != pthread_setspecific(key, value) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline int opal_tsd_get(opal_tsd_key_t key, void **value)
{
    *value = pthread_getspecific(key);
    return OPAL_SUCCESS;
}

#endif
