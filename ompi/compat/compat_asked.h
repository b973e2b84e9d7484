/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the user has named a component, and what topo/dla has done. */
#ifndef TATP_COMPAT_ASKED_H
#define TATP_COMPAT_ASKED_H

#include "ompi/compat/compat.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/topo/topo.h"

#include "base/text.h"

/* --mca FRAMEWORK a,b names a and b; ^a, all but a, names none. *source: where the parameter is
 * from, or NULL. */
static inline bool compat_is_asked_for(const char *framework, const char *component,
                                       mca_base_var_source_t *source)
{
    char *const *names = NULL;
    int index = mca_base_var_find("ompi", framework, NULL, NULL);
    (void)mca_base_var_get_value(index, &names, source, NULL);
    return NULL != names && NULL != *names && '^' != **names && base_lists(*names, component);
}

/* Whether topo/dla has given the processes of a communicator other ranks, each that of a rank of
 * the job: what a process does in it would be done by the one with this rank in MPI_COMM_WORLD. */
static inline bool compat_is_reordered(const ompi_communicator_t *comm)
{
    return NULL != comm->c_topo && comm->c_topo->reorder &&
           0 == strcmp("dla", comm->c_topo->topo_component->topoc_version.mca_component_name);
}

#endif
