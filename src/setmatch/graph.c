/* SPDX-License-Identifier: BSD-3-Clause */
/* The counted values of a view matrix as an undirected graph of ranks. */
#include "setmatch/graph.h"

#include <errno.h>
#include <stdlib.h>

#include "setmatch/rows.h"

static uint64_t largest_value(const symmetric_rows *rows)
{
    row_pair pair;
    uint64_t largest = 0;
    for (size_t rank = 0; rank < rows->view->rows; rank++)
        for (row_sum sum = symmetric_row(rows, rank); next_pair(&sum, &pair);)
            largest = pair.value > largest ? pair.value : largest;
    return largest;
}

/* The least v with v >= (1 - threshold / 100) * largest and v > 0. */
static uint64_t least_counted(uint64_t largest, unsigned threshold)
{
    uint64_t least = (uint64_t)(((unsigned __int128)largest * (100 - threshold) + 99) / 100);
    return least > 0 ? least : 1;
}

/* Lists the neighbours of every rank; only counts them if `neighbour` is NULL. */
static size_t list_rank_neighbours(const symmetric_rows *rows, uint64_t least, size_t *start,
                                   size_t *neighbour)
{
    row_pair pair;
    size_t count = 0;
    for (size_t rank = 0; rank < rows->view->rows; rank++) {
        for (row_sum sum = symmetric_row(rows, rank); next_pair(&sum, &pair);) {
            if (pair.value < least)
                continue;
            if (neighbour != NULL)
                neighbour[count] = pair.other;
            count++;
        }
        start[rank + 1] = count;
    }
    return count;
}

static int build_graph(setmatch_graph *graph, const symmetric_rows *rows, unsigned threshold)
{
    uint64_t least = least_counted(largest_value(rows), threshold);
    size_t *start = calloc(rows->view->rows + 1, sizeof *start);
    if (start == NULL)
        return -ENOMEM;
    size_t count = list_rank_neighbours(rows, least, start, NULL);
    size_t *neighbour = calloc(count + 1, sizeof *neighbour);
    if (neighbour == NULL) {
        free(start);
        return -ENOMEM;
    }
    list_rank_neighbours(rows, least, start, neighbour);
    *graph = (setmatch_graph){rows->view->rows, start, neighbour};
    return 0;
}

int setmatch_graph_init(setmatch_graph *graph, const matrix *view, unsigned threshold)
{
    symmetric_rows rows;
    if (threshold > 100)
        return -EINVAL;
    int rc = symmetric_rows_init(&rows, view);
    if (rc != 0)
        return rc;
    rc = build_graph(graph, &rows, threshold);
    symmetric_rows_release(&rows);
    return rc;
}

/* Copies the counted arcs; only counts them if `neighbour` is NULL. */
static size_t list_arcs(const affinity *ranks, uint64_t least, size_t *start, size_t *neighbour)
{
    size_t count = 0;
    for (size_t rank = 0; rank < ranks->vertices; rank++) {
        for (size_t i = ranks->start[rank]; i < ranks->start[rank + 1]; i++) {
            if ((uint64_t)ranks->weight[i] < least)
                continue;
            if (neighbour != NULL)
                neighbour[count] = ranks->other[i];
            count++;
        }
        start[rank + 1] = count;
    }
    return count;
}

int setmatch_graph_from_affinity(setmatch_graph *graph, const affinity *ranks, unsigned threshold)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < ranks->start[ranks->vertices]; i++)
        if ((uint64_t)ranks->weight[i] > largest)
            largest = (uint64_t)ranks->weight[i];
    uint64_t least = least_counted(largest, threshold);
    size_t *start = calloc(ranks->vertices + 1, sizeof *start);
    if (start == NULL)
        return -ENOMEM;
    size_t *neighbour = calloc(list_arcs(ranks, least, start, NULL) + 1, sizeof *neighbour);
    if (neighbour == NULL) {
        free(start);
        return -ENOMEM;
    }
    list_arcs(ranks, least, start, neighbour);
    *graph = (setmatch_graph){ranks->vertices, start, neighbour};
    return 0;
}

void setmatch_graph_release(setmatch_graph *graph)
{
    free(graph->start);
    free(graph->neighbour);
    *graph = (setmatch_graph){0, NULL, NULL};
}
