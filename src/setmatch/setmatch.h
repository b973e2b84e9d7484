/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SetMatch: which rank goes to which node, so that ranks that access neighbouring
 * regions of a file share a node.
 *
 * Source: Venkatesan, Anand, Gabriel, Subhlok, "Optimized Process Placement for
 * Collective I/O Operations", EuroMPI 2013, Algorithm 1; what differs from it, and
 * why, is in doc/setmatch.md.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef SETMATCH_SETMATCH_H
#define SETMATCH_SETMATCH_H

#include "matrix/matrix.h"

/* The default of the paper: a value counts when it is within 10 per cent of the largest. */
#define SETMATCH_DEFAULT_THRESHOLD 10

/* Places ranks 0..view->rows - 1 on `nodes` nodes, node n taking at most slots[n].
 *   view        square, values >= 0; used as V + transpose(V), the diagonal is ignored
 *   threshold   per cent, 0..100: v counts when v >= (1 - threshold / 100) * max and v > 0
 *   node_of_rank  view->rows entries, out: the node of each rank
 * Phases: make_sets and merge_sets (the connected components of the counted values);
 * match_sets (largest set first: into the free node whose free slots are the fewest
 * that suffice, the lower index on a tie; a set that fits nowhere fills the node with
 * most free slots with its first ranks in set order, and goes on with the rest).
 * Equal sets are taken in the order of their lowest ranks. What is left of a cut set is placed
 * before the next set. Set order is a walk along counted values that begins at the rank with the
 * fewest of them (an end of a path, a corner of a grid), the lowest rank on a tie, and goes depth
 * first, the lowest neighbour first. So a cut set is cut between neighbours in the file, and a
 * regular grid of two dimensions into chunks of file order.
 * Depends only on the values, not on how they are stored.
 * O(nnz + ranks * log(ranks) + (ranks + nodes) * log(nodes)); no recursion.
 * -EINVAL: not square, a negative value, a threshold out of range; -ENOSPC: fewer slots
 * than ranks; -ENOMEM. */
int setmatch_place(const matrix *view, const size_t *slots, size_t nodes,
                   unsigned threshold, size_t *node_of_rank);

/* The sets of the first two phases alone: set_of_rank[i] is the index of rank i's set,
 * sets numbered by their lowest rank; *sets their number. Errors as above. */
int setmatch_sets(const matrix *view, unsigned threshold, size_t *set_of_rank, size_t *sets);

/* Values of setmatch_cartesian: with a threshold below 90 the sets are lines along the innermost
 * dimension, from 90 on they are the planes of one outermost coordinate (the paper's sets). */
#define SETMATCH_CARTESIAN_INNERMOST 100
#define SETMATCH_CARTESIAN_BETWEEN 10
#define SETMATCH_CARTESIAN_OUTERMOST 1

/* The simplified matrix for a cartesian grid (C order: the last dimension runs fastest),
 * without any recording: ranks that are neighbours in file order along the innermost
 * dimension of extent > 1 and share the outermost coordinate get a large value, other
 * neighbours within the same outermost coordinate a smaller one, and ranks whose outermost
 * coordinates are neighbours the smallest. Sparse: O(ranks * ndims) entries.
 * -EINVAL: ndims is 0 or an extent is 0; -EOVERFLOW: the product of extents; -ENOMEM. */
int setmatch_cartesian(const size_t *dims, size_t ndims, matrix *view);

/* What a placement is worth: *inside and *total are the sums of V[i][j], i < j counted
 * once (V + transpose halved, rounded down), over pairs on one node and over all pairs; the
 * diagonal is ignored. -EINVAL: not square; -ERANGE: a sum beyond int64. */
int setmatch_weight(const matrix *view, const size_t *node_of_rank, int64_t *inside, int64_t *total);

#endif
