/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes of a domain on each node. */
#include "plan/costs.h"
#include "base/processor.h"
#include "plan/distance.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Classes whose costs are computed at once: loops of constant length vectorise. */
enum { BLOCK = 32 };

/* Bytes of a domain on the nodes of a class. */
struct part {
    size_t class;
    double bytes;
};

/* The product of classes x classes and the bytes by class. */
struct product {
    const struct classes *classes;
    size_t *start; /* domain j: part[start[j]] .. part[start[j + 1] - 1] */
    struct part *part;
    size_t *last; /* of each class: 1 + its last part, to find it again */
    float *hops;  /* of the current block: classes x BLOCK, from a node of the block's class */
};

static void add_part(struct product *x, size_t *used, size_t first, struct part part)
{
    size_t last = x->last[part.class];
    if (last > first) {
        x->part[last - 1].bytes += part.bytes;
    } else if (part.bytes != 0.0) {
        x->part[*used] = part;
        x->last[part.class] = ++*used;
    }
}

static void sum_classes(struct product *x, const struct sums *sums)
{
    size_t used = 0;
    for (size_t j = 0; j < sums->domains; j++) {
        x->start[j] = used;
        for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++) {
            struct part part = {x->classes->of_node[sums->node[e]], sums->bytes[e]};
            add_part(x, &used, x->start[j], part);
        }
    }
    x->start[sums->domains] = used;
}

/* The diagonal of the topology is undefined where a class has one node. */
static void fill_hops(struct product *x, size_t first, size_t count)
{
    const struct classes *classes = x->classes;
    for (size_t k = 0; k < count; k++) {
        size_t p = first + k;
        for (size_t q = 0; q < classes->count; q++)
            x->hops[q * BLOCK + k] =
                q == p ? (float)classes->within[p] : classes->between[p * classes->count + q];
    }
}

FOR_EACH_PROCESSOR
static void sum_block(const float *restrict hops, const struct part *restrict part, size_t count,
                      double *restrict sum)
{
    for (size_t c = 0; c < BLOCK; c++)
        sum[c] = 0.0;
    for (size_t k = 0; k < count; k++) {
        const float *from = hops + part[k].class * BLOCK;
        double bytes = part[k].bytes;
        for (size_t c = 0; c < BLOCK; c++)
            sum[c] += (double)from[c] * bytes;
    }
}

/* Hop-bytes of each domain from a node of each class that accesses none of it. */
static void fill_costs(struct costs *costs, struct product *x)
{
    size_t classes = costs->classes.count;
    double sum[BLOCK];
    for (size_t first = 0; first < classes; first += BLOCK) {
        size_t count = classes - first < BLOCK ? classes - first : BLOCK;
        fill_hops(x, first, count);
        for (size_t j = 0; j < costs->sums.domains; j++) {
            size_t start = x->start[j];
            sum_block(x->hops, x->part + start, x->start[j + 1] - start, sum);
            memcpy(costs->at_classes + j * classes + first, sum, count * sizeof *sum);
        }
    }
}

static int compute_costs(struct costs *costs)
{
    struct base_arena arena = {0};
    const struct sums *sums = &costs->sums;
    size_t classes = costs->classes.count, cells;
    struct product x = {.classes = &costs->classes};
    if (__builtin_mul_overflow(classes, (size_t)BLOCK, &cells))
        return -ENOMEM;
    x.start = base_arena_alloc(&arena, sums->domains + 1, sizeof *x.start);
    x.part = base_arena_alloc(&arena, sums->start[sums->domains], sizeof *x.part);
    x.last = base_arena_alloc(&arena, classes, sizeof *x.last);
    x.hops = base_arena_alloc(&arena, cells, sizeof *x.hops);
    if (!arena.failed) {
        sum_classes(&x, sums);
        fill_costs(costs, &x);
    }
    int rc = arena.failed ? -ENOMEM : 0;
    base_arena_release(&arena);
    return rc;
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

static int allocate_costs(struct costs *costs)
{
    struct base_arena *arena = &costs->arena;
    size_t size, classes = costs->classes.count;
    if (__builtin_mul_overflow(classes, costs->sums.domains, &size))
        return -ENOMEM;
    costs->capacity = base_arena_alloc(arena, costs->ranks.count, sizeof *costs->capacity);
    costs->at_classes = base_arena_alloc(arena, size, sizeof *costs->at_classes);
    return arena->failed ? -ENOMEM : 0;
}

int costs_init(struct costs *costs, const plan_input *in, const struct held *held)
{
    size_t nodes = in->topology->nodes, most = held->by_rank->cols;
    *costs = (struct costs){.own = held->apart ? 0.0 : TOPO_SAME_NODE};
    struct base_arena *arena = &costs->arena;
    int rc = plan_check_nodes(in);
    if (rc == 0)
        rc = group_items(arena, in->node_of_rank, in->requests->rows, nodes, &costs->ranks);
    if (rc == 0)
        rc = find_classes(arena, in->topology, held->apart, &costs->classes);
    if (rc == 0)
        rc = sums_of_ranks(arena, held, &costs->ranks, &costs->sums);
    if (rc == 0)
        rc = allocate_costs(costs);
    if (rc == 0)
        rc = compute_costs(costs);
    if (rc != 0)
        return rc;
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
