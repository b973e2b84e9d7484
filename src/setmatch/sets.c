/* SPDX-License-Identifier: BSD-3-Clause */
/* make_sets and merge_sets: the connected components of the counted values. */
#include "setmatch/sets.h"
#include "setmatch/setmatch.h"

#include <errno.h>
#include <stdlib.h>

/* A depth-first walk without recursion: a set may be one path of a million ranks. */
struct walk {
    const setmatch_graph *graph;
    unsigned char *visited; /* by rank */
    size_t *next;           /* by rank: index in graph->neighbour of the next neighbour */
    size_t *stack;
    size_t *out; /* the next rank of the walk is written here */
};

static size_t count_neighbours(const setmatch_graph *graph, size_t rank)
{
    return graph->start[rank + 1] - graph->start[rank];
}

/* Collects the set of `seed` in breadth-first order; returns its size. */
static size_t collect_set(const setmatch_graph *graph, size_t seed, unsigned char *visited,
                          size_t *set)
{
    size_t size = 0;
    visited[seed] = 1;
    set[size++] = seed;
    for (size_t i = 0; i < size; i++) {
        for (size_t n = graph->start[set[i]]; n < graph->start[set[i] + 1]; n++) {
            size_t other = graph->neighbour[n];
            if (!visited[other])
                set[size++] = other;
            visited[other] = 1;
        }
    }
    return size;
}

/* The rank with the fewest neighbours, the lowest on a tie: an end of a path, a corner of a grid.
 */
static size_t find_set_end(const setmatch_graph *graph, const size_t *set, size_t size)
{
    size_t begin = set[0];
    for (size_t i = 1; i < size; i++) {
        size_t here = count_neighbours(graph, set[i]), least = count_neighbours(graph, begin);
        if (here < least || (here == least && set[i] < begin))
            begin = set[i];
    }
    return begin;
}

/* The lowest neighbour that has not been visited, or SIZE_MAX. */
static size_t next_neighbour(struct walk *w, size_t rank)
{
    while (w->next[rank] < w->graph->start[rank + 1]) {
        size_t other = w->graph->neighbour[w->next[rank]++];
        if (!w->visited[other])
            return other;
    }
    return SIZE_MAX;
}

static void visit_rank(struct walk *w, size_t rank)
{
    w->visited[rank] = 1;
    w->next[rank] = w->graph->start[rank];
    *w->out++ = rank;
}

static void walk_set(struct walk *w, size_t begin)
{
    size_t depth = 0;
    visit_rank(w, begin);
    w->stack[depth++] = begin;
    while (depth > 0) {
        size_t rank = next_neighbour(w, w->stack[depth - 1]);
        if (rank == SIZE_MAX) {
            depth--;
        } else {
            visit_rank(w, rank);
            w->stack[depth++] = rank;
        }
    }
}

static void collect_sets(setmatch_partition *p, const setmatch_graph *graph, unsigned char *visited)
{
    p->start[0] = 0;
    for (size_t rank = 0; rank < graph->ranks; rank++) {
        if (visited[rank])
            continue;
        size_t at = p->start[p->sets];
        p->start[++p->sets] = at + collect_set(graph, rank, visited, p->rank + at);
    }
    for (size_t rank = 0; rank < graph->ranks; rank++)
        visited[rank] = 0;
}

/* The walk overwrites the breadth-first order, of which it needs the first rank only. */
static void order_sets(setmatch_partition *p, struct walk *w)
{
    for (size_t s = 0; s < p->sets; s++) {
        size_t *set = p->rank + p->start[s];
        size_t size = p->start[s + 1] - p->start[s];
        w->out = set;
        walk_set(w, find_set_end(w->graph, set, size));
    }
}

int setmatch_partition_init(setmatch_partition *partition, const setmatch_graph *graph)
{
    size_t ranks = graph->ranks;
    setmatch_partition p = {.start = calloc(ranks + 1, sizeof *p.start),
                            .rank = calloc(ranks + 1, sizeof *p.rank)};
    struct walk w = {.graph = graph,
                     .visited = calloc(ranks + 1, sizeof *w.visited),
                     .next = calloc(ranks + 1, sizeof *w.next),
                     .stack = calloc(ranks + 1, sizeof *w.stack)};
    int complete =
        p.start != NULL && p.rank != NULL && w.visited != NULL && w.next != NULL && w.stack != NULL;
    if (complete) {
        collect_sets(&p, graph, w.visited);
        order_sets(&p, &w);
        *partition = p;
    } else {
        setmatch_partition_release(&p);
    }
    free(w.visited);
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
