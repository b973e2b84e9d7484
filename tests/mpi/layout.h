/* SPDX-License-Identifier: BSD-3-Clause */
/* layout: MPI datatypes built together with a list of the bytes that they stand for. The
 * list comes from the constructors' definitions in the MPI standard; MPI is never asked. */
#ifndef TESTS_MPI_LAYOUT_H
#define TESTS_MPI_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [offset, offset + length) relative to the start of the type. */
struct piece {
    int64_t offset, length;
};

/* piece[0 .. pieces) in typemap order; neighbours that touch are merged. size, lb and
 * extent in bytes, as MPI_Type_size and MPI_Type_get_extent define them. */
struct layout {
    MPI_Datatype type;
    struct piece *piece;
    size_t pieces, room;
    int64_t size, lb, extent;
    bool predefined; /* the type is MPI's own and not to be freed */
};

/* Each makes a new committed type; release with layout_free. Out of memory, or a type
 * whose size or extent MPI sees otherwise, ends the program. */
struct layout layout_basic(MPI_Datatype predefined, int64_t size);
struct layout layout_contiguous(int count, const struct layout *old);
/* stride in extents of the old type; may be negative. */
struct layout layout_vector(int count, int blocklength, int stride, const struct layout *old);
/* displacement[i] in extents of the old type. */
struct layout layout_indexed(int count, const int *blocklength, const int *displacement,
                             const struct layout *old);
/* displacement[i] in bytes; every block is of the old type. The result is resized to end
 * with its last byte, as the padding of a struct is the implementation's choice. */
struct layout layout_struct(int count, const int *blocklength, const MPI_Aint *displacement,
                            const struct layout *old);
struct layout layout_subarray(int dims, const int *size, const int *subsize, const int *start,
                              int order, const struct layout *old);
struct layout layout_resized(int64_t lb, int64_t extent, const struct layout *old);

void layout_free(struct layout *l);

/* The first and the end of the bytes that `count` elements of the type touch. */
void layout_hull(const struct layout *l, int64_t count, int64_t *low, int64_t *high);

/* Calls visit(context, offset, length) for the data bytes [from, from + length) of an
 * endless row of the type, in data order; offsets count from the first element's start. */
void layout_walk(const struct layout *l, int64_t from, int64_t length,
                 void (*visit)(void *context, int64_t offset, int64_t length), void *context);

void *checked_alloc(size_t count, size_t size);

#endif
