/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over the components of a graph along the arcs whose weight counts. */
#include "setmatch/walk.h"

#include <errno.h>

int walk_init(walk *w, struct base_arena *arena, size_t vertices)
{
    *w = (walk){.visited = base_arena_alloc(arena, vertices, sizeof *w->visited),
                .order = base_arena_alloc(arena, vertices, sizeof *w->order),
                .stack = base_arena_alloc(arena, vertices, sizeof *w->stack),
                .at = base_arena_alloc(arena, vertices, sizeof *w->at)};
    return arena->failed ? -ENOMEM : 0;
}

void walk_reset(walk *w, const affinity *g, int64_t counted)
{
    w->g = g;
    w->counted = counted;
    w->length = 0;
    for (size_t v = 0; v < g->vertices; v++)
        w->visited[v] = false;
}

static bool is_counted(const walk *w, size_t i)
{
    return w->g->weight[i] >= w->counted;
}

void walk_breadth_first(walk *w, vertex seed)
{
    const affinity *g = w->g;
    w->visited[seed] = true;
    w->order[w->length] = seed;
    for (size_t head = w->length++; head < w->length; head++) {
        for (size_t i = g->start[w->order[head]]; i < g->start[w->order[head] + 1]; i++) {
            vertex other = g->other[i];
            if (!is_counted(w, i) || w->visited[other])
                continue;
            w->visited[other] = true;
            w->order[w->length++] = other;
        }
    }
}

/* The next vertex linked with v that is not visited, or NO_VERTEX. */
static vertex next_linked(walk *w, vertex v)
{
    while (w->at[v] < w->g->start[v + 1]) {
        size_t i = w->at[v]++;
        if (is_counted(w, i) && !w->visited[w->g->other[i]])
            return w->g->other[i];
    }
    return NO_VERTEX;
}

void walk_depth_first(walk *w, vertex seed)
{
    size_t depth = 0;
    for (vertex v = seed;;) {
        w->visited[v] = true;
        w->at[v] = w->g->start[v];
        w->order[w->length++] = w->stack[depth++] = v;
        while ((v = next_linked(w, w->stack[depth - 1])) == NO_VERTEX)
            if (--depth == 0)
                return;
    }
}

vertex walk_undo(walk *w, size_t from)
{
    vertex end = NO_VERTEX;
    size_t least = SIZE_MAX;
    for (size_t k = from; k < w->length; k++) {
        vertex v = w->order[k];
        size_t links = 0;
        for (size_t i = w->g->start[v]; i < w->g->start[v + 1]; i++)
            links += is_counted(w, i);
        if (links < least || (links == least && v < end)) {
            end = v;
            least = links;
        }
        w->visited[v] = false;
    }
    w->length = from;
    return end;
}
