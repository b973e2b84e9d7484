/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What binds ranks, or groups of ranks, together: an undirected weighted graph. Private to
 * this folder.
 */
#ifndef SETMATCH_AFFINITY_H
#define SETMATCH_AFFINITY_H

#include "matrix/matrix.h"

/* A vertex. Half the width of a size_t: at a million ranks the time goes into memory. */
typedef uint32_t vertex;

#define NO_VERTEX UINT32_MAX

/* Arcs start[v] .. start[v + 1] - 1 lead from v to other[] with weight[] > 0; each edge is there
 * in both directions, none from a vertex to itself. size[v] ranks stand in v. The sum of all
 * weights is below 2^62, so that no sum of weights or gains overflows. */
typedef struct affinity {
    size_t vertices;
    size_t *start;
    vertex *other;
    int64_t *weight;
    vertex *size;
} affinity;

/* Takes memory for that shape, filled with zeros. -ENOMEM. */
int affinity_allocate(affinity *g, size_t vertices, size_t arcs);

/* One vertex a rank from V + transpose(V), the diagonal ignored. Values are halved as often as
 * their sum needs. -EINVAL: not square or a negative value; -EOVERFLOW: too many ranks for a
 * vertex; -ENOMEM. */
int affinity_from_view(affinity *g, const matrix *view);

/* The graph of `count` vertices in which v has become to[v]; a vertex with NO_VERTEX is left
 * out. Weights between the same two are added. -ENOMEM. */
int affinity_contract(affinity *coarse, const affinity *fine, const vertex *to, size_t count);

/* The graph of `count` vertices of another one; arcs to others are left out. to[] has an entry for
 * each vertex of `whole`, NO_VERTEX before and after. O(arcs of the members). -ENOMEM. */
int affinity_extract(affinity *part, const affinity *whole, const vertex *member, size_t count,
                     vertex *to);

/* The sum of the weights between vertices on different nodes, each edge once. */
int64_t affinity_cut(const affinity *g, const size_t *node);

void affinity_release(affinity *g);

#endif
