/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded behind libtatp-mpiio.so into `faults`, whose shim may refuse a message. Handles are
 * words. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

#include "shim.h"

#define CALLER __builtin_return_address(0)

/* A function that starts messages of this kind. */
#define STARTING(kind, function, data)                                                             \
    int function(data buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,      \
                 MPI_Request *request)                                                             \
    {                                                                                              \
        if (shim_refuses(kind, CALLER))                                                            \
            return MPI_ERR_OTHER;                                                                  \
        return ((__typeof__(&function))dlsym(RTLD_NEXT, #function))(buffer, count, type, peer,     \
                                                                    tag, comm, request);           \
    }
STARTING(SHIM_SEND, PMPI_Isend, const void *)
STARTING(SHIM_SEND, PMPI_Issend, const void *)
STARTING(SHIM_RECEIVE, PMPI_Irecv, void *)
