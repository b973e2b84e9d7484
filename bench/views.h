/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Access patterns of parallel programs, by name, as view matrices and profiles: for placement
 * benchmarks and tests. Ends the program when a name is wrong or memory runs out.
 *
 *   array:AxB[xC...]:axb[xc...]  blocks of one array in C order; a, b, c: rows of a block by
 * dimension bt:QxN                       BT-IO's diagonal multipartition: Q*Q ranks, an array of
 * N^3 mesh:AxB[xC...]:uxv[xw...]   neighbours in each dimension, bound by u, v, w (no file behind
 * it) torus:AxB[xC...]:uxv[xw...]  the same, closed to rings random:PxD                   P ranks,
 * D neighbours each at random, values of 1 to 1000 clusters:PxD                 the same with most
 * neighbours near, in groups of uneven size uneven:P                     four calls in which some
 * ranks write, in an order that differs blocks:P                     a contiguous block of 1 to 100
 * records a rank, ranks mixed
 *
 * In front of a name, "shuffled-" numbers the ranks at random, "reversed-" with the first dimension
 * running fastest (array, mesh and torus only), and "noisy-" adds weak values between any ranks.
 */
#ifndef BENCH_VIEWS_H
#define BENCH_VIEWS_H

#include "matrix/matrix.h"

/* The view matrix that a recorder would have written. Release with matrix_release. */
void pattern_view(const char *name, matrix *view);

/* Bytes of each rank (row) in each unit (column) of `unit` bytes of the file, for the patterns
 * array (with elements of `element` bytes along the last dimension), bt and blocks (records of
 * `element` bytes). */
void pattern_profile(const char *name, size_t element, size_t unit, matrix *profile);

#endif
