/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of assigning a domain to a node, and what it is computed from: the ranks of each node,
 * the node classes of the topology (topo/distances.h), C summed over the ranks of each node. For
 * this folder only.
 */
#ifndef PLAN_COSTS_H
#define PLAN_COSTS_H

#include "plan/input.h"

/* What costs are made of. */
struct held {
    const matrix *by_rank; /* bytes, or the blocks that LATP counts */
    const matrix *by_node; /* the sums, if by_rank has the largest entries only; else NULL */
    int count_entries;     /* each entry of by_rank that is not 0 counts 1 */
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
    struct groups nodes;     /* of each class */
    const uint16_t *between; /* of the topology: between[p * count + q]; NULL for a single class */
    double *within; /* within[p]: hops between two nodes of class p; `same` if it has one */
    double same;    /* hops between two ranks of one node */
};

/* Domain j: entries start[j] .. start[j + 1] - 1, nodes ascending, each node once. */
struct sums {
    size_t nodes, domains;
    size_t *start;
    size_t *node;
    double *bytes; /* of the domain, accessed by the ranks of the node */
    double *most;  /* maximum of one of these ranks */
};

struct costs {
    struct base_arena arena; /* holds all that follows; its users may add to it */
    struct groups ranks;     /* of each node */
    size_t *capacity;        /* domains that each node can own: its ranks, limited by per_node */
    struct classes classes;
    struct sums sums;
    double own; /* saving per byte of `most`, with the best rank, unless the caller changes it */
    double *at_classes; /* domains x classes, see costs_at_classes */
};

/* Up to O(nnz + p + classes * classes * domains) time, less where few classes access a domain.
 * Refers to the input. -EINVAL: a rank's node is out of range, or sums by node have the wrong
 * shape; -ENOMEM. Release with costs_release, also after an error. */
int costs_init(struct costs *costs, const plan_input *in, const struct held *held);
void costs_release(struct costs *costs);

/* In O(nnz + p + nodes + a) time, in the arena. -ENOMEM. */
int sums_of_ranks(struct base_arena *arena, const struct held *held, const struct groups *ranks,
                  struct sums *sums);

/* For each class the hop-bytes of domain j on a node of the class that accesses none of it. */
static inline const double *costs_at_classes(const struct costs *costs, size_t j)
{
    return costs->at_classes + j * costs->classes.count;
}

/* The same on the node of entry e of the sums. */
static inline double cost_of_entry(const struct costs *costs, const double *at_class, size_t e)
{
    const struct classes *classes = &costs->classes;
    size_t p = classes->of_node[costs->sums.node[e]];
    return at_class[p] - (classes->within[p] - classes->same) * costs->sums.bytes[e] -
           costs->own * costs->sums.most[e];
}

/* The cost of domain j on each node. */
void costs_on_nodes(const struct costs *costs, size_t j, double *cost);

#endif
