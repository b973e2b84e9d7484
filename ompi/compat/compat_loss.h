/* SPDX-License-Identifier: BSD-3-Clause */
/* Lost processes, where Open MPI survives them (ULFM: from 5.0 on, mpirun --with-ft ulfm). */
#ifndef TATP_COMPAT_LOSS_H
#define TATP_COMPAT_LOSS_H

#include "ompi/compat/compat.h"

#include "ompi/communicator/communicator.h"
#include "ompi/request/request.h"

#if OMPI_MAJOR_VERSION >= 5 && OPAL_ENABLE_FT_MPI

#define COMPAT_LOSS MPI_ERR_PROC_FAILED
#define compat_survives_losses() ompi_ftmpi_enabled

/* Whether an error means a lost process. */
static inline bool compat_is_loss(int rc)
{
    return MPI_ERR_PROC_FAILED == rc || MPI_ERR_PROC_FAILED_PENDING == rc || MPI_ERR_REVOKED == rc;
}

/* Whether a request never completes by itself. */
static inline bool compat_has_failed(ompi_request_t *request)
{
    return ompi_request_is_failed(request);
}

/* Ends what all ranks wait for on this communicator, with an error. */
static inline void compat_revoke(ompi_communicator_t *communicator)
{
    if (!ompi_comm_is_revoked(communicator))
        (void)ompi_comm_revoke_internal(communicator);
}

/* Whether the communicator has lost a rank, or was revoked for that. *known: lost processes at the
 * last call that returned false, from 0 on. */
static inline bool compat_has_lost(ompi_communicator_t *communicator, int *known)
{
    if (!compat_survives_losses())
        return false;
    int lost = ompi_group_size(ompi_group_all_failed_procs);
    if (ompi_comm_is_revoked(communicator))
        return true;
    for (int r = 0; lost != *known && r < ompi_comm_size(communicator); r++)
        if (!ompi_comm_is_proc_active(communicator, r, false))
            return true;
    *known = lost;
    return false;
}

#else

#define COMPAT_LOSS MPI_ERR_OTHER
#define compat_survives_losses() false
#define compat_is_loss(rc) ((void)(rc), false)
#define compat_has_failed(request) ((void)(request), false)
#define compat_revoke(communicator) ((void)(communicator))
#define compat_has_lost(communicator, known) ((void)(communicator), (void)(known), false)

#endif

/* Whether the request is complete, or never will be. */
static inline bool compat_is_complete(ompi_request_t *request)
{
    return REQUEST_COMPLETE(request) || compat_has_failed(request);
}

#endif
