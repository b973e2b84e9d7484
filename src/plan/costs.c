/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes of a domain on each node. */
#include "plan/costs.h"
#include "plan/distance.h"

#include <errno.h>
#include <stdbool.h>

/* Independent partial sums, so that additions overlap in the pipeline. */
enum { CHAINS = 8 };

/* Bytes of one domain by class; all 0 between domains. */
struct domain {
    const struct classes *classes;
    double *bytes;
    size_t *present; /* classes with bytes */
    size_t count;
};

static void sum_classes(struct domain *d, const struct sums *sums, size_t j)
{
    d->count = 0;
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++) {
        size_t p = d->classes->of_node[sums->node[e]];
        if (d->bytes[p] == 0.0 && sums->bytes[e] != 0.0)
            d->present[d->count++] = p;
        d->bytes[p] += sums->bytes[e];
    }
}

static double sum_present(const struct domain *d, const uint16_t *between)
{
    double sum = 0.0;
    for (size_t k = 0; k < d->count; k++)
        sum += between[d->present[k]] * d->bytes[d->present[k]];
    return sum;
}

static double sum_all(const struct domain *d, const uint16_t *between)
{
    double chain[CHAINS] = {0.0}, sum = 0.0;
    size_t q = 0;
    for (; q + CHAINS <= d->classes->count; q += CHAINS)
        for (size_t k = 0; k < CHAINS; k++)
            chain[k] += between[q + k] * d->bytes[q + k];
    for (; q < d->classes->count; q++)
        sum += between[q] * d->bytes[q];
    for (size_t k = 0; k < CHAINS; k++)
        sum += chain[k];
    return sum;
}

/* Hop-bytes of the domain from a node of class p that accesses none of it. The diagonal of the
 * topology is undefined where a class has one node. */
static double sum_from(struct domain *d, size_t p)
{
    double own = d->bytes[p], sum = 0.0;
    if (d->classes->between != NULL) {
        const uint16_t *between = d->classes->between + p * d->classes->count;
        d->bytes[p] = 0.0;
        sum = d->count < d->classes->count / CHAINS ? sum_present(d, between) : sum_all(d, between);
        d->bytes[p] = own;
    }
    return sum + d->classes->within[p] * own;
}

static void fill_costs(struct costs *costs, struct domain *d)
{
    size_t count = d->classes->count;
    for (size_t j = 0; j < costs->sums.domains; j++) {
        sum_classes(d, &costs->sums, j);
        for (size_t p = 0; p < count; p++)
            costs->at_classes[j * count + p] = sum_from(d, p);
        for (size_t k = 0; k < d->count; k++)
            d->bytes[d->present[k]] = 0.0;
    }
}

void costs_on_nodes(const struct costs *costs, size_t j, double *cost)
{
    const struct sums *sums = &costs->sums;
    const double *at_class = costs_at_classes(costs, j);
    for (size_t n = 0; n < sums->nodes; n++)
        cost[n] = at_class[costs->classes.of_node[n]];
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++)
        cost[sums->node[e]] = cost_of_entry(costs, at_class, e);
}

/* ---- node classes ---- */

static int find_classes(struct base_arena *arena, const topo *t, int apart, struct classes *c)
{
    bool is_single = apart || is_flat(t);
    c->count = is_single ? 1 : t->places;
    c->between = is_single ? NULL : t->between;
    c->same = apart ? 0.0 : TOPO_SAME_NODE;
    c->of_node =
        is_single ? base_arena_alloc(arena, t->nodes, sizeof *c->of_node) : t->place_of_node;
    c->within = base_arena_alloc(arena, c->count, sizeof *c->within);
    if (arena->failed || group_items(arena, c->of_node, t->nodes, c->count, &c->nodes) != 0)
        return -ENOMEM;
    for (size_t p = 0; p < c->count; p++) {
        const size_t *node = c->nodes.item + c->nodes.start[p];
        c->within[p] = group_size(&c->nodes, p) > 1 ? topo_hops(t, node[0], node[1], 0) : c->same;
    }
    if (apart)
        c->within[0] = 1.0;
    return 0;
}

/* ---- all together ---- */

static int allocate_costs(struct costs *costs, struct domain *d)
{
    struct base_arena *arena = &costs->arena;
    size_t size, classes = costs->classes.count;
    if (__builtin_mul_overflow(classes, costs->sums.domains, &size))
        return -ENOMEM;
    costs->capacity = base_arena_alloc(arena, costs->ranks.count, sizeof *costs->capacity);
    costs->at_classes = base_arena_alloc(arena, size, sizeof *costs->at_classes);
    d->bytes = base_arena_alloc(arena, classes, sizeof *d->bytes);
    d->present = base_arena_alloc(arena, classes, sizeof *d->present);
    return arena->failed ? -ENOMEM : 0;
}

int costs_init(struct costs *costs, const plan_input *in, const struct held *held)
{
    struct domain d = {.classes = &costs->classes};
    size_t nodes = in->topology->nodes, most = held->by_rank->cols;
    *costs = (struct costs){.own = held->apart ? 0.0 : TOPO_SAME_NODE / held->steps};
    struct base_arena *arena = &costs->arena;
    int rc = plan_check_nodes(in);
    if (rc == 0)
        rc = group_items(arena, in->node_of_rank, in->requests->rows, nodes, &costs->ranks);
    if (rc == 0)
        rc = find_classes(arena, in->topology, held->apart, &costs->classes);
    if (rc == 0)
        rc = sums_of_ranks(arena, held, &costs->ranks, &costs->sums);
    if (rc == 0)
        rc = allocate_costs(costs, &d);
    if (rc != 0)
        return rc;
    fill_costs(costs, &d);
    if (in->per_node > 0 && in->per_node < most)
        most = in->per_node;
    for (size_t n = 0; n < nodes; n++) {
        size_t ranks = group_size(&costs->ranks, n);
        costs->capacity[n] = ranks < most ? ranks : most;
    }
    return 0;
}

void costs_release(struct costs *costs)
{
    base_arena_release(&costs->arena);
}
