/* SPDX-License-Identifier: BSD-3-Clause */
/* SetMatch, level after level. */
#include <errno.h>
#include <stdlib.h>

#include "setmatch/candidates.h"
#include "setmatch/pack.h"

/* Levels are at least so far apart, and further after the first ones: each is a pass over all arcs.
 */
enum { LEAST_THRESHOLD = 10, FINE_LEVELS = 8, COARSE_THRESHOLD = 50 };

/* One level: the sets of the level before, linked by counted weights. */
struct level {
    sets_graph *s;
    int64_t counted; /* the least weight that counts */
    vertex *to;      /* by set: the number of the linked sets it is in */
    vertex *walk;    /* all sets, one linked set after the other */
    size_t walked;
    vertex *stack;
    size_t *at;   /* by set: where a depth-first walk goes on */
    size_t count; /* linked sets that stay */
};

static int64_t heaviest(const affinity *g)
{
    int64_t weight = 0;
    for (size_t i = 0; i < g->start[g->vertices]; i++)
        weight = g->weight[i] > weight ? g->weight[i] : weight;
    return weight;
}

static size_t degree(const struct level *l, vertex c)
{
    const affinity *g = &l->s->g;
    size_t count = 0;
    for (size_t i = g->start[c]; i < g->start[c + 1]; i++)
        count += g->weight[i] >= l->counted;
    return count;
}

/* Appends everything linked with `seed`, marked with `mark`, nearest first. */
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

/* The next set to go to from c, or NO_VERTEX. */
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

/* The same, each branch to its end. */
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

/* An end to begin at: the set with the fewest links, the lowest on a tie. Sets *path: none has more
 * than two, so that this is a path or a ring. */
static vertex walk_begin(const struct level *l, size_t from, int *path)
{
    vertex begin = l->walk[from];
    size_t least = degree(l, begin);
    *path = 1;
    for (size_t k = from; k < l->walked; k++) {
        vertex c = l->walk[k];
        size_t links = degree(l, c);
        *path &= links <= 2;
        if (links < least || (links == least && c < begin)) {
            begin = c;
            least = links;
        }
    }
    return begin;
}

static size_t count_ranks(const struct level *l, size_t from)
{
    size_t ranks = 0;
    for (size_t k = from; k < l->walked; k++)
        ranks += l->s->g.size[l->walk[k]];
    return ranks;
}

/* Fills nodes with what is walk[from] .. until a node can hold the rest. */
static void cut(struct level *l, size_t from, size_t ranks)
{
    sets_graph *s = l->s;
    size_t node = free_nodes_most(&s->free);
    while (ranks > s->free.node[node].free) {
        size_t room = s->free.node[node].free;
        ranks -= room;
        while (room > 0) {
            vertex c = l->walk[from];
            size_t count = s->g.size[c] < room ? s->g.size[c] : room;
            sets_take(s, c, count, node);
            room -= count;
            from += s->g.size[c] == 0;
        }
        node = free_nodes_most(&s->free);
    }
}

/* One linked set: it stays whole, or all but the rest of it is placed. */
static void link_set(struct level *l, vertex seed)
{
    size_t from = l->walked, left = 0;
    vertex mark = (vertex)l->count;
    int path;
    walk_breadth_first(l, seed, mark);
    size_t ranks = count_ranks(l, from);
    if (ranks > l->s->free.node[free_nodes_most(&l->s->free)].free) {
        vertex begin = walk_begin(l, from, &path);
        for (size_t k = from; k < l->walked; k++)
            l->to[l->walk[k]] = NO_VERTEX;
        l->walked = from;
        if (path)
            walk_depth_first(l, begin, mark);
        else
            walk_breadth_first(l, begin, mark);
        cut(l, from, ranks);
    }
    for (size_t k = from; k < l->walked; k++)
        left += l->s->g.size[l->walk[k]] > 0;
    l->count += left > 0;
    for (size_t k = from; k < l->walked; k++)
        if (l->s->g.size[l->walk[k]] == 0)
            l->to[l->walk[k]] = NO_VERTEX;
}

/* A placed set has no size: link_set must not begin at it again. */
static int run_level(struct level *l)
{
    size_t sets = l->s->g.vertices;
    l->walked = l->count = 0;
    for (size_t c = 0; c < sets; c++)
        l->to[c] = NO_VERTEX;
    for (size_t c = 0; c < sets; c++)
        if (l->to[c] == NO_VERTEX && l->s->g.size[c] > 0)
            link_set(l, (vertex)c);
    return sets_merge(l->s, l->to, l->count, l->walk, l->walked);
}

static int run_levels(struct level *l, unsigned threshold)
{
    int64_t largest;
    unsigned levels = 0;
    int rc = 0;
    if (threshold < LEAST_THRESHOLD)
        threshold = LEAST_THRESHOLD;
    while (rc == 0 && (largest = heaviest(&l->s->g)) > 0) {
        if (++levels > FINE_LEVELS && threshold < COARSE_THRESHOLD)
            threshold = COARSE_THRESHOLD;
        l->counted = largest - (int64_t)((__int128)largest * threshold / 100);
        l->counted += l->counted == 0;
        rc = run_level(l);
    }
    return rc;
}

int place_levelled(const affinity *ranks, const site *s, unsigned threshold, size_t *node)
{
    sets_graph sets;
    size_t n = ranks->vertices;
    int rc = sets_init(&sets, ranks, s, node);
    if (rc != 0)
        return rc;
    struct level l = {.s = &sets,
                      .to = calloc(n + 1, sizeof *l.to),
                      .walk = calloc(n + 1, sizeof *l.walk),
                      .stack = calloc(n + 1, sizeof *l.stack),
                      .at = calloc(n + 1, sizeof *l.at)};
    rc = l.to == NULL || l.walk == NULL || l.stack == NULL || l.at == NULL ? -ENOMEM : 0;
    if (rc == 0)
        rc = run_levels(&l, threshold);
    if (rc == 0)
        rc = sets_pack(&sets, ranks);
    free(l.to);
    free(l.walk);
    free(l.stack);
    free(l.at);
    sets_release(&sets);
    return rc;
}
