/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of C over the ranks of each node. */
#include "plan/sums.h"

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
    size_t entries = sums->start[sums->domains + 1] | 1;
    sums->node = calloc(entries, sizeof *sums->node);
    sums->bytes = calloc(entries, sizeof *sums->bytes);
    sums->most = calloc(entries, sizeof *sums->most);
    return sums->node == NULL || sums->bytes == NULL || sums->most == NULL ? -ENOMEM : 0;
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
    const struct ranks *ranks;
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

static void add_row(const struct pass *pass, size_t n, size_t i, struct sums *sums)
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

static int sum_ranks(const struct pass *pass, struct sums *sums)
{
    const struct ranks *ranks = pass->ranks;
    for (size_t n = 0; n < ranks->nodes; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            count_pairs(pass, n, ranks->rank[r], sums->start + 2);
    int rc = sums_allocate_entries(sums);
    memset(pass->last, 0, sums->domains * sizeof *pass->last);
    for (size_t n = 0; n < ranks->nodes && rc == 0; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            add_row(pass, n, ranks->rank[r], sums);
    return rc;
}

static int sums_of_all(const struct held *held, const struct ranks *ranks, struct sums *sums)
{
    struct sums made = {.nodes = ranks->nodes, .domains = held->by_rank->cols};
    struct pass pass = {held, ranks, calloc(made.domains | 1, sizeof(size_t))};
    made.start = calloc(made.domains + 2, sizeof *made.start);
    int rc = pass.last == NULL || made.start == NULL ? -ENOMEM : sum_ranks(&pass, &made);
    free(pass.last);
    if (rc == 0)
        *sums = made;
    else
        sums_release(&made);
    return rc;
}

/* ---- from nodes, and the largest of their ranks ---- */

static void transpose_nodes(const matrix *b, struct sums *sums)
{
    for (size_t n = 0; n < b->rows; n++) {
        for (size_t k = b->row_start[n]; k < b->row_start[n + 1]; k++) {
            size_t e = sums->start[b->col[k] + 1]++;
            sums->node[e] = n;
            sums->bytes[e] = (double)b->value[k];
        }
    }
}

/* sums->most stays 0. */
static int sums_of_nodes(const matrix *b, struct sums *sums)
{
    struct sums made = {.nodes = b->rows, .domains = b->cols};
    made.start = calloc(made.domains + 2, sizeof *made.start);
    if (made.start == NULL)
        return -ENOMEM;
    for (size_t k = 0; k < b->row_start[b->rows]; k++)
        made.start[b->col[k] + 2]++;
    int rc = sums_allocate_entries(&made);
    if (rc == 0) {
        transpose_nodes(b, &made);
        *sums = made;
    } else {
        sums_release(&made);
    }
    return rc;
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
    struct sums made;
    if (held->by_node == NULL)
        return sums_of_all(held, ranks, sums);
    int rc = sums_of_nodes(held->by_node, &made);
    if (rc != 0)
        return rc;
    rc = find_most(held, ranks, &made);
    if (rc == 0)
        *sums = made;
    else
        sums_release(&made);
    return rc;
}
