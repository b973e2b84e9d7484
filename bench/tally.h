/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes of each rank (row) in each part of the file (column). Functions add to builders whose shape
 * is set, and return 0 or a negative errno value.
 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

#include "decomposition.h"

/* The array begins at byte `base`. Part j is [bound[j], bound[j + 1]); `blocks` counts contiguous
 * blocks in each part, or is NULL. */
int add_parts(const decomposition *d, int64_t base, const int64_t *bound, size_t parts,
              matrix_builder *bytes, matrix_builder *blocks);

/* Parts of `unit` bytes each. */
int add_units(const decomposition *d, int64_t base, int64_t unit, matrix_builder *bytes);

/* From ranks x units to units x nodes. Release with matrix_release. */
int units_by_node(const matrix *units, const size_t *node_of_rank, size_t nodes, matrix *bytes);

/* How many units hold so many bytes, at least one. */
size_t units_of(int64_t bytes, int64_t unit);

#endif
