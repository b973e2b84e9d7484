/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nodes that have free slots, ordered by number of free slots, then by index: a treap whose
 * priorities are a hash of the index. Private to this folder.
 */
#ifndef SETMATCH_FREE_NODES_H
#define SETMATCH_FREE_NODES_H

#include "base/arena.h"

#define FREE_NODES_NONE ((size_t)-1)

/* Of each node; left and right are nodes or FREE_NODES_NONE. */
typedef struct free_node {
    size_t free, left, right;
} free_node;

typedef struct free_nodes {
    free_node *node;
    size_t nodes, root;
} free_nodes;

/* Every node with its slots. The arena owns the memory. -ENOMEM. */
int free_nodes_init(free_nodes *f, struct base_arena *arena, const size_t *slots, size_t nodes);

/* The node with the fewest free slots that are at least `count` (> 0), the lowest index on a tie;
 * FREE_NODES_NONE: there is no such node. */
size_t free_nodes_fewest(const free_nodes *f, size_t count);

/* The node with most free slots, the lowest index on a tie; FREE_NODES_NONE when all are full. */
size_t free_nodes_most(const free_nodes *f);

/* Occupies `count` of the node's free slots. */
void free_nodes_occupy(free_nodes *f, size_t node, size_t count);

#endif
