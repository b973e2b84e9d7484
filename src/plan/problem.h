/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Aggregator selection: the problem. Conventions: plan.h.
 */
#ifndef PLAN_PROBLEM_H
#define PLAN_PROBLEM_H

#include "matrix/matrix.h"
#include "topo/distances.h"

typedef struct plan_input {
    const matrix *requests; /* C, p x a: requests[k][j] = bytes of domain j that rank k accesses */
    const size_t *node_of_rank; /* p entries, each < topology->nodes */
    const topo *topology;
    size_t per_node;           /* maximum number of domains on one node; 0: no limit */
    const matrix *blocks;      /* contiguous blocks of domain j that rank k accesses, p x a; NULL: 1
                                  for each entry of requests that is not 0 */
    const matrix *node_bytes;  /* requests summed over the ranks of each node, topology->nodes x a,
                                  for incomplete `requests` (see below); NULL: they are complete */
    const matrix *node_blocks; /* the same of blocks or, without, of entries that are not 0 */
    const unsigned char *nearness; /* of each rank, how near it is to the network, more is nearer:
                                     of ranks of a node that cost a domain the same, tatp takes
                                     the nearest. NULL: all alike */
} plan_input;

/* Incomplete requests. With the sums of each node in node_bytes, `requests` need only the
 * per_node largest entries of each node and domain (all where per_node is 0), and plans have
 * the cost that they have with all entries: if a domain is assigned to another rank of its node,
 * one of the per_node best ranks is free, since the node owns at most per_node - 1 other domains.
 * Moved there, the domain costs the same or less, and no other domain moves. A strategy with
 * by_blocks needs the entries with the most blocks, in `requests` and in `blocks`, and node_blocks.
 * A missing entry counts as a rank that accesses none of the domain: the hop-bytes reported for an
 * assignment to that rank are too high. */

#endif
