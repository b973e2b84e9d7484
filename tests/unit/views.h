/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Access patterns by name, as view matrices and profiles. Ends the program when a name is wrong or
 * memory runs out.
 *
 *   array:AxB[xC...]:axb[xc...]  blocks of one array in C order; a, b, c: elements of a block
 *   mesh:AxB[xC...]:uxv[xw...]   neighbours in each dimension, bound by u, v, w (no file behind it)
 *
 * In front of a name, "shuffled-" numbers the ranks at random, and "reversed-" with the first
 * dimension running fastest.
 */
#ifndef TESTS_VIEWS_H
#define TESTS_VIEWS_H

#include "matrix/matrix.h"

/* The view matrix that a recorder would have written. Release with matrix_release. */
void pattern_view(const char *name, matrix *view);

/* Bytes of each rank (row) in each unit (column) of `unit` bytes of the file of an array. */
void pattern_profile(const char *name, size_t element, size_t unit, matrix *profile);

#endif
