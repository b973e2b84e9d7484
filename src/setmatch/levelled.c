/* SPDX-License-Identifier: BSD-3-Clause */
/* SetMatch repeatedly, on the sets of the level before. */
#include <errno.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/pack.h"

/* Least thresholds in per cent; greater after the first levels, since each level is a pass over all
 * arcs. */
enum { LEAST_THRESHOLD = 10, FINE_LEVELS = 8, COARSE_THRESHOLD = 50 };

/* One level: the sets of the level before, linked by counted weights to components. */
struct level {
    sets_graph *s;
    int64_t counted; /* the least weight that counts */
    vertex *to;      /* by set: its component */
    vertex *walk;    /* all sets, component by component */
    size_t walked;
    vertex *stack;
    size_t *at;   /* by set: the next arc of a depth-first walk */
    size_t count; /* components that remain to be placed */
};

static int64_t heaviest_weight(const affinity *g)
{
    int64_t weight = 0;
    for (size_t i = 0; i < g->start[g->vertices]; i++)
        weight = g->weight[i] > weight ? g->weight[i] : weight;
    return weight;
}

static size_t count_links(const struct level *l, vertex c)
{
    const affinity *g = &l->s->g;
    size_t count = 0;
    for (size_t i = g->start[c]; i < g->start[c + 1]; i++)
        count += g->weight[i] >= l->counted;
    return count;
}

/* Appends the component of `seed` in breadth-first order, marked with `mark`. */
static void walk_breadth_first(struct level *l, vertex seed, vertex mark)
{
    const affinity *g = &l->s->g;
    l->to[seed] = mark;
    l->walk[l->walked] = seed;
    for (size_t head = l->walked++; head < l->walked; head++) {
        for (size_t i = g->start[l->walk[head]]; i < g->start[l->walk[head] + 1]; i++) {
            vertex other = g->other[i];
            if (g->weight[i] < l->counted || l->to[other] == mark)
                continue;
            l->to[other] = mark;
            l->walk[l->walked++] = other;
        }
    }
}

/* The next set linked with c that is not marked, or NO_VERTEX. */
static vertex next_linked(struct level *l, vertex c, vertex mark)
{
    const affinity *g = &l->s->g;
    while (l->at[c] < g->start[c + 1]) {
        size_t i = l->at[c]++;
        if (g->weight[i] >= l->counted && l->to[g->other[i]] != mark)
            return g->other[i];
    }
    return NO_VERTEX;
}

/* The same in depth-first order. */
static void walk_depth_first(struct level *l, vertex seed, vertex mark)
{
    size_t depth = 0;
    for (vertex c = seed;;) {
        l->to[c] = mark;
        l->at[c] = l->s->g.start[c];
        l->walk[l->walked++] = l->stack[depth++] = c;
        while ((c = next_linked(l, l->stack[depth - 1], mark)) == NO_VERTEX)
            if (--depth == 0)
                return;
    }
}

/* The set with the fewest links, the lowest on a tie. Sets *path: none has more than two, so that
 * the component is a path or a ring. */
static vertex find_component_end(const struct level *l, size_t from, int *path)
{
    vertex begin = l->walk[from];
    size_t least = count_links(l, begin);
    *path = 1;
    for (size_t k = from; k < l->walked; k++) {
        vertex c = l->walk[k];
        size_t links = count_links(l, c);
        *path &= links <= 2;
        if (links < least || (links == least && c < begin)) {
            begin = c;
            least = links;
        }
    }
    return begin;
}

static size_t count_walked_ranks(const struct level *l, size_t from)
{
    size_t ranks = 0;
    for (size_t k = from; k < l->walked; k++)
        ranks += l->s->g.size[l->walk[k]];
    return ranks;
}

/* Fills nodes with the sets from walk[from] on, until a node can hold the rest. */
static void split_component(struct level *l, size_t from, size_t ranks)
{
    sets_graph *s = l->s;
    size_t node = free_nodes_most(&s->free);
    while (ranks > s->free.node[node].free) {
        size_t free = s->free.node[node].free;
        ranks -= free;
        while (free > 0) {
            vertex c = l->walk[from];
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
    size_t from = l->walked, left = 0;
    vertex mark = (vertex)l->count;
    int path;
    walk_breadth_first(l, seed, mark);
    size_t ranks = count_walked_ranks(l, from);
    if (ranks > l->s->free.node[free_nodes_most(&l->s->free)].free) {
        vertex begin = find_component_end(l, from, &path);
        for (size_t k = from; k < l->walked; k++)
            l->to[l->walk[k]] = NO_VERTEX;
        l->walked = from;
        if (path)
            walk_depth_first(l, begin, mark);
        else
            walk_breadth_first(l, begin, mark);
        split_component(l, from, ranks);
    }
    for (size_t k = from; k < l->walked; k++)
        left += l->s->g.size[l->walk[k]] > 0;
    l->count += left > 0;
    for (size_t k = from; k < l->walked; k++)
        if (l->s->g.size[l->walk[k]] == 0)
            l->to[l->walk[k]] = NO_VERTEX;
}

/* Skips placed sets, whose size is 0. */
static int run_level(struct level *l)
{
    size_t sets = l->s->g.vertices;
    l->walked = l->count = 0;
    for (size_t c = 0; c < sets; c++)
        l->to[c] = NO_VERTEX;
    for (size_t c = 0; c < sets; c++)
        if (l->to[c] == NO_VERTEX && l->s->g.size[c] > 0)
            link_component(l, (vertex)c);
    return sets_merge(l->s, l->to, l->count, l->walk, l->walked);
}

static int run_levels(struct level *l, unsigned threshold)
{
    int64_t largest;
    unsigned levels = 0;
    int rc = 0;
    if (threshold < LEAST_THRESHOLD)
        threshold = LEAST_THRESHOLD;
    while (rc == 0 && (largest = heaviest_weight(&l->s->g)) > 0) {
        if (++levels > FINE_LEVELS && threshold < COARSE_THRESHOLD)
            threshold = COARSE_THRESHOLD;
        l->counted = largest - (int64_t)((__int128)largest * threshold / 100);
        l->counted += l->counted == 0;
        rc = run_level(l);
    }
    return rc;
}

int place_levelled(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                   size_t *node)
{
    (void)variant;
    sets_graph sets;
    struct base_arena arena = {0};
    size_t n = ranks->vertices;
    int rc = sets_init(&sets, ranks, s, node);
    if (rc != 0)
        return rc;
    struct level l = {.s = &sets,
                      .to = base_arena_alloc(&arena, n, sizeof *l.to),
                      .walk = base_arena_alloc(&arena, n, sizeof *l.walk),
                      .stack = base_arena_alloc(&arena, n, sizeof *l.stack),
                      .at = base_arena_alloc(&arena, n, sizeof *l.at)};
    rc = arena.failed ? -ENOMEM : run_levels(&l, threshold);
    if (rc == 0)
        rc = sets_pack(&sets, ranks);
    base_arena_release(&arena);
    sets_release(&sets);
    return rc;
}
