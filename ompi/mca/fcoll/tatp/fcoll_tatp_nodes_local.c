/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between the ranks of a node: which parts of the machine they share, by the locality
 * strings that the launcher gave this node for ranks that it bound. */
#include <stdlib.h>

#include "base/memory.h"
#include "fcoll_tatp_nodes_internal.h"
#include "ompi/communicator/communicator.h"
#include "ompi/compat/compat.h"
#include "ompi/proc/proc.h"
#include "topo/local.h"

/* NULL: the rank is not bound, or nobody knows. The caller frees it. */
static char *locality_of(const tatp_comm *comm, int rank)
{
    const ompi_proc_t *proc = ompi_comm_peer_lookup(tatp_comm_communicator(comm), rank);
    char *locality = NULL;
    bool known = compat_modex_get(proc, COMPAT_PMIX_LOCALITY, &locality, COMPAT_PMIX_STRING);
    return known ? locality : NULL;
}

/* Returns whether any two ranks save something. */
static bool fill_steps(char *const *locality, size_t ranks, unsigned char *steps)
{
    int most = 0;
    for (size_t i = 0; i < ranks; i++) {
        for (size_t k = 0; k < i; k++) {
            int saved = topo_level_saves(topo_locality_level(locality[i], locality[k]));
            steps[i * ranks + k] = steps[k * ranks + i] = (unsigned char)saved;
            most = saved > most ? saved : most;
        }
        steps[i * ranks + i] = TOPO_STEPS;
    }
    return most > 0;
}

int tatp_local_steps_read(const tatp_comm *comm, unsigned char **steps)
{
    int count;
    const int *local = tatp_comm_local_ranks(comm, &count);
    size_t ranks = (size_t)count;
    char **locality = calloc(ranks, sizeof *locality);
    *steps = base_alloc(ranks, ranks);
    int rc = NULL == locality || NULL == *steps ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    for (size_t i = 0; i < ranks && OMPI_SUCCESS == rc; i++)
        locality[i] = locality_of(comm, local[i]);
    if (OMPI_SUCCESS != rc || !fill_steps(locality, ranks, *steps)) {
        free(*steps);
        *steps = NULL;
    }
    for (size_t i = 0; NULL != locality && i < ranks; i++)
        free(locality[i]);
    free(locality);
    return rc;
}
