/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SetMatch: placement of ranks on nodes, so that ranks that access neighbouring regions of a file
 * share a node.
 *
 * Source: Venkatesan, Anand, Gabriel, Subhlok, "Optimized Process Placement for Collective I/O
 * Operations", EuroMPI 2013, Algorithm 1; doc/papers.md has the differences.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef SETMATCH_SETMATCH_H
#define SETMATCH_SETMATCH_H

#include "setmatch/cartesian.h"
#include "setmatch/input.h"
#include "setmatch/quality.h"

/* A method sets node_of_rank, an entry for each row of the view. No node gets more ranks than
 * slots. Equal input gives equal output, however a matrix is stored.
 * -EINVAL: the view is not square or has a negative value; -ENOSPC: fewer slots than ranks;
 * -EOVERFLOW: 2^32 - 1 ranks or nodes or more; -ENOMEM. Only auto uses profile and network;
 * -ERANGE: a load, or a sum of bytes that are on the nodes of their domains. */
typedef int (*setmatch_method_fn)(const setmatch_input *input, size_t *node_of_rank);

typedef struct setmatch_method {
    const char *name;
    setmatch_method_fn place;
    const char *note; /* one line for help texts */
} setmatch_method;

/* The methods, terminated by an entry whose name is NULL; the first is the default. */
extern const setmatch_method setmatch_methods[];

/* auto: the least cut of setmatch, byslot and bisections, which are refined if `refine` is set:
 * never a larger cut than that of the two without it. With a network, ranks are divided among the
 * groups of the last level first, then among the groups in each, and so on down to nodes; never a
 * larger setmatch_cost than that of the two. With a profile, the placement by the view competes
 * with placements by the co-access matrix (fitted domains) and by a transportation problem (even
 * ones), by the `load` of the input: without one, never more bytes cross than with the placement by
 * the view. Cuts are exact where the values and their number add up to less than 2^61; else values
 * are halved until they do, but none to 0. */
int setmatch_auto(const setmatch_input *input, size_t *node_of_rank);

/* The paper's method, then refinement if set. Uses V + transpose(V) without the diagonal; a value
 * counts if it is within 10 per cent of the largest one, the paper's default.
 * Phases: make_sets and merge_sets (the connected components of the counted values); match_sets
 * (the largest set first, on the node with the fewest sufficient free slots, the lower index on a
 * tie; a set that fits no node fills the node with most free slots with its first ranks in set
 * order, and continues with the rest).
 * Ties: equal sets are placed in the order of their lowest ranks. The rest of a split set is placed
 * before the next set. Set order is a depth-first traversal along counted values, the lowest
 * neighbour first, from the rank with the fewest of them (an end of a path, a corner of a grid),
 * the lowest rank on a tie. So a split set is split between neighbours in the file, and a regular
 * two-dimensional grid into chunks of file order. */
int setmatch_paper(const setmatch_input *input, size_t *node_of_rank);

/* Multilevel recursive bisection. */
int setmatch_bisection(const setmatch_input *input, size_t *node_of_rank);

/* Stock policies, for comparison, without refinement: nodes filled in order; one rank to each node
 * in turn. */
int setmatch_byslot(const setmatch_input *input, size_t *node_of_rank);
int setmatch_bynode(const setmatch_input *input, size_t *node_of_rank);

#endif
