/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a division of a graph in two by moves of single vertices. */
#include "setmatch/two_way.h"

#include <errno.h>

#include "setmatch/gains.h"

/* Arcs that take as long as a vertex does. */
enum { ARCS_PER_VISIT = 16 };

enum { UNLISTED, LISTED, MOVED };

struct refinement {
    const affinity *g;
    const two_way_limits *limits;
    two_way *t;
    unsigned char *side;
    gains heap[2];
    uint64_t size[2];
    size_t listed; /* entries of t->listed, the vertices that were in a heap */
    size_t moves;
    int64_t gained;
};

int two_way_init(two_way *t, struct base_arena *arena, size_t max_vertices)
{
    *t = (two_way){0};
    t->gain = base_arena_alloc(arena, max_vertices, sizeof *t->gain);
    t->position = base_arena_alloc(arena, max_vertices, sizeof *t->position);
    t->heap[0] = base_arena_alloc(arena, max_vertices, sizeof *t->heap[0]);
    t->heap[1] = base_arena_alloc(arena, max_vertices, sizeof *t->heap[1]);
    t->listed = base_arena_alloc(arena, max_vertices, sizeof *t->listed);
    t->moved = base_arena_alloc(arena, max_vertices, sizeof *t->moved);
    t->state = base_arena_alloc(arena, max_vertices, sizeof *t->state);
    return arena->failed ? -ENOMEM : 0;
}

/* Sets the gain of moving v. Returns whether v is worth a move: it has an arc to the other side, or
 * none at all. */
static int weigh_vertex(struct refinement *r, size_t v)
{
    const affinity *g = r->g;
    unsigned char side = r->side[v];
    int64_t gain = 0;
    int crosses = g->start[v] == g->start[v + 1];
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        int other = r->side[g->other[i]] != side;
        crosses |= other;
        gain += other ? g->weight[i] : -g->weight[i];
    }
    r->t->gain[v] = gain;
    return crosses;
}

static struct refinement begin_refinement(two_way *t, const affinity *g,
                                          const two_way_limits *limits, unsigned char *side)
{
    struct refinement r = {.g = g, .limits = limits, .t = t, .side = side};
    for (int s = 0; s < 2; s++)
        r.heap[s] = (gains){.heap = t->heap[s], .gain = t->gain, .position = t->position};
    for (size_t v = 0; v < g->vertices; v++) {
        int crosses = weigh_vertex(&r, v);
        r.size[side[v]] += g->size[v];
        t->state[v] = UNLISTED;
        if (crosses || g->vertices <= limits->all_listed)
            t->listed[r.listed++] = (vertex)v;
    }
    t->work += g->vertices + g->start[g->vertices] / ARCS_PER_VISIT;
    return r;
}

/* A pass starts with the vertices that were listed before. */
static void fill_heaps(struct refinement *r)
{
    r->heap[0].count = r->heap[1].count = 0;
    for (size_t k = 0; k < r->listed; k++) {
        vertex v = r->t->listed[k];
        r->t->state[v] = LISTED;
        gains_append(&r->heap[r->side[v]], v);
    }
    for (int s = 0; s < 2; s++)
        gains_build(&r->heap[s], r->heap[s].heap, r->heap[s].count);
}

static void list_vertex(struct refinement *r, vertex v)
{
    gains *h = &r->heap[r->side[v]];
    r->t->state[v] = LISTED;
    r->t->listed[r->listed++] = v;
    gains_up(h, h->heap, h->count++, v);
}

/* Ranks of side s beyond its limit. */
static uint64_t excess_of_side(const struct refinement *r, int s)
{
    uint64_t limit = r->limits->capacity[s] + r->limits->tolerance;
    return r->size[s] > limit ? r->size[s] - limit : 0;
}

static uint64_t excess_of_both(const struct refinement *r)
{
    return excess_of_side(r, 0) + excess_of_side(r, 1);
}

static vertex best_move_from(const struct refinement *r, int s)
{
    return r->heap[s].count > 0 ? r->heap[s].heap[0] : NO_VERTEX;
}

/* A side that is too large must shrink, even if none of its vertices has a neighbour on the other.
 */
