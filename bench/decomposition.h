/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who accesses what of a file: an array cut into cells by cuts through whole dimensions, each cell
 * owned by one rank. Every byte of the file belongs to exactly one rank. Needs no MPI, so that
 * patterns of any size are generated without data.
 *
 * Functions that make a decomposition return NULL, or a sentence on what is wrong and make nothing;
 * the others 0 or a negative errno value. Release with decomposition_release.
 */
#ifndef BENCH_DECOMPOSITION_H
#define BENCH_DECOMPOSITION_H

#include <stdbool.h>

#include "access/access.h"
#include "matrix/matrix.h"

#define DECOMPOSITION_DIMS 4

/* Dimensions slowest first, cells in C order. */
typedef struct decomposition {
    int dims;
    int64_t size[DECOMPOSITION_DIMS]; /* elements */
    int64_t cells[DECOMPOSITION_DIMS];
    int64_t *cut[DECOMPOSITION_DIMS]; /* cut[d][i]: where cell i begins; cells[d] + 1 entries */
    size_t *owner;                    /* of each cell: a rank */
    size_t ranks;
    size_t *first, *cell; /* cells of rank r, ascending: cell[first[r]] .. cell[first[r + 1] - 1] */
    int64_t element, bytes; /* of one element; of the whole file */
} decomposition;

/* A part of an array. */
typedef struct array_box {
    int64_t start[DECOMPOSITION_DIMS], count[DECOMPOSITION_DIMS]; /* elements */
} array_box;

/* Of d's dims, size, cells and element, which are set before: one cell a rank, ranks in C order,
 * cells as equal as they can be: cubes, lattices, tiles, records. */
const char *decomposition_grid(decomposition *d);

/* NAS BT-IO's block-tridiagonal multipartition: a cube of n points in each dimension, cut into q *
 * q * q cells for q * q ranks, of which each has one cell in each slice, on a diagonal. */
const char *decomposition_multipartition(decomposition *d, int64_t n, size_t ranks,
                                         int64_t element);

/* Particles: `variables` rows, in each of them count[r] elements of rank r after those of rank r
 * - 1. */
const char *decomposition_unequal(decomposition *d, const int64_t *count, size_t ranks,
                                  int64_t variables, int64_t element);

/* What rank r owned, rank to[r] owns. -ENOMEM. */
int decomposition_renumber(decomposition *d, const size_t *to);

void decomposition_release(decomposition *d);

array_box decomposition_box(const decomposition *d, size_t cell);

/* The box as bytes of an array of that size: appended, in ascending order. */
int array_box_runs(const decomposition *d, const int64_t *size, const array_box *box,
                   access_list *list);

/* All that a rank accesses, ordered. */
int decomposition_runs(const decomposition *d, size_t rank, access_list *list);

/* How often two ranks access regions that follow each other, as a recorder counts it. Takes time by
 * cells, not by bytes. Release with matrix_release. */
int decomposition_view(const decomposition *d, matrix *view);

/* Bytes of each rank (row) in each unit (column) of `unit` bytes of the file. Release with
 * matrix_release. */
int decomposition_profile(const decomposition *d, int64_t unit, matrix *profile);

/* As MPI_Dims_create: `ranks` in `dims` factors, as equal as they can be, descending. */
void balanced_grid(size_t ranks, int dims, int64_t *grid);

#endif
