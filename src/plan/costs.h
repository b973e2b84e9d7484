/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of assigning a domain to a node, and what it is computed from: the ranks of each node,
 * the node classes of the topology (topo/distances.h), C summed over the ranks of each node; and
 * the choice of nodes by it. For this folder only.
 */
#ifndef PLAN_COSTS_H
#define PLAN_COSTS_H

#include "base/groups.h"
#include "plan/plan.h"

/* What costs are made of. */
struct held {
    const matrix *by_rank; /* bytes, or the blocks that LATP counts */
    const matrix *by_node; /* the sums, if by_rank has the largest entries only; else NULL */
    int apart; /* all nodes are 1 apart, ranks of one node 0: the cost of a node is the bytes of the
                  domain that the node does not access; else as in the topology */
};

static inline struct held held_bytes(const plan_input *in)
{
    return (struct held){.by_rank = in->requests, .by_node = in->node_bytes};
}

/* A flat topology is one class. */
struct classes {
    size_t count;
    const size_t *of_node;
    struct base_groups nodes; /* of each class */
    const uint16_t *between;  /* of the topology: between[p * count + q]; NULL for a single class */
    double *within; /* within[p]: hops between two nodes of class p; `same` if it has one */
    double same;    /* hops between two ranks of one node */
};

/* Memory is the arena's. apart: as in struct held. -ENOMEM. */
int find_classes(struct base_arena *arena, const topo *t, int apart, struct classes *c);

/* Hops from a node of class p to another one of q. The diagonal of the topology is undefined where
 * a class has one node. */
static inline float hops_of_classes(const struct classes *c, size_t p, size_t q)
{
    return q == p ? (float)c->within[p] : c->between[p * c->count + q];
}

struct costs {
    struct base_arena arena;  /* holds all that follows; its users may add to it */
    struct base_groups ranks; /* of each node */
    size_t *capacity;         /* domains that each node can own: its ranks, limited by per_node */
    struct classes classes;
    matrix on_nodes; /* domains x nodes: bytes of the domain that the ranks of the node access */
    double *most;    /* of each of its entries: the maximum of one of these ranks */
    double own; /* saving per byte of `most`, with the best rank, unless the caller changes it */
    double *at_classes; /* domains x classes, see costs_at_classes */
};

/* Up to O(nnz + p + classes * classes * domains) time, less where few classes access a domain.
 * Refers to the input. -ERANGE: a sum is beyond int64; -ENOMEM. Release with costs_release, also
 * after an error. */
int costs_init(struct costs *costs, const plan_input *in, const struct held *held);
void costs_release(struct costs *costs);

/* For each class the hop-bytes of domain j on a node of the class that accesses none of it. */
static inline const double *costs_at_classes(const struct costs *costs, size_t j)
{
    return costs->at_classes + j * costs->classes.count;
}

/* The same on the node of entry e of on_nodes. */
static inline double cost_of_entry(const struct costs *costs, const double *at_class, size_t e)
{
    const struct classes *classes = &costs->classes;
    size_t p = classes->of_node[costs->on_nodes.col[e]];
    return at_class[p] - (classes->within[p] - classes->same) * (double)costs->on_nodes.value[e] -
           costs->own * costs->most[e];
}

/* The cost of domain j on each node. */
void costs_on_nodes(const struct costs *costs, size_t j, double *cost);

/* Assigns domains to nodes: minimum sum of costs, within the capacity of each node, as though each
 * domain had the best rank of its node. -EINVAL: less capacity than domains; -ERANGE; -ENOMEM. */
int choose_nodes(struct costs *costs, size_t *node_of_domain);

#endif
