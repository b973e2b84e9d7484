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
    *sums = (struct sums){ 0 };
}

/* Turns counts in start[j + 2] into where entries go: start[j + 1], which ends as domain j's end. */
static int allocate_entries(struct sums *sums)
{
    for (size_t j = 1; j <= sums->domains; j++) {
        sums->start[j + 1] += sums->start[j];
    }
    size_t entries = sums->start[sums->domains + 1] | 1;
    sums->node = calloc(entries, sizeof *sums->node);
    sums->bytes = calloc(entries, sizeof *sums->bytes);
    sums->most = calloc(entries, sizeof *sums->most);
    return sums->node == NULL || sums->bytes == NULL || sums->most == NULL ? -ENOMEM : 0;
}

/* ---- from ranks ---- */

/* A pass over C, node by node. */
struct pass {
    const matrix *requests;
    const struct ranks *ranks;
    int count_entries;
    size_t *last; /* 1 + the node that was the last to access the domain */
};

static void count_pairs(const struct pass *pass, size_t n, size_t i, size_t *count)
{
    const matrix *c = pass->requests;
    for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
        size_t j = c->col[k];
        count[j] += pass->last[j] != n + 1;
        pass->last[j] = n + 1;
    }
}

static void add_row(const struct pass *pass, size_t n, size_t i, struct sums *sums)
{
    const matrix *c = pass->requests;
    for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
        size_t j = c->col[k];
        double bytes = pass->count_entries ? c->value[k] != 0 : (double)c->value[k];
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
    for (size_t n = 0; n < ranks->nodes; n++) {
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++) {
            count_pairs(pass, n, ranks->rank[r], sums->start + 2);
        }
    }
    int rc = allocate_entries(sums);
    memset(pass->last, 0, sums->domains * sizeof *pass->last);
    for (size_t n = 0; n < ranks->nodes && rc == 0; n++) {
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++) {
            add_row(pass, n, ranks->rank[r], sums);
        }
    }
    return rc;
}

int sums_of_ranks(const matrix *requests, const struct ranks *ranks, int count_entries,
                  struct sums *sums)
{
    struct sums made = { .nodes = ranks->nodes, .domains = requests->cols };
    struct pass pass = { requests, ranks, count_entries, calloc(made.domains | 1, sizeof(size_t)) };
    made.start = calloc(made.domains + 2, sizeof *made.start);
    int rc = pass.last == NULL || made.start == NULL ? -ENOMEM : sum_ranks(&pass, &made);
    free(pass.last);
    if (rc == 0) {
        *sums = made;
    } else {
        sums_release(&made);
    }
    return rc;
}

/* ---- from nodes ---- */

static void transpose(const plan_node_requests *in, struct sums *sums)
{
    const matrix *b = in->bytes;
    for (size_t n = 0; n < b->rows; n++) {
        for (size_t k = b->row_start[n]; k < b->row_start[n + 1]; k++) {
            size_t e = sums->start[b->col[k] + 1]++;
            sums->node[e] = n;
            sums->bytes[e] = (double)b->value[k];
            sums->most[e] = in->most != NULL ? (double)in->most[k] : 0.0;
        }
    }
}

int sums_of_nodes(const plan_node_requests *in, struct sums *sums)
{
    const matrix *b = in->bytes;
    struct sums made = { .nodes = b->rows, .domains = b->cols };
    made.start = calloc(made.domains + 2, sizeof *made.start);
    if (made.start == NULL) {
        return -ENOMEM;
    }
    for (size_t k = 0; k < b->row_start[b->rows]; k++) {
        made.start[b->col[k] + 2]++;
    }
    int rc = allocate_entries(&made);
    if (rc == 0) {
        transpose(in, &made);
        *sums = made;
    } else {
        sums_release(&made);
    }
    return rc;
}
