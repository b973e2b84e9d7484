/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of messages that suits the transport between nodes. */
#include <string.h>

#include "fcoll_tatp_comm_internal.h"
#include "ompi/mca/pml/base/base.h"

/* Bytes. PML ob1 over TCP sends up to 64 KiB at once. It announces larger messages and waits for
 * the receiver, which may be busy, while the link is idle. */
#define SMALL_MESSAGE ((int64_t)63 << 10)
/* Of libraries that do better with few large messages (doc/benchmarks.md). */
#define LARGE_MESSAGE ((int64_t)504 << 10)

/* Open MPI refuses to connect processes of different PMLs, so that all ranks know the same. */
int64_t tatp_comm_message_size(const tatp_comm *comm)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    bool is_large = 0 == strcmp(pml, "ucx") || 0 == strcmp(pml, "cm");
    return is_large && comm->locals < comm->size ? LARGE_MESSAGE : SMALL_MESSAGE;
}
