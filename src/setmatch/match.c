/* SPDX-License-Identifier: BSD-3-Clause */
/* match_sets: places sets on the free slots of nodes, the largest set first. */
#include <errno.h>
#include <stdlib.h>

#include "setmatch/candidates.h"
#include "setmatch/free_nodes.h"
#include "setmatch/setmatch.h"
#include "setmatch/sets.h"

/* A set, or the rest of one. */
struct piece {
    size_t set; /* numbered by lowest rank */
    const size_t *rank;
    size_t size;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

/* The largest set first, equal ones by their lowest rank: on a regular grid, equal sets that share
 * a node are then neighbours in the file. */
static struct piece *sort_sets(const setmatch_partition *partition)
{
    size_t sets = partition->sets;
    struct piece *pieces = calloc(sets + 1, sizeof *pieces);
    if (pieces == NULL)
        return NULL;
    for (size_t s = 0; s < sets; s++)
        pieces[s] = (struct piece){s, partition->rank + partition->start[s],
                                   partition->start[s + 1] - partition->start[s]};
    qsort(pieces, sets, sizeof *pieces, compare_pieces);
    return pieces;
}

/* The slots suffice for all ranks, so there is always a free node. */
static void match_set(struct piece piece, free_nodes *f, size_t *node_of_rank)
{
    while (piece.size > 0) {
        size_t node = free_nodes_fewest(f, piece.size);
        size_t count = piece.size;
        if (node == FREE_NODES_NONE) {
            node = free_nodes_most(f);
            count = f->node[node].free;
        }
        for (size_t i = 0; i < count; i++)
            node_of_rank[piece.rank[i]] = node;
        piece.rank += count;
        piece.size -= count;
        free_nodes_occupy(f, node, count);
    }
}

static int match_sets(const setmatch_partition *partition, const size_t *slots, size_t nodes,
                      size_t *node_of_rank)
{
    free_nodes f;
    struct piece *pieces = sort_sets(partition);
    if (pieces == NULL)
        return -ENOMEM;
    int rc = free_nodes_init(&f, slots, nodes);
    if (rc == 0) {
        for (size_t s = 0; s < partition->sets; s++)
            match_set(pieces[s], &f, node_of_rank);
        free_nodes_release(&f);
    }
    free(pieces);
    return rc;
}

int match_graph(const setmatch_graph *graph, const size_t *slots, size_t nodes,
                size_t *node_of_rank)
{
    setmatch_partition partition;
    int rc = setmatch_partition_init(&partition, graph);
    if (rc != 0)
        return rc;
    rc = match_sets(&partition, slots, nodes, node_of_rank);
    setmatch_partition_release(&partition);
    return rc;
}

int setmatch_place(const matrix *view, const size_t *slots, size_t nodes, unsigned threshold,
                   size_t *node_of_rank)
{
    setmatch_graph graph;
    int rc = setmatch_graph_init(&graph, view, threshold);
    if (rc != 0)
        return rc;
    rc = site_suffices(slots, nodes, view->rows) ? match_graph(&graph, slots, nodes, node_of_rank)
                                                 : -ENOSPC;
    setmatch_graph_release(&graph);
    return rc;
}