static vertex best_move_from_full(struct refinement *r, int s)
{
    if (r->heap[s].count == 0 && r->listed < r->g->vertices)
        for (size_t v = 0; v < r->g->vertices; v++)
            if (r->side[v] == s && r->t->state[v] == UNLISTED)
                list_vertex(r, (vertex)v);
    return best_move_from(r, s);
}

/* Temporarily a side may exceed its limit by one vertex: without free slots a swap takes two moves.
 * The next move then leaves that side. */
static vertex choose_move(struct refinement *r)
{
    uint64_t excess[2] = {excess_of_side(r, 0), excess_of_side(r, 1)};
    if (excess[0] > 0 || excess[1] > 0)
        return best_move_from_full(r, excess[1] > excess[0]);
    vertex a = best_move_from(r, 0), b = best_move_from(r, 1);
    if (a == NO_VERTEX || b == NO_VERTEX)
        return a == NO_VERTEX ? b : a;
    if (r->t->gain[a] != r->t->gain[b])
        return r->t->gain[a] > r->t->gain[b] ? a : b;
    return r->size[0] >= r->size[1] ? a : b;
}

/* Adds to the gain of moving u. */
static void change_gain(struct refinement *r, vertex u, int64_t by)
{
    gains *h = &r->heap[r->side[u]];
    r->t->gain[u] += by;
    if (r->t->state[u] == LISTED && by > 0)
        gains_grew(h, u);
    else if (r->t->state[u] == LISTED)
        gains_fell(h, u);
}

/* Lists its neighbours on the side that v leaves. */
static void change_side(struct refinement *r, vertex v)
{
    const affinity *g = r->g;
    unsigned char from = r->side[v];
    r->size[from] -= g->size[v];
    r->size[1 - from] += g->size[v];
    r->side[v] = 1 - from;
    r->t->gain[v] = -r->t->gain[v];
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if (r->side[u] != from) {
            change_gain(r, u, -2 * g->weight[i]);
            continue;
        }
        change_gain(r, u, 2 * g->weight[i]);
        if (r->t->state[u] == UNLISTED)
            list_vertex(r, u);
    }
}

static void move_vertex(struct refinement *r, vertex v)
{
    gains_remove(&r->heap[r->side[v]], v);
    r->t->state[v] = MOVED;
    r->gained += r->t->gain[v];
    r->t->moved[r->moves++] = v;
    change_side(r, v);
}

/* Undoes the moves after the first `count`. The heaps are void. Another pass needs the gains. */
static void undo_moves(struct refinement *r, size_t count)
{
    for (size_t k = 0; k < r->listed; k++)
        r->t->state[r->t->listed[k]] = MOVED;
    while (r->moves > count)
        change_side(r, r->t->moved[--r->moves]);
}

/* The same after the last pass. */
static void undo_sides(struct refinement *r, size_t count)
{
    while (r->moves > count)
        r->side[r->t->moved[--r->moves]] ^= 1;
}

/* Accepts losses, and finally undoes all moves after the best point. Returns whether that point is
 * better than the beginning. */
static int run_pass(struct refinement *r, bool is_last)
{
    size_t best = 0;
    int64_t best_gained = 0;
    uint64_t least_excess = excess_of_both(r);
    vertex v;
    r->moves = 0;
    r->gained = 0;
    while (r->moves - best <= r->limits->patience && (v = choose_move(r)) != NO_VERTEX) {
        move_vertex(r, v);
        uint64_t excess = excess_of_both(r);
        if (excess < least_excess || (excess == least_excess && r->gained > best_gained)) {
            best = r->moves;
            best_gained = r->gained;
            least_excess = excess;
        }
    }
    r->t->work += r->moves;
    if (best > 0 && !is_last)
        undo_moves(r, best);
    else
        undo_sides(r, best);
    r->gained = best_gained;
    return best > 0;
}

int64_t two_way_refine(two_way *t, const affinity *g, const two_way_limits *limits,
                       unsigned char *side)
{
    int64_t gained = 0;
    struct refinement r = begin_refinement(t, g, limits, side);
    for (size_t i = 0; i < limits->max_passes; i++) {
        fill_heaps(&r);
        t->work += r.listed;
        int better = run_pass(&r, i + 1 == limits->max_passes);
        gained += r.gained;
        if (!better)
            break;
    }
    return gained;
}
