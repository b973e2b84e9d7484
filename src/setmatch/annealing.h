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

/* Nodes with ranks are numbered consecutively; the others take no part. A node has a place for each
 * slot and some more, since ranks may exceed its slots for a while. */
typedef struct annealing {
    struct base_arena arena;
    chance chance;
    const affinity *ranks;
    size_t nodes, places;
    bool grouped;    /* there are vertices of several ranks */
    bool uneven;     /* nodes differ in slots */
    bool strict;     /* no node ever has ranks beyond its slots */
    size_t *home;    /* by number: the node */
    size_t *number;  /* by node: number + 1; 0: none */
    size_t *first;   /* by number, and one more: the first place of the node */
    vertex *free;    /* by number, from first[]: the free places of the node */
    vertex *frees;   /* by number: how many these are */
    vertex *member;  /* by place: the vertex; NO_VERTEX: none */
    int32_t *size;   /* by place: of the vertex there, 0: none */
    int32_t *slots;  /* by number of the node */
    int32_t *room;   /* by number of the node: its free slots; negative: ranks beyond its slots */
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

/* All vertices of two nodes change places, if that is worth more than `least`: it costs nothing but
 * ranks beyond slots. */
void annealing_exchange(annealing *a, size_t n, size_t m, int64_t least);

/* Sets node[] to the placement. */
void annealing_copy(annealing *a, size_t *node);

static inline int32_t *annealing_weight(const annealing *a, size_t node, size_t place)
{
    return a->weight + node * a->places + place;
}

/* Ranks beyond the slots of a node with this room. */
static inline int32_t annealing_beyond(int32_t room)
{
    return room < 0 ? -room : 0;
}

/* Of moving what is in the place from one node to another. */
static inline int32_t annealing_gain(const annealing *a, size_t place, size_t from, size_t to)
{
    return *annealing_weight(a, to, place) - *annealing_weight(a, from, place);
}

#endif
