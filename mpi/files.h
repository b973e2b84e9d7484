/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file that the library serves. Whether it is atomic, the MPI is asked. */
#ifndef MPI_FILES_H
#define MPI_FILES_H

#include "mpi/front.h"
#include "mpi/group.h"
#include "mpi/store.h"
#include "mpi/view.h"

struct front_file {
    front_file *next;
    MPI_File handle;
    int mode;
    char *name;
    front_group group;
    front_store store;
    coll_file *file;
    front_view view;
    _Atomic int64_t counted[2]; /* bytes by calls that are not collective: read, and written */

    bool has_left;    /* accesses to the MPI */
    bool is_split;    /* between the functions of a split access ... */
    bool may_end;     /* also, as in ROMIO, if the first one fails, but for wrong arguments */
    MPI_Status split; /* ... whose status this is */
};

/* NULL if the library serves no file of this handle. */
front_file *front_file_of(MPI_File handle);

#endif
