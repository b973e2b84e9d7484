/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A placement that changes by swaps of vertices (ranks, or groups of ranks), or by moves to free
 * places, with all that annealing asks of it. Private to this folder.
 */
#ifndef SETMATCH_ANNEALING_H
#define SETMATCH_ANNEALING_H

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/chance.h"

/* The weight between a free place and its own node: no swap takes it. Gains are above its negative.
 */
enum { ANNEALING_NEVER = 1 << 30 };

/* Places are looked at by as many at a time. */
enum { ANNEALING_LANES = 8 };

/* Work in parts of a visit. */
enum { ANNEALING_PARTS = 64 };

/* Only which ranks share a node counts, not which node that is. So the nodes with ranks, numbered
 * consecutively, are anonymous, and may give each other ranks in any number: in the end the one
 * with most ranks becomes the one with most slots, and so on. Thus the fewest ranks exceed the
 * slots: the sum of the positive ones of above[]. A node has more places than ranks, to which
 * others may come. */
typedef struct annealing {
    struct base_arena arena;
    chance chance;
    const affinity *ranks;
    size_t nodes, places;
    size_t all_ranks;
    bool grouped; /* there are vertices of several ranks */
    bool strict;  /* no ranks are ever beyond the slots */
    const site *site;
    size_t *home;    /* by number: the node, as of the last annealing_copy */
    size_t *number;  /* by node: number + 1; 0: none */
    size_t *first;   /* by number, and one more: the first place of the node */
    vertex *free;    /* by number, from first[]: the free places of the node */
    vertex *frees;   /* by number: how many these are */
    vertex *member;  /* by place: the vertex; NO_VERTEX: none */
    int32_t *size;   /* by place: of the vertex there, 0: none */
    int32_t *count;  /* by number: the ranks on the node */
    int32_t *above;  /* by k: nodes with k ranks or more, less nodes with k slots or more */
    vertex *larger;  /* by k: nodes with more than k ranks, as of the last annealing_copy */
    int64_t excess;  /* ranks beyond the slots of all nodes */
    int64_t penalty; /* of each of these */
    vertex *place;   /* by vertex */
    vertex *node;    /* by vertex: the number of its node */
    int32_t *value;  /* by arc: the weight, small enough for sums and gains */
    int32_t *weight; /* weight[n * places + p]: of the arcs of the vertex in place p to node n */

    vertex (*end)[2]; /* by edge: its vertices */
    vertex *edge;     /* by arc */
    vertex *listed;   /* all edges: those between nodes, then the others, in no order */
    vertex *at;       /* by edge: its index there */
    size_t edges;     /* in all */
    size_t cuts;      /* the number of edges between nodes */
    size_t work;      /* in parts */
} annealing;

/* 1 if that takes too much memory, or most of the work of the run; -ENOMEM. Release it in any case.
 */
int annealing_init(annealing *a, const affinity *ranks, const site *s, const annealing_run *run,
                   const size_t *node);

void annealing_release(annealing *a);

/* Moves v to another node, and w, on that node, to where v was. NO_VERTEX: none, and there is a
 * free place. */
void annealing_swap(annealing *a, vertex v, size_t to, vertex w);

/* How many ranks, and any fewer, a node of `from` ranks can give to one of `to` ranks without ranks
 * beyond the slots, if there are none now. */
int32_t annealing_most_given(const annealing *a, int32_t from, int32_t to);

/* Sets node[] to the placement, where no rank may be beyond the slots. */
void annealing_copy(annealing *a, size_t *node);

static inline int32_t *annealing_weight(const annealing *a, size_t node, size_t place)
{
    return a->weight + node * a->places + place;
}

/* By how much the excess grows if a node of `from` ranks gives one to a node of `to` ranks. */
static inline int32_t annealing_excess(const annealing *a, int32_t from, int32_t to)
{
    return from == to + 1 ? 0 : (a->above[to + 1] >= 0) - (a->above[from] > 0);
}

/* Of moving what is in the place from one node to another. */
static inline int32_t annealing_gain(const annealing *a, size_t place, size_t from, size_t to)
{
    return *annealing_weight(a, to, place) - *annealing_weight(a, from, place);
}

#endif
