/* SPDX-License-Identifier: BSD-3-Clause */
/* Successive shortest paths: each unit in turn enters along the cheapest chain "it goes to node a,
 * a unit of a moves to b, ..., to a node with room". First all nodes have room for `least` units,
 * then for `most`; a node's units never get fewer, so that both limits hold in the end. */
#include "transport.h"

#include "base/arena.h"

#include <math.h>
#include <stdint.h>

#define NONE SIZE_MAX

struct graph {
    const transport *in;
    size_t *node_of_unit;
    size_t *units_on; /* of each node */
    double *move;     /* move[n * nodes + m]: cheapest move of a unit from n to m */
    size_t *mover;    /* that unit */
    double *potential;
    double *distance;
    size_t *from; /* the node before, NONE: the new unit goes there itself */
    char *settled;
};

static double cost(const struct graph *g, size_t u, size_t n)
{
    return g->in->cost[u * g->in->nodes + n];
}

static void offer_moves(struct graph *g, size_t u)
{
    size_t n = g->node_of_unit[u], nodes = g->in->nodes;
    for (size_t m = 0; m < nodes; m++) {
        double change = cost(g, u, m) - cost(g, u, n);
        if (m != n && change < g->move[n * nodes + m]) {
            g->move[n * nodes + m] = change;
            g->mover[n * nodes + m] = u;
        }
    }
}

static void refresh_moves(struct graph *g, size_t n, size_t entered)
{
    size_t nodes = g->in->nodes;
    for (size_t m = 0; m < nodes; m++)
        g->move[n * nodes + m] = INFINITY;
    for (size_t u = 0; u <= entered; u++)
        if (g->node_of_unit[u] == n)
            offer_moves(g, u);
}

static size_t nearest(const struct graph *g)
{
    size_t best = NONE;
    for (size_t n = 0; n < g->in->nodes; n++)
        if (!g->settled[n] && (best == NONE || g->distance[n] < g->distance[best]))
            best = n;
    return best;
}

static void relax(struct graph *g, size_t n)
{
    size_t nodes = g->in->nodes;
    for (size_t m = 0; m < nodes; m++) {
        double way = g->distance[n] + g->move[n * nodes + m] + g->potential[n] - g->potential[m];
        if (!g->settled[m] && way < g->distance[m]) {
            g->distance[m] = way;
            g->from[m] = n;
        }
    }
}

/* Dijkstra over reduced costs; the node with room at which the way ends, or NONE. */
static size_t find_way(struct graph *g, size_t unit, const size_t *room)
{
    size_t nodes = g->in->nodes, end = NONE;
    double least = INFINITY;
    for (size_t n = 0; n < nodes; n++) {
        g->distance[n] = cost(g, unit, n) - g->potential[n];
        g->from[n] = NONE;
        g->settled[n] = 0;
    }
    /* Ways end at different potentials, so all nodes are settled and compared by true length. */
    for (size_t k = 0; k < nodes; k++) {
        size_t n = nearest(g);
        g->settled[n] = 1;
        relax(g, n);
        if (g->units_on[n] < room[n] && g->distance[n] + g->potential[n] < least) {
            least = g->distance[n] + g->potential[n];
            end = n;
        }
    }
    for (size_t n = 0; n < nodes; n++)
        g->potential[n] += g->distance[n];
    return end;
}

static void follow(struct graph *g, size_t unit, size_t end)
{
    g->units_on[end]++;
    while (g->from[end] != NONE) {
        size_t before = g->from[end], mover = g->mover[before * g->in->nodes + end];
        g->node_of_unit[mover] = end;
        end = before;
    }
    g->node_of_unit[unit] = end;
}

static int enter(struct graph *g, size_t unit, const size_t *room)
{
    size_t end = find_way(g, unit, room);
    if (end == NONE)
        return -1;
    size_t direct = g->from[end] == NONE;
    follow(g, unit, end);
    offer_moves(g, unit);
    for (size_t n = end; !direct && n != NONE; n = g->from[n])
        refresh_moves(g, n, unit);
    return 0;
}

static int solve(struct graph *g, double *total)
{
    size_t at_least = 0, nodes = g->in->nodes;
    double sum = 0.0;
    for (size_t n = 0; n < nodes; n++) {
        at_least += g->in->least[n];
        for (size_t m = 0; m < nodes; m++)
            g->move[n * nodes + m] = INFINITY;
    }
    for (size_t u = 0; u < g->in->units; u++)
        if (enter(g, u, u < at_least ? g->in->least : g->in->most) != 0)
            return -1;
    for (size_t u = 0; u < g->in->units; u++)
        sum += cost(g, u, g->node_of_unit[u]);
    *total = sum;
    return 0;
}

int transport_solve(const transport *in, size_t *node_of_unit, double *total)
{
    struct base_arena arena = {0};
    size_t nodes = in->nodes;
    struct graph g = {
        .in = in,
        .node_of_unit = node_of_unit,
        .units_on = base_arena_alloc(&arena, nodes, sizeof *g.units_on),
        .move = base_arena_alloc(&arena, nodes * nodes, sizeof *g.move),
        .mover = base_arena_alloc(&arena, nodes * nodes, sizeof *g.mover),
        .potential = base_arena_alloc(&arena, nodes, sizeof *g.potential),
        .distance = base_arena_alloc(&arena, nodes, sizeof *g.distance),
        .from = base_arena_alloc(&arena, nodes, sizeof *g.from),
        .settled = base_arena_alloc(&arena, nodes, sizeof *g.settled),
    };
    int rc = arena.failed ? -1 : solve(&g, total);
    base_arena_release(&arena);
    return rc;
}
