/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement near storage servers: the sum of weights times hops between ranks, as for a network of
 * known hops, and of weighted bytes times hops between ranks and servers, 0 on one node.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef SETMATCH_NEAR_H
#define SETMATCH_NEAR_H

#include "setmatch/input.h"

/* How a placement is improved. */
typedef enum setmatch_near {
    SETMATCH_NEAR_NODES,   /* nodes change places with all their ranks */
    SETMATCH_NEAR_RANKS,   /* then ranks do */
    SETMATCH_NEAR_SERVERS, /* ranks go to the nodes of their servers, then change places */
    SETMATCH_NEAR_WAYS
} setmatch_near;

/* Improves a placement of the input's ranks on its nodes. NODES gives the least sum that any change
 * of places has where all nodes are equally far apart and at most SETMATCH_NEAR_EXACT; the other
 * ways search. Without hops in `servers`, nodes are equally far apart. 1: this way would take too
 * much memory, and nothing has changed. -EINVAL: a wrong shape; else as setmatch_method_fn. */
int setmatch_place_near(const setmatch_input *input, const setmatch_servers *servers,
                        setmatch_near way, size_t *node_of_rank);

/* Nodes with ranks times nodes with slots. */
#define SETMATCH_NEAR_EXACT ((size_t)1 << 22)

/* The sum. Errors as above. */
int setmatch_near_cost(const setmatch_input *input, const setmatch_servers *servers,
                       const size_t *node_of_rank, double *cost);

#endif
