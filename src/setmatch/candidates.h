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
#include "setmatch/input.h"

/* With more ranks refinement is less thorough. */
enum { MANY_RANKS = 2000 };

/* The nodes on which ranks are placed. */
typedef struct allocation {
    const size_t *slots; /* by node; borrowed */
    size_t listed;       /* number of nodes */
    size_t *by_size;     /* nodes with slots, most slots first, the lower index on a tie */
    size_t nodes;        /* number of nodes with slots */
} allocation;

/* Borrows the slots. -ENOMEM. */
int allocation_init(allocation *s, const size_t *slots, size_t nodes);

void allocation_release(allocation *s);

/* How one of several bisections differs from the others. */
typedef struct variant {
    /* The nodes to use, the largest first: the fewest that suffice, twice as many if there are so
     * many, or any number between. */
    enum { FEWEST_NODES, MOST_NODES, ANY_NODES } nodes;
    /* Where nodes are divided: in the middle, or by the least or greatest prime factor of their
     * number. If slots differ, by half the slots or at random instead of by a factor. */
    enum { AT_MIDDLE, BY_LEAST_FACTOR, BY_GREATEST_FACTOR } halves;
    size_t seed; /* of the order in which vertices are visited, and of random choices */
} variant;

/* Variant k; the first one is the plain one. */
variant variant_of(size_t k);

/* The number of nodes to use; all must suffice. */
size_t nodes_to_use(const allocation *s, size_t ranks, variant v);

/* The signature of all methods. */
typedef int (*place_fn)(const affinity *ranks, const allocation *s, size_t *node);

/* The paper's method: see setmatch_paper. */
int place_by_sets(const affinity *ranks, const allocation *s, size_t *node);

/* Ranks in order on nodes in order; one rank to each node in turn. */
int place_by_slot(const affinity *ranks, const allocation *s, size_t *node);
int place_by_node(const affinity *ranks, const allocation *s, size_t *node);

/* Multilevel recursive bisection of the ranks together with the nodes. */
int place_bisected(const affinity *ranks, const allocation *s, size_t *node);

/* A variant of place_bisected, which is the first one. Adds the number of visited vertices to
 * *work. */
int bisect_ranks(const affinity *ranks, const allocation *s, variant v, size_t *node, size_t *work);

/* Refines pairs of nodes: moves groups of ranks that share a node, the largest first, and finally
 * single ranks. Of many ranks, small groups only where large ones gained. Another seed forms other
 * groups. Never increases the cut. Adds the number of visited ranks to *work. */
int refine_multilevel(const affinity *ranks, const allocation *s, size_t seed, size_t *node,
                      size_t *work);

/* The least cut of SetMatch, by slot and bisection. If `refine` is set, these are refined, of many
 * ranks only the best of them, and compared with as many variants as `work` visits of vertices
 * allow. */
int place_best(const affinity *ranks, const allocation *s, bool refine, size_t work, size_t *node);

#endif
