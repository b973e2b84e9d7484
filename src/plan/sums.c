/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of C over the ranks of each node. */
#include "plan/sums.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sums_release(struct sums *sums)
{
    free(sums->start);
    free(sums->node);
    free(sums->bytes);
    free(sums->most);
    *sums = (struct sums){0};
}

/* Counting sort: turns counts in start[j + 2] into positions in start[j + 1], finally the end of j.
 */
static int sums_allocate_entries(struct sums *sums)
{
    for (size_t j = 1; j <= sums->domains; j++)
        sums->start[j + 1] += sums->start[j];
    size_t entries = sums->start[sums->domains + 1];
    int rc = 0;
    sums->node = base_zeroed(entries, sizeof *sums->node, &rc);
    sums->bytes = base_zeroed(entries, sizeof *sums->bytes, &rc);
    sums->most = base_zeroed(entries, sizeof *sums->most, &rc);
    return rc;
}

static double value_of(const struct held *held, size_t k)
{
    int64_t value = held->by_rank->value[k];
    return held->count_entries ? value != 0 : (double)value;
}

/* ---- from ranks ---- */

/* A traversal of C, node by node. */
struct pass {
    const struct held *held;
    size_t *last; /* 1 + the node that was the last to access the domain */
};

static void count_pairs(const struct pass *pass, size_t n, size_t i, size_t *count)
{
    const matrix *c = pass->held->by_rank;
    for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
        size_t j = c->col[k];
        count[j] += pass->last[j] != n + 1;
        pass->last[j] = n + 1;
    }
}

static void add_rank_row(const struct pass *pass, size_t n, size_t i, struct sums *sums)
{
    const matrix *c = pass->held->by_rank;
    for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
        size_t j = c->col[k];
        double bytes = value_of(pass->held, k);
        if (pass->last[j] != n + 1) {
            pass->last[j] = n + 1;
            sums->node[sums->start[j + 1]++] = n;
        }
        size_t e = sums->start[j + 1] - 1;
        sums->bytes[e] += bytes;
        sums->most[e] = bytes > sums->most[e] ? bytes : sums->most[e];
    }
}

static int sum_ranks(const struct held *held, const struct ranks *ranks, struct sums *sums)
{
    int rc = 0;
    struct pass pass = {held, base_zeroed(sums->domains, sizeof(size_t), &rc)};
    if (rc != 0)
        return rc;
    for (size_t n = 0; n < ranks->nodes; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            count_pairs(&pass, n, ranks->rank[r], sums->start + 2);
    rc = sums_allocate_entries(sums);
    memset(pass.last, 0, sums->domains * sizeof *pass.last);
    for (size_t n = 0; n < ranks->nodes && rc == 0; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            add_rank_row(&pass, n, ranks->rank[r], sums);
    free(pass.last);
    return rc;
}

/* ---- from nodes, and the largest of their ranks ---- */

/* sums->most stays 0. */
static int transpose_nodes(const matrix *b, struct sums *sums)
{
    for (size_t k = 0; k < b->row_start[b->rows]; k++)
        sums->start[b->col[k] + 2]++;
    int rc = sums_allocate_entries(sums);
    if (rc != 0)
        return rc;
    for (size_t n = 0; n < b->rows; n++) {
        for (size_t k = b->row_start[n]; k < b->row_start[n + 1]; k++) {
            size_t e = sums->start[b->col[k] + 1]++;
            sums->node[e] = n;
            sums->bytes[e] = (double)b->value[k];
        }
    }
    return 0;
}

/* at[j]: the next entry of domain j; entries and calls are both ordered by node. */
static void find_most_of_row(const struct held *held, size_t n, size_t i, struct sums *sums,
                             size_t *at)
{
    const matrix *c = held->by_rank;
    for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
        size_t j = c->col[k];
        double value = value_of(held, k);
        while (at[j] < sums->start[j + 1] && sums->node[at[j]] < n)
            at[j]++;
        if (at[j] < sums->start[j + 1] && sums->node[at[j]] == n && value > sums->most[at[j]])
            sums->most[at[j]] = value;
    }
}

static int find_most(const struct held *held, const struct ranks *ranks, struct sums *sums)
{
    size_t *at = calloc(sums->domains | 1, sizeof *at);
    if (at == NULL)
        return -ENOMEM;
    memcpy(at, sums->start, sums->domains * sizeof *at);
    for (size_t n = 0; n < ranks->nodes; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            find_most_of_row(held, n, ranks->rank[r], sums, at);
    free(at);
    return 0;
}

int sums_of_ranks(const struct held *held, const struct ranks *ranks, struct sums *sums)
{
    struct sums made = {.nodes = ranks->nodes, .domains = held->by_rank->cols};
    int rc = 0;
    made.start = base_zeroed(made.domains + 2, sizeof *made.start, &rc);
    if (rc == 0 && held->by_node == NULL)
        rc = sum_ranks(held, ranks, &made);
    else if (rc == 0)
        rc = transpose_nodes(held->by_node, &made);
    if (rc == 0 && held->by_node != NULL)
        rc = find_most(held, ranks, &made);
    if (rc == 0)
        *sums = made;
    else
        sums_release(&made);
    return rc;
}
