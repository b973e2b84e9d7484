/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of C over the ranks of each node. */
#include "plan/costs.h"

#include <errno.h>
#include <string.h>

/* Counting sort: turns counts in start[j + 2] into positions in start[j + 1], finally the end of j.
 */
static int sums_allocate_entries(struct base_arena *arena, struct sums *sums)
{
    for (size_t j = 1; j <= sums->domains; j++)
        sums->start[j + 1] += sums->start[j];
    size_t entries = sums->start[sums->domains + 1];
    sums->node = base_arena_alloc(arena, entries, sizeof *sums->node);
    sums->bytes = base_arena_alloc(arena, entries, sizeof *sums->bytes);
    sums->most = base_arena_alloc(arena, entries, sizeof *sums->most);
    return arena->failed ? -ENOMEM : 0;
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

static void count_node_pairs(const struct pass *pass, size_t n, size_t i, size_t *count)
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

/* last: scratch, a zeroed entry for each domain. */
static int sum_ranks(struct base_arena *arena, const struct held *held, const struct groups *ranks,
                     size_t *last, struct sums *sums)
{
    struct pass pass = {held, last};
    for (size_t n = 0; n < ranks->count; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            count_node_pairs(&pass, n, ranks->item[r], sums->start + 2);
    if (sums_allocate_entries(arena, sums) != 0)
        return -ENOMEM;
    memset(last, 0, sums->domains * sizeof *last);
    for (size_t n = 0; n < ranks->count; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            add_rank_row(&pass, n, ranks->item[r], sums);
    return 0;
}

/* ---- from nodes, and the largest of their ranks ---- */

/* sums->most stays 0. */
static int transpose_nodes(struct base_arena *arena, const matrix *b, struct sums *sums)
{
    for (size_t k = 0; k < b->row_start[b->rows]; k++)
        sums->start[b->col[k] + 2]++;
    if (sums_allocate_entries(arena, sums) != 0)
        return -ENOMEM;
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
static void add_listed_row(const struct held *held, size_t n, size_t i, struct sums *sums,
                           size_t *at)
{
    const matrix *c = held->by_rank;
    for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
        size_t j = c->col[k];
        double value = value_of(held, k);
        while (at[j] < sums->start[j + 1] && sums->node[at[j]] < n)
            at[j]++;
        if (at[j] == sums->start[j + 1] || sums->node[at[j]] != n)
            continue;
        sums->most[at[j]] = value > sums->most[at[j]] ? value : sums->most[at[j]];
    }
}

int sums_of_ranks(struct base_arena *arena, const struct held *held, const struct groups *ranks,
                  struct sums *sums)
{
    size_t domains = held->by_rank->cols;
    size_t *at = base_arena_alloc(arena, domains, sizeof *at);
    *sums = (struct sums){.nodes = ranks->count, .domains = domains};
    sums->start = base_arena_alloc(arena, domains + 2, sizeof *sums->start);
    if (arena->failed)
        return -ENOMEM;
    if (held->by_node == NULL)
        return sum_ranks(arena, held, ranks, at, sums);
    if (transpose_nodes(arena, held->by_node, sums) != 0)
        return -ENOMEM;
    memcpy(at, sums->start, domains * sizeof *at);
    for (size_t n = 0; n < ranks->count; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            add_listed_row(held, n, ranks->item[r], sums, at);
    return 0;
}
