/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures of the quality of a placement.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef SETMATCH_QUALITY_H
#define SETMATCH_QUALITY_H

#include "setmatch/input.h"

/* The weight of a pair of ranks i < j is V[i][j] in a symmetric view, which contains each weight
 * twice, and V[i][j] + V[j][i] in any other, as one of a single triangle. *inside and *total: the
 * weight of the pairs on one node, and of all. -ERANGE: a sum beyond int64. */
int setmatch_weight(const matrix *view, const size_t *node_of_rank, int64_t *inside,
                    int64_t *total);

/* The paper's objective, smaller is better: the sum of weight / P over all pairs of ranks, P being
 * the bandwidth between the two. Uses view, nodes and network of the input. */
double setmatch_cost(const setmatch_input *input, const size_t *node_of_rank);

/* The co-access matrix C * transpose(C) with each bin's products divided by the bin's bytes: the
 * bytes that two ranks have in common, rounded down, of a bin at most INT64_MAX / 64; the upper
 * triangle. In a bin of more than 64 ranks each rank is paired with the next 32 only, ranks / 64
 * times. -ERANGE; -ENOMEM. Release with matrix_release. */
int setmatch_coaccess(const setmatch_profile *profile, matrix *coaccess);

#endif
