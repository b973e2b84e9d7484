/* SPDX-License-Identifier: BSD-3-Clause */
/* make_sets and merge_sets: ranks that counted values link, directly or through others. */
#include "setmatch/sets.h"
#include "setmatch/setmatch.h"

#include <errno.h>
#include <stdlib.h>

/* A depth-first walk with a stack of its own: a set may be one path of a million ranks. */
struct walk {
    const setmatch_graph *graph;
    unsigned char *met; /* by rank */
    size_t *next;       /* by rank: where in graph->neighbour to look next */
    size_t *stack;
    size_t *out; /* where the next rank of the walk is written */
};

static size_t degree(const setmatch_graph *graph, size_t rank)
{
    return graph->start[rank + 1] - graph->start[rank];
}

/* Collects the set of `seed` in the order of meeting; returns its size. */
static size_t collect_set(const setmatch_graph *graph, size_t seed, unsigned char *met, size_t *set)
{
    size_t size = 0;
    met[seed] = 1;
    set[size++] = seed;
    for (size_t i = 0; i < size; i++) {
        for (size_t n = graph->start[set[i]]; n < graph->start[set[i] + 1]; n++) {
            size_t other = graph->neighbour[n];
            if (!met[other])
                set[size++] = other;
            met[other] = 1;
        }
    }
    return size;
}

/* The rank with the fewest neighbours, the lowest on a tie: an end of a path, a corner of a grid.
 */
static size_t walk_begin(const setmatch_graph *graph, const size_t *set, size_t size)
{
    size_t begin = set[0];
    for (size_t i = 1; i < size; i++) {
        size_t here = degree(graph, set[i]), least = degree(graph, begin);
        if (here < least || (here == least && set[i] < begin))
            begin = set[i];
    }
    return begin;
}

/* The lowest neighbour that has not been met, or SIZE_MAX. */
static size_t next_neighbour(struct walk *w, size_t rank)
{
    while (w->next[rank] < w->graph->start[rank + 1]) {
        size_t other = w->graph->neighbour[w->next[rank]++];
        if (!w->met[other])
            return other;
    }
    return SIZE_MAX;
}

static void meet(struct walk *w, size_t rank)
{
    w->met[rank] = 1;
    w->next[rank] = w->graph->start[rank];
    *w->out++ = rank;
}

static void walk_set(struct walk *w, size_t begin)
{
    size_t depth = 0;
    meet(w, begin);
    w->stack[depth++] = begin;
    while (depth > 0) {
        size_t rank = next_neighbour(w, w->stack[depth - 1]);
        if (rank == SIZE_MAX) {
            depth--;
        } else {
            meet(w, rank);
            w->stack[depth++] = rank;
        }
    }
}

static void collect_sets(setmatch_partition *p, const setmatch_graph *graph, unsigned char *met)
{
    p->start[0] = 0;
    for (size_t rank = 0; rank < graph->ranks; rank++) {
        if (met[rank])
            continue;
        size_t at = p->start[p->sets];
        p->start[++p->sets] = at + collect_set(graph, rank, met, p->rank + at);
    }
    for (size_t rank = 0; rank < graph->ranks; rank++)
        met[rank] = 0;
}

/* The walk needs nothing of the first order once it has its beginning, and overwrites it. */
static void order_sets(setmatch_partition *p, struct walk *w)
{
    for (size_t s = 0; s < p->sets; s++) {
        size_t *set = p->rank + p->start[s];
        size_t size = p->start[s + 1] - p->start[s];
        w->out = set;
        walk_set(w, walk_begin(w->graph, set, size));
    }
}

int setmatch_partition_init(setmatch_partition *partition, const setmatch_graph *graph)
{
    size_t ranks = graph->ranks;
    setmatch_partition p = {.start = calloc(ranks + 1, sizeof *p.start),
                            .rank = calloc(ranks + 1, sizeof *p.rank)};
    struct walk w = {.graph = graph,
                     .met = calloc(ranks + 1, sizeof *w.met),
                     .next = calloc(ranks + 1, sizeof *w.next),
                     .stack = calloc(ranks + 1, sizeof *w.stack)};
    int complete =
        p.start != NULL && p.rank != NULL && w.met != NULL && w.next != NULL && w.stack != NULL;
    if (complete) {
        collect_sets(&p, graph, w.met);
        order_sets(&p, &w);
        *partition = p;
    } else {
        setmatch_partition_release(&p);
    }
    free(w.met);
    free(w.next);
    free(w.stack);
    return complete ? 0 : -ENOMEM;
}

void setmatch_partition_release(setmatch_partition *partition)
{
    free(partition->start);
    free(partition->rank);
    *partition = (setmatch_partition){0, NULL, NULL};
}

int setmatch_sets(const matrix *view, unsigned threshold, size_t *set_of_rank, size_t *sets)
{
    setmatch_graph graph;
    setmatch_partition partition;
    int rc = setmatch_graph_init(&graph, view, threshold);
    if (rc != 0)
        return rc;
    rc = setmatch_partition_init(&partition, &graph);
    setmatch_graph_release(&graph);
    if (rc != 0)
        return rc;
    for (size_t s = 0; s < partition.sets; s++)
        for (size_t i = partition.start[s]; i < partition.start[s + 1]; i++)
            set_of_rank[partition.rank[i]] = s;
    *sets = partition.sets;
    setmatch_partition_release(&partition);
    return 0;
}
