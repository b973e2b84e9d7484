/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hops between the nodes of a job. Units and conventions: topo.h.
 */
#ifndef TOPO_DISTANCES_H
#define TOPO_DISTANCES_H

#include "matrix/matrix.h"

#define TOPO_SAME_NODE 1.0
/* Between any two nodes of a flat topology: up to a switch and down again. */
#define TOPO_OTHER_NODE 2.0

/* In topo.between: no route. Never between two nodes of the job. */
#define TOPO_UNREACHED UINT16_MAX

/* The links as a tree, for the load on each. Vertices 0 .. nodes - 1 are the nodes of the job, the
 * others switches or groups of switches that act as one, each after its children; the last one is
 * the root, its own parent. A message from n to m loads the links up from n to the lowest common
 * ancestor and down from there to m. */
typedef struct topo_tree {
    size_t vertices; /* 0: the links are not a tree */
    size_t *parent;
    size_t *width; /* cables between a vertex and its parent, at least 1; unused for the root */
} topo_tree;

/* Nodes at equal distances from all others form a node class, so that distances take classes *
 * classes numbers. `places` is the number of node classes; 0: a flat topology, without arrays. */
typedef struct topo {
    size_t nodes;
    size_t places;
    size_t *place_of_node; /* the class of each node, < places */
    uint16_t *between; /* between[p * places + q]: hops from a node of class p to another of q */
    topo_tree tree;
    const char *source; /* origin of the distances, for people; static */
} topo;

/* Links: those of the tree or, where there is none, one from each node to a single switch. */
static inline size_t topo_vertices(const topo *t)
{
    return t->tree.vertices > 0 ? t->tree.vertices : t->nodes + 1;
}

static inline size_t topo_parent(const topo *t, size_t v)
{
    return t->tree.vertices > 0 ? t->tree.parent[v] : t->nodes;
}

static inline double topo_cables(const topo *t, size_t v)
{
    return t->tree.vertices > 0 ? (double)t->tree.width[v] : 1.0;
}

/* Every node TOPO_OTHER_NODE from every other; allocates nothing. */
void topo_flat(topo *t, size_t nodes);

/* hops[n * nodes + m], 1 to TOPO_UNREACHED - 1, lead from node n to node m; the diagonal is not
 * used. -ENOMEM. Release with topo_release. */
int topo_from_hops(topo *t, size_t nodes, const uint16_t *hops);

/* Groups ranks into nodes, where each "node" of `ranks` is a rank: those TOPO_SAME_NODE from the
 * lowest of them share a node. Numbers the nodes in the order of their lowest ranks. Returns the
 * number of nodes. */
size_t topo_group_ranks(const topo *ranks, size_t *node_of_rank);

/* Turns hops between ranks into those between their nodes; node_of_rank[r] < nodes, and every node
 * has a rank. -EBADMSG: two ranks of a node are not TOPO_SAME_NODE apart, or differ in their hops
 * to or from a third; `error` names them. -ENOMEM. */
int topo_of_nodes(const topo *ranks, const size_t *node_of_rank, size_t nodes, topo *t,
                  matrix_error *error);

/* Frees the contents and leaves a flat topology of 0 nodes; safe on a zeroed one. */
void topo_release(topo *t);

/* Hops between two ranks on nodes n and m; same_rank: they are the same rank. */
double topo_hops(const topo *t, size_t n, size_t m, int same_rank);

/* Hierarchical groups of nodes. At each level, nodes within a number of hops of each other,
 * directly or through others, are a group. Level 0 has the nearest (nodes on one switch); each
 * further level joins groups of the previous one, and none has all nodes in one group. The group of
 * node n is
 * (*group_of_node)[level * nodes + n], an arbitrary number. No levels, and NULL, where all nodes
 * are equally far apart. -ENOMEM. The caller frees *group_of_node. */
int topo_levels(const topo *t, size_t *levels, size_t **group_of_node);

#endif
