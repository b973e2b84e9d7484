/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods of placement by a graph of ranks, and refinement. Private to this folder.
 *
 * Each sets node[], the node of every rank; no node exceeds its slots. The slots must suffice.
 * Equal input gives equal output. Each returns 0 or -ENOMEM.
 */
#ifndef SETMATCH_CANDIDATES_H
#define SETMATCH_CANDIDATES_H

#include <stdbool.h>

#include "setmatch/affinity.h"

/* The nodes on which ranks are placed. */
typedef struct site {
    const size_t *slots; /* by node; borrowed */
    size_t listed;       /* number of nodes */
    size_t *by_size;     /* nodes with slots, most slots first, the lower index on a tie */
    size_t nodes;        /* number of nodes with slots */
} site;

/* Borrows the slots. -ENOMEM. */
int site_init(site *s, const size_t *slots, size_t nodes);

void site_release(site *s);

/* Whether there are slots for this number of ranks. */
int site_suffices(const size_t *slots, size_t nodes, size_t ranks);

/* The signature of all methods. threshold: per cent; variant (0, 1, ...): selects how ties are
 * broken. Methods ignore those that do not apply. */
typedef int (*place_fn)(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                        size_t *node);

/* The paper's method: see setmatch_place. */
int place_by_sets(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                  size_t *node);

/* Ranks in order on nodes in order; one rank to each node in turn. */
int place_by_slot(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                  size_t *node);
int place_by_node(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                  size_t *node);

/* SetMatch, repeated: the three phases on the sets of the level before, with the threshold (per
 * cent) relative to the largest remaining weight. O(arcs * log(arcs)). */
int place_levelled(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                   size_t *node);

/* Merges the pairs of sets of greatest weight, as long as a node can hold them, and packs the sets
 * by weight to nodes. */
int place_agglomerative(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                        size_t *node);

/* Multilevel recursive bisection of the ranks together with the nodes. */
int place_bisected(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                   size_t *node);

/* Refines pairs of nodes, for `rounds` rounds or until no pair gains. Never increases the cut. Adds
 * the number of visited ranks to *work. touched[n]: only pairs with such a node are refined at
 * first, others after one of their nodes has changed; NULL: all. */
int refine_pairs(const affinity *ranks, const site *s, size_t rounds, const bool *touched,
                 size_t *node, size_t *work);

/* Some hundred thousand random swaps in search of a smaller cut: for few ranks. Never increases the
 * cut. */
int anneal_placement(const affinity *ranks, const site *s, size_t *node);

/* The least cut of all methods, the best placements refined if `refine` is set. */
int place_best(const affinity *ranks, const site *s, unsigned threshold, bool refine, size_t *node);

/* refine_pairs with a number of rounds that depends on the number of ranks. */
int refine_placement(const affinity *ranks, const site *s, size_t *node, size_t *work);

#endif
