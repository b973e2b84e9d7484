/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a division of a graph in two by moves of single vertices. */
#include "setmatch/two_way.h"

#include <errno.h>

#include "setmatch/gains.h"

struct pass {
    const affinity *g;
    const two_way_limits *limits;
    unsigned char *side, *has_moved;
    int64_t *gain;
    gains heap[2];
    uint64_t size[2];
    vertex *moved;
    size_t moves, tried;
    int64_t gained;
};

int two_way_init(two_way *t, struct base_arena *arena, size_t max_vertices)
{
    *t = (two_way){0};
    t->gain = base_arena_alloc(arena, max_vertices, sizeof *t->gain);
    t->position = base_arena_alloc(arena, max_vertices, sizeof *t->position);
    t->heap[0] = base_arena_alloc(arena, max_vertices, sizeof *t->heap[0]);
    t->heap[1] = base_arena_alloc(arena, max_vertices, sizeof *t->heap[1]);
    t->moved = base_arena_alloc(arena, max_vertices, sizeof *t->moved);
    t->has_moved = base_arena_alloc(arena, max_vertices, sizeof *t->has_moved);
    return arena->failed ? -ENOMEM : 0;
}

static int64_t gain_of_move(const struct pass *p, size_t v)
{
    int64_t gain = 0;
    for (size_t i = p->g->start[v]; i < p->g->start[v + 1]; i++)
        gain += p->side[p->g->other[i]] != p->side[v] ? p->g->weight[i] : -p->g->weight[i];
    return gain;
}

static struct pass begin_pass(two_way *t, const affinity *g, const two_way_limits *limits,
                              unsigned char *side)
{
    struct pass p = {.g = g,
                     .limits = limits,
                     .side = side,
                     .has_moved = t->has_moved,
                     .gain = t->gain,
                     .moved = t->moved};
    for (int s = 0; s < 2; s++)
        p.heap[s] = (gains){.heap = t->heap[s], .gain = t->gain, .position = t->position};
    for (size_t v = 0; v < g->vertices; v++) {
        p.gain[v] = gain_of_move(&p, v);
        p.has_moved[v] = 0;
        p.size[side[v]] += g->size[v];
        gains_append(&p.heap[side[v]], (vertex)v);
    }
    for (int s = 0; s < 2; s++)
        gains_build(&p.heap[s], p.heap[s].heap, p.heap[s].count);
    return p;
}

/* Ranks of side s beyond its limit. */
static uint64_t excess_of_side(const struct pass *p, int s)
{
    uint64_t limit = p->limits->capacity[s] + p->limits->tolerance;
    return p->size[s] > limit ? p->size[s] - limit : 0;
}

static vertex best_move_from(const struct pass *p, int s)
{
    return p->heap[s].count > 0 ? p->heap[s].heap[0] : NO_VERTEX;
}

/* Temporarily a side may exceed its limit by one vertex: without free slots a swap takes two moves.
 * The next move then leaves that side. */
static vertex choose_move(const struct pass *p)
{
    uint64_t excess[2] = {excess_of_side(p, 0), excess_of_side(p, 1)};
    if (excess[0] > 0 || excess[1] > 0)
        return best_move_from(p, excess[1] > excess[0]);
    vertex a = best_move_from(p, 0), b = best_move_from(p, 1);
    if (a == NO_VERTEX || b == NO_VERTEX)
        return a == NO_VERTEX ? b : a;
    if (p->gain[a] != p->gain[b])
        return p->gain[a] > p->gain[b] ? a : b;
    return p->size[0] >= p->size[1] ? a : b;
}

static void change_side(struct pass *p, vertex v)
{
    unsigned char from = p->side[v];
    p->size[from] -= p->g->size[v];
    p->side[v] = 1 - from;
    p->size[1 - from] += p->g->size[v];
}

static void move_vertex(struct pass *p, vertex v)
{
    gains_remove(&p->heap[p->side[v]], v);
    p->has_moved[v] = 1;
    p->gained += p->gain[v];
    change_side(p, v);
    p->moved[p->moves++] = v;
    for (size_t i = p->g->start[v]; i < p->g->start[v + 1]; i++) {
        vertex u = p->g->other[i];
        if (p->has_moved[u])
            continue;
        if (p->side[u] != p->side[v]) {
            p->gain[u] += 2 * p->g->weight[i];
            gains_grew(&p->heap[p->side[u]], u);
        } else {
            p->gain[u] -= 2 * p->g->weight[i];
            gains_fell(&p->heap[p->side[u]], u);
        }
    }
}

/* Accepts losses, and finally undoes all moves after the best point. Returns whether that point is
 * better than the beginning. */
static int run_pass(struct pass *p)
{
    size_t best = 0;
    int64_t best_gained = 0;
    uint64_t least_excess = excess_of_side(p, 0) + excess_of_side(p, 1);
    vertex v;
    while (p->moves - best <= p->limits->patience && (v = choose_move(p)) != NO_VERTEX) {
        move_vertex(p, v);
        uint64_t excess = excess_of_side(p, 0) + excess_of_side(p, 1);
        if (excess < least_excess || (excess == least_excess && p->gained > best_gained)) {
            best = p->moves;
            best_gained = p->gained;
            least_excess = excess;
        }
    }
    p->tried = p->moves;
    while (p->moves > best)
        change_side(p, p->moved[--p->moves]);
    p->gained = best_gained;
    return best > 0;
}

int64_t two_way_refine(two_way *t, const affinity *g, const two_way_limits *limits,
                       unsigned char *side)
{
    int64_t gained = 0;
    for (size_t i = 0; i < limits->max_passes; i++) {
        struct pass p = begin_pass(t, g, limits, side);
        int better = run_pass(&p);
        t->work += g->vertices + p.tried;
        gained += p.gained;
        if (!better)
            break;
    }
    return gained;
}
