/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a division of a graph in two by moves of single vertices. */
#include "setmatch/two_way.h"

#include <errno.h>
#include <stdlib.h>

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

int two_way_init(two_way *t, size_t room)
{
    *t = (two_way){.room = room,
                   .gain = calloc(room + 1, sizeof *t->gain),
                   .place = calloc(room + 1, sizeof *t->place),
                   .heap = {calloc(room + 1, sizeof(vertex)), calloc(room + 1, sizeof(vertex))},
                   .moved = calloc(room + 1, sizeof *t->moved),
                   .has_moved = calloc(room + 1, sizeof *t->has_moved)};
    if (t->gain == NULL || t->place == NULL || t->heap[0] == NULL || t->heap[1] == NULL ||
        t->moved == NULL || t->has_moved == NULL) {
        two_way_release(t);
        return -ENOMEM;
    }
    return 0;
}

void two_way_release(two_way *t)
{
    free(t->gain);
    free(t->place);
    free(t->heap[0]);
    free(t->heap[1]);
    free(t->moved);
    free(t->has_moved);
    *t = (two_way){0};
}

static int64_t gain_of(const struct pass *p, size_t v)
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
        p.heap[s] = (gains){.heap = t->heap[s], .gain = t->gain, .place = t->place};
    for (size_t v = 0; v < g->vertices; v++) {
        p.gain[v] = gain_of(&p, v);
        p.has_moved[v] = 0;
        p.size[side[v]] += g->size[v];
        gains_put(&p.heap[side[v]], (vertex)v);
    }
    gains_order(&p.heap[0]);
    gains_order(&p.heap[1]);
    return p;
}

/* By how many ranks side s is over what it may hold. */
static uint64_t over(const struct pass *p, int s)
{
    uint64_t most = p->limits->capacity[s] + p->limits->tolerance;
    return p->size[s] > most ? p->size[s] - most : 0;
}

static vertex best_of(const struct pass *p, int s)
{
    return p->heap[s].count > 0 ? p->heap[s].heap[0] : NO_VERTEX;
}

/* On the way a side may be over its limit by one vertex, since with no slot free a swap is two
 * moves; the next move then goes out of that side. */
static vertex choose(const struct pass *p)
{
    if (over(p, 0) > 0 || over(p, 1) > 0)
        return best_of(p, over(p, 1) > over(p, 0));
    vertex a = best_of(p, 0), b = best_of(p, 1);
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

static void move(struct pass *p, vertex v)
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

/* Moves on through losses, and goes back to the best point on the way. Returns whether that point
 * is better than the beginning. */
static int run_pass(struct pass *p)
{
    size_t best = 0;
    int64_t best_gained = 0;
    uint64_t least_over = over(p, 0) + over(p, 1);
    vertex v;
    while (p->moves - best <= p->limits->patience && (v = choose(p)) != NO_VERTEX) {
        move(p, v);
        uint64_t now = over(p, 0) + over(p, 1);
        if (now < least_over || (now == least_over && p->gained > best_gained)) {
            best = p->moves;
            best_gained = p->gained;
            least_over = now;
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
    for (size_t i = 0; i < limits->passes; i++) {
        struct pass p = begin_pass(t, g, limits, side);
        int better = run_pass(&p);
        t->work += g->vertices + p.tried;
        gained += p.gained;
        if (!better)
            break;
    }
    return gained;
}
