/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways to a placement by a graph of ranks, and its refinement. Private to this folder.
 *
 * Each fills node[], the node of every rank, with no node over its slots. There are enough slots.
 * Equal input gives equal output. Each returns 0 or -ENOMEM.
 */
#ifndef SETMATCH_CANDIDATES_H
#define SETMATCH_CANDIDATES_H

#include <stdbool.h>

#include "setmatch/affinity.h"

/* Nodes with slots, the one with most slots first, the lower index on a tie. */
typedef struct site {
    const size_t *slots; /* by index */
    size_t *by_size;     /* indices; `nodes` of them */
    size_t nodes;        /* with at least one slot */
    size_t listed;       /* with or without */
} site;

/* Borrows the slots. -ENOMEM. */
int site_init(site *s, const size_t *slots, size_t nodes);

void site_release(site *s);

/* Whether there are slots for so many ranks. */
int site_suffices(const size_t *slots, size_t nodes, size_t ranks);

/* The paper's method: see setmatch_place. */
int place_by_sets(const affinity *ranks, const site *s, unsigned threshold, size_t *node);

/* Ranks in order on nodes in order. */
int place_by_slot(const affinity *ranks, const site *s, size_t *node);

/* SetMatch, level after level: the three phases with the threshold (per cent) relative to the
 * largest weight that is left, on the sets of the level before. O(arcs * log(arcs)). */
int place_levelled(const affinity *ranks, const site *s, unsigned threshold, size_t *node);

/* Both of these break ties another way in each turn (0, 1, ...).
 *
 * Merges what is bound most, as long as a node can hold it, and packs the rest by what binds it. */
int place_agglomerative(const affinity *ranks, const site *s, size_t turn, size_t *node);

/* Multilevel bisection, the nodes divided along with the ranks. */
int place_bisected(const affinity *ranks, const site *s, size_t turn, size_t *node);

/* Refines pairs of nodes until `rounds` are done or nothing is gained. Never makes the cut larger.
 * Adds to *work how many ranks were looked at. touched[n]: pairs of node n come first, others only
 * after one of theirs has gained; NULL: all. */
int refine_pairs(const affinity *ranks, const site *s, size_t rounds, const bool *touched,
                 size_t *node, size_t *work);

/* Swaps ranks at random in search of a smaller cut, some hundred thousand times: for few ranks.
 * Never makes the cut larger. */
int anneal_placement(const affinity *ranks, const site *s, size_t *node);

/* The least cut of all of them, the best refined if asked for. */
int place_best(const affinity *ranks, const site *s, unsigned threshold, bool refine, size_t *node);

/* Refines with as many rounds as so many ranks are worth. Adds to *work as refine_pairs. */
int refine_placement(const affinity *ranks, const site *s, size_t *node, size_t *work);

#endif
