/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "mpi/calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mpi/front.h"

front_calls mpi;

/* ---- the next definition ---- */

/* A module of the program whose MPI nothing else sees; NULL if there is none. */
static void *_Atomic module;

/* A handle of the object that has this address. NULL if it has none. */
static void *open_object(const void *address, Dl_info *object)
{
    return address != NULL && dladdr(address, object) != 0
               ? dlopen(object->dli_fname, RTLD_LAZY | RTLD_NOLOAD)
               : NULL;
}

void *front_next(const char *name, const void *caller)
{
    Dl_info object;
    void *next = dlsym(RTLD_NEXT, name), *found = module;
    if (next == NULL && found != NULL)
        next = dlsym(found, name);
    if (next != NULL || (found = open_object(caller, &object)) == NULL)
        return next;
    next = dlsym(found, name);
    if (next != NULL)
        module = found;
    else
        dlclose(found);
    return next;
}

/* ---- the MPI ---- */

/* Handles are addresses of objects, or numbers, which differ in the standard ABI. */
enum handles { OF_MPICH, OF_OPEN_MPI, OF_STANDARD };

#ifdef OPEN_MPI
#define HANDLES OF_OPEN_MPI
#else
#define HANDLES ((uintptr_t)MPI_COMM_WORLD == 0x101 ? OF_STANDARD : OF_MPICH)
#endif

/* The standard ABI's library may be linked with Open MPI's, whose names dlsym then finds, too. */
static bool has_right_handles(void)
{
    Dl_info object;
    void *library = open_object(front_next("PMPI_Init", NULL), &object);
    if (library == NULL)
        return false;
    enum handles handles = strstr(object.dli_fname, "libmpi_abi") != NULL  ? OF_STANDARD
                           : dlsym(library, "ompi_mpi_comm_world") != NULL ? OF_OPEN_MPI
                                                                           : OF_MPICH;
    dlclose(library);
    return handles == HANDLES;
}

int front_error_class(int error)
{
    int class = MPI_ERR_OTHER;
    switch (error) {
    case 0: return MPI_SUCCESS;
    case -ENOMEM: return MPI_ERR_NO_MEM;
    case -EOVERFLOW: return MPI_ERR_COUNT;
    case -ENOTSUP: return MPI_ERR_UNSUPPORTED_OPERATION;
    case -ENOSPC: return MPI_ERR_NO_SPACE;
    case -EDQUOT: return MPI_ERR_QUOTA;
    case -EROFS: return MPI_ERR_READ_ONLY;
    case -EPERM:
    case -EACCES: return MPI_ERR_ACCESS;
    default: break;
    }
    if (error < 0)
        return MPI_ERR_IO;
    mpi.Error_class(error, &class);
    return class;
}

const char *front_calls_find(void)
{
    bool are_found = true;
#define FIND(name) mpi.name = (__typeof__(mpi.name))front_next("PMPI_" #name, NULL);
#define CHECK(name) are_found = are_found && mpi.name != NULL;
    FRONT_CALLS(FIND)
    FRONT_LATER_CALLS(FIND)
    FRONT_CALLS(CHECK)
    if (!are_found || !has_right_handles())
        return "this program uses another MPI than the one that libtatp-mpiio.so was built for";
    if ((uintptr_t)MPI_COMM_WORLD == 0)
        return "this program loaded Open MPI after its start";
    return NULL;
}
