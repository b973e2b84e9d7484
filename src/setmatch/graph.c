/* SPDX-License-Identifier: BSD-3-Clause */
/* The counted values of a view matrix as an undirected graph of ranks. */
#include "setmatch/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One row of V + transpose(V) without the diagonal, entry by entry with ascending columns. */
struct row_sum {
    const matrix *view, *transposed;
    size_t row, in_view, in_transposed;
};

/* Two int64 >= 0 always fit their sum in uint64. */
struct pair {
    size_t other;
    uint64_t value;
};

static struct row_sum begin_row(const matrix *view, const matrix *transposed, size_t row)
{
    return (struct row_sum){view, transposed, row, view->row_start[row],
                            transposed->row_start[row]};
}

/* The column at *i of a row, or SIZE_MAX behind its end. */
static size_t column_at(const matrix *m, size_t row, size_t i)
{
    return i < m->row_start[row + 1] ? m->col[i] : SIZE_MAX;
}

static int next_pair(struct row_sum *sum, struct pair *pair)
{
    for (;;) {
        size_t here = column_at(sum->view, sum->row, sum->in_view);
        size_t there = column_at(sum->transposed, sum->row, sum->in_transposed);
        pair->other = here < there ? here : there;
        pair->value = 0;
        if (pair->other == SIZE_MAX)
            return 0;
        if (here == pair->other)
            pair->value += (uint64_t)sum->view->value[sum->in_view++];
        if (there == pair->other)
            pair->value += (uint64_t)sum->transposed->value[sum->in_transposed++];
        if (pair->other != sum->row)
            return 1;
    }
}

static int usable(const matrix *view, unsigned threshold)
{
    if (view->rows != view->cols || threshold > 100)
        return 0;
    for (size_t i = 0; view->rows > 0 && i < view->row_start[view->rows]; i++)
        if (view->value[i] < 0)
            return 0;
    return 1;
}

/* Rows are visited in order, so that the columns of each transposed row ascend. */
static int transpose(matrix *transposed, const matrix *m)
{
    size_t nnz = m->row_start[m->rows];
    int rc = matrix_allocate(transposed, m->cols, m->rows, nnz);
    if (rc != 0)
        return rc;
    size_t *start = transposed->row_start;
    for (size_t i = 0; i < nnz; i++)
        start[m->col[i] + 1]++;
    for (size_t row = 0; row < transposed->rows; row++)
        start[row + 1] += start[row];
    for (size_t row = 0; row < m->rows; row++) {
        for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++) {
            size_t at = start[m->col[i]]++;
            transposed->col[at] = row;
            transposed->value[at] = m->value[i];
        }
    }
    /* Filling has moved each start to the next row's. */
    memmove(start + 1, start, transposed->rows * sizeof *start);
    start[0] = 0;
    return 0;
}

static uint64_t largest_value(const matrix *view, const matrix *transposed)
{
    struct pair pair;
    uint64_t largest = 0;
    for (size_t rank = 0; rank < view->rows; rank++)
        for (struct row_sum sum = begin_row(view, transposed, rank); next_pair(&sum, &pair);)
            largest = pair.value > largest ? pair.value : largest;
    return largest;
}

/* The least value v with v >= (1 - threshold / 100) * largest and v > 0. */
static uint64_t least_counted(uint64_t largest, unsigned threshold)
{
    uint64_t least = (uint64_t)(((unsigned __int128)largest * (100 - threshold) + 99) / 100);
    return least > 0 ? least : 1;
}

/* Neighbours of every rank into `neighbour`, or only their number when that is NULL. */
static size_t list_neighbours(const matrix *view, const matrix *transposed, uint64_t least,
                              size_t *start, size_t *neighbour)
{
    struct pair pair;
    size_t count = 0;
    for (size_t rank = 0; rank < view->rows; rank++) {
        for (struct row_sum sum = begin_row(view, transposed, rank); next_pair(&sum, &pair);) {
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

static int build(setmatch_graph *graph, const matrix *view, const matrix *transposed,
                 unsigned threshold)
{
    uint64_t least = least_counted(largest_value(view, transposed), threshold);
    size_t *start = calloc(view->rows + 1, sizeof *start);
    if (start == NULL)
        return -ENOMEM;
    size_t count = list_neighbours(view, transposed, least, start, NULL);
    size_t *neighbour = calloc(count > 0 ? count : 1, sizeof *neighbour);
    if (neighbour == NULL) {
        free(start);
        return -ENOMEM;
    }
    list_neighbours(view, transposed, least, start, neighbour);
    *graph = (setmatch_graph){view->rows, start, neighbour};
    return 0;
}

int setmatch_graph_init(setmatch_graph *graph, const matrix *view, unsigned threshold)
{
    matrix transposed;
    if (!usable(view, threshold))
        return -EINVAL;
    if (view->rows == 0) {
        *graph = (setmatch_graph){0, NULL, NULL};
        return 0;
    }
    int rc = transpose(&transposed, view);
    if (rc != 0)
        return rc;
    rc = build(graph, view, &transposed, threshold);
    matrix_release(&transposed);
    return rc;
}

void setmatch_graph_release(setmatch_graph *graph)
{
    free(graph->start);
    free(graph->neighbour);
    *graph = (setmatch_graph){0, NULL, NULL};
}
