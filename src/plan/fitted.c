/* SPDX-License-Identifier: BSD-3-Clause */
/* Fitted file domains: from the bytes of units on nodes to the aggregator of each unit. */
#include "plan/fitted.h"
#include "plan/auction.h"
#include "base/groups.h"

#include <errno.h>
#include <string.h>

struct work {
    struct base_arena arena;
    struct base_groups aggregators; /* of each node */
    size_t *capacity;               /* of each node, in units */
    size_t *node_of_unit, *aggregator_of_unit;
};

/* An aggregator gets at most as many units with bytes as if all had the same number, rounded up.
 * One that has fewer slows nobody down. */
static void limit_nodes(const fitted_input *in, struct work *w)
{
    const matrix *m = in->bytes;
    size_t loaded = 0;
    for (size_t u = 0; u < m->rows; u++) {
        size_t e = m->row_start[u];
        while (e < m->row_start[u + 1] && m->value[e] == 0)
            e++;
        loaded += e < m->row_start[u + 1];
    }
    size_t most = loaded / in->aggregators + (loaded % in->aggregators != 0);
    for (size_t n = 0; n < in->topology->nodes; n++)
        w->capacity[n] = base_group_size(&w->aggregators, n) * most;
}

static double hop_bytes_of_units(const fitted_input *in, const size_t *node_of_unit)
{
    double sum = 0.0;
    for (size_t u = 0; u < in->bytes->rows; u++)
        for (size_t e = in->bytes->row_start[u]; e < in->bytes->row_start[u + 1]; e++)
            if (in->bytes->value[e] > 0)
                sum += topo_hops(in->topology, node_of_unit[u], in->bytes->col[e], 0) *
                       (double)in->bytes->value[e];
    return sum;
}

/* ---- from nodes to aggregators ---- */

/* Whether a cut before unit[i] splits no run of adjacent units. */
static int cuts_between_runs(const size_t *unit, size_t count, size_t i)
{
    return i == 0 || i == count || unit[i] != unit[i - 1] + 1;
}

/* Units for the first of `aggregators` that share `count` units: `least` or one more. */
static size_t first_share(const size_t *unit, size_t count, size_t aggregators, size_t least)
{
    size_t extra = count - aggregators * least;
    if (extra == 0)
        return least;
    if (extra < aggregators && cuts_between_runs(unit, count, least) &&
        !cuts_between_runs(unit, count, least + 1))
        return least;
    return least + 1;
}

static void deal_node(const struct base_groups *units, const struct base_groups *aggregators,
                      size_t n, size_t *aggregator_of_unit)
{
    const size_t *unit = units->item + units->start[n];
    size_t count = base_group_size(units, n), shares = base_group_size(aggregators, n);
    size_t least = shares > 0 ? count / shares : 0;
    for (size_t k = aggregators->start[n]; k < aggregators->start[n + 1]; k++) {
        size_t share = first_share(unit, count, aggregators->start[n + 1] - k, least);
        for (size_t i = 0; i < share; i++)
            aggregator_of_unit[unit[i]] = aggregators->item[k];
        unit += share;
        count -= share;
    }
}

/* Units without bytes cost nothing but must not make a domain longer than an even one. load[j]:
 * units of aggregator j so far. */
static void deal_idle_units(const fitted_input *in, struct work *w, size_t *load)
{
    size_t units = in->bytes->rows, *aggregator_of_unit = w->aggregator_of_unit;
    size_t most = units / in->aggregators + (units % in->aggregators != 0), next = 0;
    for (size_t u = 0; u < units; u++)
        load[aggregator_of_unit[u]] += w->node_of_unit[u] != AUCTION_NOWHERE;
    for (size_t u = 0; u < units; u++) {
        if (w->node_of_unit[u] != AUCTION_NOWHERE)
            continue;
        size_t left = u > 0 ? aggregator_of_unit[u - 1] : 0;
        while (load[next] >= most && load[left] >= most)
            next++;
        aggregator_of_unit[u] = load[left] < most ? left : next;
        load[aggregator_of_unit[u]]++;
    }
}

static int deal_to_aggregators(const fitted_input *in, struct work *w)
{
    size_t nodes = in->topology->nodes;
    struct base_groups units;
    size_t *load = base_arena_alloc(&w->arena, in->aggregators, sizeof *load);
    if (load == NULL ||
        base_group_items(&w->arena, w->node_of_unit, in->bytes->rows, nodes, &units) != 0)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        deal_node(&units, &w->aggregators, n, w->aggregator_of_unit);
    deal_idle_units(in, w, load);
    return 0;
}

/* ---- the result ---- */

int fitted_assign(const fitted_input *in, size_t *aggregator_of_unit, double *hop_bytes)
{
    struct work w = {0};
    size_t units = in->bytes->rows;
    w.capacity = base_arena_alloc(&w.arena, in->topology->nodes, sizeof *w.capacity);
    w.node_of_unit = base_arena_alloc(&w.arena, units, sizeof *w.node_of_unit);
    w.aggregator_of_unit = base_arena_alloc(&w.arena, units, sizeof *w.aggregator_of_unit);
    int rc = base_group_items(&w.arena, in->node_of_aggregator, in->aggregators,
                              in->topology->nodes, &w.aggregators);
    if (w.arena.failed)
        rc = -ENOMEM;
    if (rc == 0) {
        limit_nodes(in, &w);
        rc = auction_solve(in->bytes, in->topology, w.capacity, w.node_of_unit);
    }
    if (rc == 0)
        rc = deal_to_aggregators(in, &w);
    if (rc == 0) {
        memcpy(aggregator_of_unit, w.aggregator_of_unit, units * sizeof *aggregator_of_unit);
        *hop_bytes = hop_bytes_of_units(in, w.node_of_unit);
    }
    base_arena_release(&w.arena);
    return rc;
}
