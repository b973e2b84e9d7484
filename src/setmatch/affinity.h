/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The affinity of ranks, or of sets of ranks: an undirected weighted graph. Private to this folder.
 */
#ifndef SETMATCH_AFFINITY_H
#define SETMATCH_AFFINITY_H

#include "base/arena.h"
#include "matrix/matrix.h"

/* A vertex. Half the width of a size_t, since large graphs are limited by memory bandwidth. */
typedef uint32_t vertex;

#define NO_VERTEX UINT32_MAX

/* Arcs start[v] .. start[v + 1] - 1 lead from v to other[] with weight[] > 0. Each edge is present
 * in both directions; no vertex is adjacent to itself. Vertex v represents size[v] ranks. The sum
 * of all weights is below 2^62, so that no sum of weights or gains overflows. */
typedef struct affinity {
    size_t vertices;
    size_t *start;
    vertex *other;
    int64_t *weight;
    vertex *size;
    struct base_arena arena; /* of all arrays */
} affinity;

/* Allocates a graph of that shape, filled with zeros. -ENOMEM. */
int affinity_allocate(affinity *g, size_t vertices, size_t arcs);

/* One vertex per rank from V + transpose(V) without the diagonal. Values are halved until their sum
 * is below 2^62. -EINVAL: not square or a negative value; -EOVERFLOW: too many ranks for a vertex;
 * -ENOMEM. */
int affinity_from_view(affinity *g, const matrix *view);

/* The graph of `count` vertices in which v becomes to[v]. Weights of parallel arcs are added.
 * -ENOMEM. */
int affinity_contract(affinity *coarse, const affinity *fine, const vertex *to, size_t count);

/* The subgraph of `count` vertices. to[] is scratch memory: an entry for each vertex of `whole`,
 * NO_VERTEX before and after. O(arcs of the members). -ENOMEM. */
int affinity_extract(affinity *part, const affinity *whole, const vertex *member, size_t count,
                     vertex *to);

/* The number of ranks of all vertices. */
uint64_t affinity_ranks(const affinity *g);

/* The sum of the weights of edges between different nodes. */
int64_t affinity_cut(const affinity *g, const size_t *node);

void affinity_release(affinity *g);

#endif
