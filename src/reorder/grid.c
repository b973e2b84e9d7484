/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids: walks whose sections become nodes. */
#include "reorder/reorder.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

size_t reorder_ranks(const reorder_grid *grid, size_t most)
{
    size_t ranks = most > 0;
    for (size_t d = 0; d < grid->dims && ranks > 0; d++) {
        size_t extent = grid->extent[d] > 0 ? (size_t)grid->extent[d] : 0;
        ranks = extent > 0 && extent <= most / ranks ? ranks * extent : 0;
    }
    return ranks;
}

/* Dimensions of extent > 1, of up to 2^32 - 1 ranks. */
enum { MOST_DIMS = 32, MOST_WALKS = 24 };

/* The grid without the dimensions of extent 1, and its nodes. */
typedef struct space {
    size_t dims, ranks, nodes;
    size_t extent[MOST_DIMS], stride[MOST_DIMS];
    bool periodic[MOST_DIMS];
    size_t *count; /* processes of each node */
    size_t most;   /* processes of a node */
} space;

/* A walk along dimension `along`; width[along] is 1. */
typedef struct walk {
    size_t along, width[MOST_DIMS];
    double cut; /* estimated */
} walk;

static void init_space(space *s, const reorder_grid *grid)
{
    s->ranks = 1;
    for (size_t d = 0; d < grid->dims; d++) {
        if (grid->extent[d] == 1)
            continue;
        s->extent[s->dims] = (size_t)grid->extent[d];
        s->periodic[s->dims++] = grid->periodic[d];
        s->ranks *= (size_t)grid->extent[d];
    }
    for (size_t d = 0, stride = s->ranks; d < s->dims; d++)
        s->stride[d] = stride /= s->extent[d];
}

/* ---- the pairs of neighbours on two nodes ---- */

static int64_t count_between(const uint32_t *a, const uint32_t *b, size_t ranks)
{
    int64_t count = 0;
    for (size_t i = 0; i < ranks; i++)
        count += a[i] != b[i];
    return count;
}

static int64_t count_cut(const space *s, const uint32_t *node)
{
    int64_t cut = 0;
    for (size_t d = 0; d < s->dims; d++) {
        size_t last = (s->extent[d] - 1) * s->stride[d];
        for (const uint32_t *at = node; at < node + s->ranks; at += last + s->stride[d]) {
            cut += count_between(at, at + s->stride[d], last);
            if (s->periodic[d])
                cut += count_between(at, at + last, s->stride[d]);
        }
    }
    return cut;
}

/* ---- a walk ---- */

/* First the columns, then along them, then the cross-section. */
typedef struct walker {
    const space *space;
    const walk *walk;
    size_t dim[2 * MOST_DIMS], levels, columns;
    size_t first[MOST_DIMS]; /* of the column */
    uint32_t *node;          /* of each rank */
    size_t current, left;    /* the node that is filled, and its processes without rank */
} walker;

static void visit(walker *w, size_t rank)
{
    while (w->left == 0)
        w->left = w->space->count[++w->current];
    w->left--;
    w->node[rank] = (uint32_t)w->current;
}

/* Goes backwards after an odd number of steps: so each step is to a neighbour. */
static void walk_level(walker *w, size_t level, size_t rank, size_t steps)
{
    if (level == w->levels) {
        visit(w, rank);
        return;
    }
    size_t d = w->dim[level], width = w->walk->width[d], extent = w->space->extent[d];
    size_t rest = extent - w->first[d], step = level < w->columns ? width : 1;
    size_t count = level < w->columns ? (extent + width - 1) / width : rest < width ? rest : width;
    for (size_t i = 0; i < count; i++) {
        size_t at = steps % 2 == 0 ? i : count - 1 - i;
        if (level < w->columns)
            w->first[d] = at * width;
        walk_level(w, level + 1, rank + at * step * w->space->stride[d], steps + at);
    }
    if (level < w->columns)
        w->first[d] = 0;
}

