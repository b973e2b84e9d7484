/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a division of a graph in two by moves of single vertices. */
#include "setmatch/two_way.h"

#include <errno.h>
#include <stdbool.h>

#include "setmatch/gains.h"

/* Arcs that take as long as the visit of a vertex. Those beyond FEW_ARCS a vertex count with what
 * they cost in the other phases of bisection. */
enum { ARCS_PER_VISIT = 16, FEW_ARCS = 12, MANY_ARCS_PER_VISIT = 3 };

/* What side[] has of a vertex during a refinement, besides its side: whether it is or was in a
 * heap, and whether it is in one now. Only vertices in a heap may move. */
enum { LISTED = TWO_WAY_NEAR, WAITING = 4 };

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
    t->vertices = base_arena_alloc(arena, max_vertices, sizeof *t->vertices);
    t->heap[0] = base_arena_alloc(arena, max_vertices, sizeof *t->heap[0]);
    t->heap[1] = base_arena_alloc(arena, max_vertices, sizeof *t->heap[1]);
    t->listed = base_arena_alloc(arena, max_vertices, sizeof *t->listed);
    t->moved = base_arena_alloc(arena, max_vertices, sizeof *t->moved);
    return arena->failed ? -ENOMEM : 0;
}

static int side_of(const struct refinement *r, size_t v)
{
    return r->side[v] & TWO_WAY_SIDE;
}

/* Sets the gain of moving v. Returns whether v is worth a move: it has an arc to the other side, or
 * none at all. */
static int weigh_vertex(struct refinement *r, size_t v)
{
    const affinity *g = r->g;
    int64_t gain = 0;
    int side = side_of(r, v), crosses = g->start[v] == g->start[v + 1];
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        int other = side_of(r, g->other[i]) != side;
        crosses |= other;
        gain += other ? g->weight[i] : -g->weight[i];
    }
    r->t->vertices[v].gain = gain;
    return crosses;
}

static size_t work_of_graph(const affinity *g)
{
    size_t arcs = g->start[g->vertices], few = FEW_ARCS * g->vertices;
    size_t most = arcs > few ? (arcs - few) / MANY_ARCS_PER_VISIT : 0;
    return g->vertices + (most > arcs / ARCS_PER_VISIT ? most : arcs / ARCS_PER_VISIT);
}

/* Sums the sizes, and lists the vertices to begin with. Those that are not near the other side are
 * weighed only when they are listed. */
static struct refinement begin_refinement(two_way *t, const affinity *g,
                                          const two_way_limits *limits, unsigned char *side)
{
    struct refinement r = {.g = g, .limits = limits, .t = t, .side = side};
    bool all = g->vertices <= limits->all_listed;
    for (int s = 0; s < 2; s++)
        r.heap[s] = (gains){.heap = t->heap[s], .vertices = t->vertices};
    for (size_t v = 0; v < g->vertices; v++) {
        r.size[side_of(&r, v)] += g->size[v];
        if (!all && (side[v] & TWO_WAY_NEAR) == 0)
            continue;
        side[v] &= TWO_WAY_SIDE;
        if (weigh_vertex(&r, v) || all)
            t->listed[r.listed++] = (vertex)v;
    }
    t->work += work_of_graph(g);
    return r;
}

/* A pass starts with the vertices that were listed before. */
static void fill_heaps(struct refinement *r)
{
    r->heap[0].count = r->heap[1].count = 0;
    for (size_t k = 0; k < r->listed; k++) {
        vertex v = r->t->listed[k];
        r->side[v] |= LISTED | WAITING;
        gains_append(&r->heap[side_of(r, v)], v);
    }
    for (int s = 0; s < 2; s++)
        gains_build(&r->heap[s], r->heap[s].heap, r->heap[s].count);
}

static void list_vertex(struct refinement *r, vertex v)
{
    weigh_vertex(r, v);
    r->side[v] |= LISTED | WAITING;
    r->t->listed[r->listed++] = v;
    gains_insert(&r->heap[side_of(r, v)], v);
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

/* A side that is too large must shrink, even if none of its vertices has a neighbour on the other.
 */
static vertex best_move_from_full(struct refinement *r, int s)
{
    if (r->heap[s].count == 0 && r->listed < r->g->vertices)
        for (size_t v = 0; v < r->g->vertices; v++)
            if (r->side[v] == s)
                list_vertex(r, (vertex)v);
    return gains_top(&r->heap[s]);
}

/* Temporarily a side may exceed its limit by one vertex: without free slots a swap takes two moves.
 * The next move then leaves that side. */
static vertex choose_move(struct refinement *r)
{
    uint64_t excess[2] = {excess_of_side(r, 0), excess_of_side(r, 1)};
    if (excess[0] > 0 || excess[1] > 0)
        return best_move_from_full(r, excess[1] > excess[0]);
    vertex a = gains_top(&r->heap[0]), b = gains_top(&r->heap[1]);
    if (a == NO_VERTEX || b == NO_VERTEX)
        return a == NO_VERTEX ? b : a;
    if (r->t->vertices[a].gain != r->t->vertices[b].gain)
        return r->t->vertices[a].gain > r->t->vertices[b].gain ? a : b;
    return r->size[0] >= r->size[1] ? a : b;
}

/* Adds to the gain of moving u, which was listed. */
static void change_gain(struct refinement *r, vertex u, int64_t by)
{
    r->t->vertices[u].gain += by;
    if (by > 0 && (r->side[u] & WAITING) != 0)
        gains_grew(&r->heap[side_of(r, u)], u);
}

/* Lists its neighbours on the side that v leaves; those on the other were listed before. */
static void change_side(struct refinement *r, vertex v)
{
    const affinity *g = r->g;
    int from = side_of(r, v);
    r->size[from] -= g->size[v];
    r->size[1 - from] += g->size[v];
    r->side[v] ^= TWO_WAY_SIDE;
    r->t->vertices[v].gain = -r->t->vertices[v].gain;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if ((r->side[u] & LISTED) == 0)
            list_vertex(r, u);
        else
            change_gain(r, u, side_of(r, u) == from ? 2 * g->weight[i] : -2 * g->weight[i]);
    }
}

/* Moves the vertex at the top of its heap. */
static void move_vertex(struct refinement *r, vertex v)
{
    gains_remove_top(&r->heap[side_of(r, v)]);
    r->side[v] &= (unsigned char)~WAITING;
    r->gained += r->t->vertices[v].gain;
    r->t->moved[r->moves++] = v;
    change_side(r, v);
}

/* Undoes the moves after the first `count`. The heaps are void. Another pass needs the gains. */
static void undo_moves(struct refinement *r, size_t count)
{
    for (size_t k = 0; k < r->listed; k++)
        r->side[r->t->listed[k]] &= (unsigned char)~WAITING;
    while (r->moves > count)
        change_side(r, r->t->moved[--r->moves]);
}

/* The same after the last pass. */
static void undo_sides(struct refinement *r, size_t count)
{
    while (r->moves > count)
        r->side[r->t->moved[--r->moves]] ^= TWO_WAY_SIDE;
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
    for (size_t k = 0; k < r.listed; k++)
        side[t->listed[k]] &= TWO_WAY_SIDE | TWO_WAY_NEAR;
    return gained;
}
