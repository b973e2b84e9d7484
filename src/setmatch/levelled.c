/* SPDX-License-Identifier: BSD-3-Clause */
/* SetMatch repeatedly, on the sets of the level before. */
#include "setmatch/pack.h"
#include "setmatch/walk.h"

/* Least thresholds in per cent; greater after the first levels, since each level is a pass over all
 * arcs. */
enum { LEAST_THRESHOLD = 10, FINE_LEVELS = 8, COARSE_THRESHOLD = 50 };

/* One level: the sets of the level before, linked by counted weights to components. */
struct level {
    sets_graph *s;
    walk w;       /* marks are components */
    size_t count; /* components that remain to be placed */
};

static size_t count_walked_ranks(const struct level *l, size_t from)
{
    size_t ranks = 0;
    for (size_t k = from; k < l->w.length; k++)
        ranks += l->s->g.size[l->w.order[k]];
    return ranks;
}

/* Fills nodes with the sets from order[from] on, until a node can hold the rest. */
static void split_component(struct level *l, size_t from, size_t ranks)
{
    sets_graph *s = l->s;
    size_t node = free_nodes_most(&s->free);
    while (ranks > s->free.node[node].free) {
        size_t free = s->free.node[node].free;
        ranks -= free;
        while (free > 0) {
            vertex c = l->w.order[from];
            size_t count = s->g.size[c] < free ? s->g.size[c] : free;
            sets_place(s, c, count, node);
            free -= count;
            from += s->g.size[c] == 0;
        }
        node = free_nodes_most(&s->free);
    }
}

/* One component: it stays whole, or all but a rest that fits a node is placed. */
static void link_component(struct level *l, vertex seed)
{
    size_t from = l->w.length, left = 0;
    vertex mark = (vertex)l->count;
    walk_breadth_first(&l->w, seed, mark);
    size_t ranks = count_walked_ranks(l, from);
    if (ranks > l->s->free.node[free_nodes_most(&l->s->free)].free) {
        bool path;
        vertex end = walk_undo(&l->w, from, &path);
        if (path)
            walk_depth_first(&l->w, end, mark);
        else
            walk_breadth_first(&l->w, end, mark);
        split_component(l, from, ranks);
    }
    for (size_t k = from; k < l->w.length; k++) {
        vertex c = l->w.order[k];
        if (l->s->g.size[c] == 0)
            l->w.mark[c] = NO_VERTEX;
        else
            left = 1;
    }
    l->count += left;
}

/* Skips placed sets, whose size is 0. */
static int run_level(struct level *l, unsigned threshold)
{
    l->count = 0;
    walk_reset(&l->w, &l->s->g, threshold);
    for (size_t c = 0; c < l->s->g.vertices; c++)
        if (l->w.mark[c] == NO_VERTEX && l->s->g.size[c] > 0)
            link_component(l, (vertex)c);
    return sets_merge(l->s, l->w.mark, l->count, l->w.order, l->w.length);
}

static int run_levels(struct level *l, unsigned threshold)
{
    unsigned levels = 0;
    int rc = 0;
    if (threshold < LEAST_THRESHOLD)
        threshold = LEAST_THRESHOLD;
    while (rc == 0 && l->s->g.start[l->s->g.vertices] > 0) {
        if (++levels > FINE_LEVELS && threshold < COARSE_THRESHOLD)
            threshold = COARSE_THRESHOLD;
        rc = run_level(l, threshold);
    }
    return rc;
}

int place_levelled(const affinity *ranks, const site *s, unsigned threshold, size_t *node)
{
    sets_graph sets;
    struct level l = {.s = &sets};
    int rc = sets_init(&sets, ranks, s, node);
    if (rc == 0)
        rc = walk_init(&l.w, &sets.arena, ranks->vertices);
    if (rc == 0)
        rc = run_levels(&l, threshold);
    if (rc == 0)
        rc = sets_pack(&sets, ranks);
    sets_release(&sets);
    return rc;
}