static void fill_nodes(const space *s, const walk *k, uint32_t *node)
{
    walker w = {.space = s, .walk = k, .node = node, .left = s->count[0]};
    for (size_t d = 0; d < s->dims; d++)
        if (d != k->along)
            w.dim[w.levels++] = d;
    w.dim[w.levels++] = k->along;
    w.columns = w.levels;
    for (size_t d = 0; d < s->dims; d++)
        if (k->width[d] > 1)
            w.dim[w.levels++] = d;
    walk_level(&w, 0, 0, 0);
}

/* ---- the choice of walks ---- */

/* As if nodes were equal and began where a column does. */
static double estimate_cut(const space *s, const walk *k)
{
    double cut = 0.0, columns = 1.0, area = 1.0, nodes = (double)s->nodes;
    for (size_t d = 0; d < s->dims; d++) {
        size_t parts = (s->extent[d] + k->width[d] - 1) / k->width[d];
        if (d == k->along)
            continue;
        area *= (double)k->width[d];
        columns *= (double)parts;
        cut += (double)(s->ranks / s->extent[d]) *
               (double)(parts - (s->periodic[d] && parts > 1 ? 0 : 1));
    }
    if (nodes > columns)
        cut += area * (s->periodic[k->along] ? nodes : nodes - columns);
    return cut;
}

typedef struct choice {
    walk best[MOST_WALKS]; /* ascending by their estimates */
    size_t count;
} choice;

static void add_walk(choice *c, const space *s, walk *k)
{
    size_t at = c->count;
    k->cut = estimate_cut(s, k);
    while (at > 0 && k->cut < c->best[at - 1].cut)
        at--;
    if (at == MOST_WALKS)
        return;
    c->count += c->count < MOST_WALKS;
    memmove(&c->best[at + 1], &c->best[at], (c->count - 1 - at) * sizeof *k);
    c->best[at] = *k;
}

/* All widths that divide the extent in equal parts, but for the last one. */
static void choose_widths(choice *c, const space *s, walk *k, size_t d, size_t area)
{
    size_t extent = d < s->dims ? s->extent[d] : 0, width = 1;
    if (d == s->dims) {
        add_walk(c, s, k);
        return;
    }
    while (width <= extent && area * width <= s->most) {
        k->width[d] = width;
        choose_widths(c, s, k, d + 1, area * width);
        if (d == k->along || width == extent)
            break;
        size_t parts = (extent + width - 1) / width - 1; /* the next width has fewer */
        width = (extent + parts - 1) / parts;
    }
}

/* Sets node[] to the least cut, which is returned, unless it is that already; work: another such
 * array; cut: that of node[]. */
static int64_t choose_nodes(const space *s, int64_t cut, uint32_t *node, uint32_t *work)
{
    choice c = {.count = 0};
    int64_t least = cut;
    for (size_t d = s->dims; d-- > 0;)
        choose_widths(&c, s, &(walk){.along = d}, 0, 1);
    for (size_t i = 0; i < c.count; i++) {
        fill_nodes(s, &c.best[i], work);
        cut = count_cut(s, work);
        if (cut < least)
            memcpy(node, work, s->ranks * sizeof *node);
        least = cut < least ? cut : least;
    }
    return least;
}

int reorder_grid_place(const reorder_grid *grid, const size_t *node, size_t nodes,
                       size_t *node_of_rank, reorder_gain *gain)
{
    struct base_arena arena = {0};
    space s = {.nodes = nodes};
    init_space(&s, grid);
    s.count = base_arena_alloc(&arena, nodes, sizeof *s.count);
    uint32_t *placed = base_arena_alloc(&arena, s.ranks, sizeof *placed);
    uint32_t *work = base_arena_alloc(&arena, s.ranks, sizeof *work);
    int rc = arena.failed ? -ENOMEM : 0;
    for (size_t i = 0; rc == 0 && i < s.ranks; i++) {
        size_t count = ++s.count[node[i]];
        s.most = count > s.most ? count : s.most;
        placed[i] = (uint32_t)node[i];
    }
    if (rc == 0) {
        gain->before = count_cut(&s, placed);
        gain->after = choose_nodes(&s, gain->before, placed, work);
    }
    for (size_t i = 0; rc == 0 && i < s.ranks; i++)
        node_of_rank[i] = placed[i];
    base_arena_release(&arena);
    return rc;
}
