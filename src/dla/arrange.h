/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks inside a node: which of the places, sets of processors to which the launcher binds the
 * ranks of a node, each of them gets, so that ranks with much weight between them are near each
 * other.
 */
#ifndef DLA_ARRANGE_H
#define DLA_ARRANGE_H

#include <stddef.h>

#include "matrix/matrix.h"

/* Place i is the one that the launcher gives to rank[i]. */
typedef struct dla_bound_ranks {
    size_t count;
    const size_t *rank; /* ascending */
    char **locality; /* of each place, as topo_locality_level reads it; NULL if it is not bound */
} dla_bound_ranks;

/* Sums over pairs of ranks of one node. */
typedef struct dla_inside {
    double weight;
    double bound, arranged; /* weight times hops: as the launcher binds, and as arranged */
} dla_inside;

/* Sets place[i] to the place of rank[i]: as the launcher's, i, unless another arrangement has less
 * weight times hops. The weights are those of the view, the hops those of topo/local.h. Adds the
 * node to *sum. A node of one rank, or of more than DLA_MOST_ARRANGED, stays as it is and is not
 * added. Returns 0 or a negative errno value. */
int dla_arrange(const matrix *view, const dla_bound_ranks *node, size_t *place, dla_inside *sum);

#define DLA_MOST_ARRANGED 1024

#define DLA_INSIDE_SIZE 160

/* Mean hops before and after, as text: "mean hops between neighbours ...". */
void dla_inside_format(const dla_inside *sum, char text[DLA_INSIDE_SIZE]);

#endif
