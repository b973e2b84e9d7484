/* SPDX-License-Identifier: BSD-3-Clause */
/* The simplified view matrix of a cartesian grid of ranks. */
#include "setmatch/cartesian.h"

#include <errno.h>
#include <stdlib.h>

struct grid {
    const size_t *dims;
    size_t ndims;
    size_t *stride; /* by dimension: difference of the ranks of neighbours */
    size_t ranks;
    size_t outermost; /* the dimension that varies slowest in the file */
    size_t innermost; /* the one that varies fastest, of extent > 1; the outermost if none */
};

/* The dimension that varies k-th slowest in the file. */
static size_t from_outside(const struct grid *g, setmatch_order order, size_t k)
{
    return order == SETMATCH_ORDER_FORTRAN ? g->ndims - 1 - k : k;
}

static int grid_init(struct grid *g, const size_t *dims, size_t ndims, setmatch_order order)
{
    *g = (struct grid){.dims = dims, .ndims = ndims, .ranks = 1};
    g->stride = calloc(ndims, sizeof *g->stride);
    if (g->stride == NULL)
        return -ENOMEM;
    for (size_t d = ndims; d-- > 0;) {
        g->stride[d] = g->ranks;
        g->ranks *= dims[d];
    }
    g->outermost = g->innermost = from_outside(g, order, 0);
    for (size_t k = 1; k < ndims; k++)
        if (dims[from_outside(g, order, k)] > 1)
            g->innermost = from_outside(g, order, k);
    return 0;
}

static size_t coordinate(const struct grid *g, size_t rank, size_t d)
{
    return rank / g->stride[d] % g->dims[d];
}

/* The value of two neighbours along dimension d. */
static int64_t value_along(const struct grid *g, size_t d)
{
    if (d == g->outermost)
        return SETMATCH_CARTESIAN_OUTERMOST;
    return d == g->innermost ? SETMATCH_CARTESIAN_INNERMOST : SETMATCH_CARTESIAN_BETWEEN;
}

/* Each dimension of extent e has ranks / e * (e - 1) pairs of neighbours, stored twice. */
static size_t count_grid_entries(const struct grid *g)
{
    size_t pairs = 0;
    for (size_t d = 0; d < g->ndims; d++)
        pairs += g->ranks - g->ranks / g->dims[d];
    return 2 * pairs;
}

/* Columns ascend, since strides decrease with d: lower neighbours first, then upper ones. */
static size_t add_grid_row(const struct grid *g, size_t rank, matrix *m, size_t at)
{
    for (size_t d = 0; d < g->ndims; d++) {
        if (coordinate(g, rank, d) > 0) {
            m->col[at] = rank - g->stride[d];
            m->value[at++] = value_along(g, d);
        }
    }
    for (size_t d = g->ndims; d-- > 0;) {
        if (coordinate(g, rank, d) + 1 < g->dims[d]) {
            m->col[at] = rank + g->stride[d];
            m->value[at++] = value_along(g, d);
        }
    }
    return at;
}

static int build_grid_matrix(const struct grid *g, matrix *view)
{
    matrix made;
    int rc = matrix_allocate(&made, g->ranks, g->ranks, count_grid_entries(g));
    if (rc != 0)
        return rc;
    for (size_t rank = 0; rank < g->ranks; rank++)
        made.row_start[rank + 1] = add_grid_row(g, rank, &made, made.row_start[rank]);
    *view = made;
    return 0;
}

int setmatch_cartesian(const size_t *dims, size_t ndims, setmatch_order order, matrix *view)
{
    struct grid g;
    int rc = grid_init(&g, dims, ndims, order);
    if (rc != 0)
        return rc;
    rc = build_grid_matrix(&g, view);
    free(g.stride);
    return rc;
}
