/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The view matrix of a cartesian grid of ranks, without recording.
 */
#ifndef SETMATCH_CARTESIAN_H
#define SETMATCH_CARTESIAN_H

#include "matrix/matrix.h"

/* Values of setmatch_cartesian: the sets are lines along the innermost dimension. */
#define SETMATCH_CARTESIAN_INNERMOST 100
#define SETMATCH_CARTESIAN_BETWEEN 10
#define SETMATCH_CARTESIAN_OUTERMOST 1

/* The dimension that varies fastest in the file: the last (C) or the first (Fortran). */
typedef enum setmatch_order { SETMATCH_ORDER_C, SETMATCH_ORDER_FORTRAN } setmatch_order;

/* The simplified matrix of a grid of ranks, numbered as by MPI_Cart_create (the last coordinate
 * varies fastest), whose blocks form an array of that order in the file. Innermost: the dimension
 * of extent > 1 that varies fastest in the file; outermost: the one that varies slowest. Values:
 * large for neighbours along the innermost dimension with equal outermost coordinate, smaller for
 * other neighbours with equal outermost coordinate, smallest for neighbours along the outermost
 * dimension. Sparse: O(ranks * ndims) entries. There is a dimension, no extent is 0, and their
 * product fits into size_t. -ENOMEM. */
int setmatch_cartesian(const size_t *dims, size_t ndims, setmatch_order order, matrix *view);

#endif
