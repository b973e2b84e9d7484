/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes as access lists (src/access), by what MPI_Type_get_envelope and MPI_Type_get_contents
 * say of how they were made. Local.
 */
#ifndef MPI_DATATYPE_H
#define MPI_DATATYPE_H

#include <stdint.h>

#include "access/access.h"
#include "mpi/calls.h"

/* Bytes of an element; from the start of one element to that of the next; the first byte of its
 * data, counted from there; from that to the last. */
typedef struct front_type_size {
    int64_t bytes, extent, low, span;
} front_type_size;

front_type_size front_type_measure(MPI_Datatype type);

/* Frees a datatype that a function of the MPI has returned, unless it is predefined. */
void front_type_free(MPI_Datatype type);

/* A datatype with the same elements, which is committed. It has no attributes, whose functions
 * MPI_Type_dup calls. */
MPI_Datatype front_type_copy(MPI_Datatype type);

/* The bytes of one element that starts at `base`, in the order of its type map, appended to the
 * empty list. MPI_ERR_IO: one has a negative offset. MPI_ERR_UNSUPPORTED_OPERATION: it is not known
 * how the datatype was made. */
int front_type_flatten(MPI_Datatype type, int64_t base, access_list *list);

/* The bytes of `count` elements of a buffer, whose addresses are appended to the empty list. Also
 * MPI_ERR_COUNT: there are more than INT64_MAX. */
int front_type_buffer(const void *buffer, int64_t count, MPI_Datatype type, access_list *memory);

#endif
