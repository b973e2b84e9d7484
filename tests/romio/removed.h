/* SPDX-License-Identifier: BSD-3-Clause */
/* removed: what MPI 3.0 took away and ROMIO's test programs still use, in terms of what there is.
 */
#ifndef TESTS_ROMIO_REMOVED_H
#define TESTS_ROMIO_REMOVED_H

#include <mpi.h>

#undef MPI_LB
#undef MPI_UB
#undef MPI_Type_struct
#undef MPI_Type_hindexed

/* Marks among the types of a struct; never used as types. */
static char removed_lb, removed_ub;
#define MPI_LB ((MPI_Datatype)(void *)&removed_lb)
#define MPI_UB ((MPI_Datatype)(void *)&removed_ub)
#define MPI_Type_struct removed_struct
#define MPI_Type_hindexed MPI_Type_create_hindexed

/* At most 64 parts, more than any of the programs has. */
static inline int removed_struct(int count, int length[], MPI_Aint at[], MPI_Datatype type[],
                                 MPI_Datatype *made)
{
    int lengths[64], n = 0, bounds = 0, rc;
    MPI_Aint places[64], lb, extent;
    MPI_Datatype types[64], unbound;
    for (int i = 0; i < count && i < 64; i++) {
        if (type[i] == MPI_LB || type[i] == MPI_UB) {
            bounds++;
            continue;
        }
        lengths[n] = length[i];
        places[n] = at[i];
        types[n++] = type[i];
    }
    rc = MPI_Type_create_struct(n, lengths, places, types, &unbound);
    if (rc != MPI_SUCCESS)
        return rc;
    MPI_Type_get_extent(unbound, &lb, &extent);
    MPI_Aint ub = lb + extent;
    for (int i = 0; i < count && bounds > 0; i++) {
        lb = type[i] == MPI_LB ? at[i] : lb;
        ub = type[i] == MPI_UB ? at[i] : ub;
    }
    rc = MPI_Type_create_resized(unbound, lb, ub - lb, made);
    MPI_Type_free(&unbound);
    return rc;
}

#endif
