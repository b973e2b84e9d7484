/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hints of a file, out of MPI's info objects and into them.
 */
#ifndef MPI_HINTS_H
#define MPI_HINTS_H

#include <mpi.h>
#include <stdbool.h>

#include "collective/hints.h"

/* Zero at first. */
typedef struct front_hints {
    coll_hint_values given, published;
} front_hints;

/* Takes the hints of the info object, which may be MPI_INFO_NULL. reports: this rank tells of
 * values that are none. */
void front_hints_take(front_hints *hints, MPI_Info info, bool reports);
/* Sets what is published, for MPI_File_get_info. */
void front_hints_put(const front_hints *hints, MPI_Info info);

#endif
