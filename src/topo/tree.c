/* SPDX-License-Identifier: BSD-3-Clause */
/* The links as a tree: unchanged, or with the switches of a fat tree folded together. */
#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/union.h"
#include "topo/hosts.h"

/* A tree under construction: nodes first, then switches; children before parents. */
struct draft {
    const job_hosts *hosts;
    size_t vertices;
    size_t *parent; /* NO_INDEX: a top; with width[] what becomes of the result */
    size_t *width;
    struct base_arena arena; /* of what follows */
    size_t *below;           /* nodes in the subtree */
    size_t *drawn;           /* of each vertex of the fabric: its vertex here, NO_INDEX: not yet */
    size_t *height; /* of each switch: links to the nearest switch that has hosts; NO_INDEX: none */
    size_t *queue;
    size_t *part; /* union-find over the fabric's vertices */
    size_t *top;  /* of each root of a part: the vertex last drawn for it */
    size_t *open; /* vertices without a parent so far, and a switch of each */
    size_t *open_switch;
    size_t open_count;
};

static int is_switch(const topo_fabric *f, size_t v)
{
    return f->vertex[v].kind == KIND_SWITCH;
}

static void reset_drawing(struct draft *d)
{
    d->vertices = d->hosts->nodes;
    for (size_t v = 0; v < d->hosts->fabric->keys.count; v++)
        d->drawn[v] = NO_INDEX;
}

/* ---- heights ---- */

/* Leaves the switches in the queue by height, and returns their number. */
static size_t find_heights(struct draft *d)
{
    const topo_fabric *f = d->hosts->fabric;
    size_t count = 0;
    for (size_t v = 0; v < f->keys.count; v++)
        d->height[v] = NO_INDEX;
    for (size_t i = 0; i < f->arcs; i++) {
        size_t v = f->arc[i].from;
        if (is_switch(f, v) && d->height[v] == NO_INDEX &&
            f->vertex[f->arc[i].to].host != NO_INDEX) {
            d->height[v] = 0;
            d->queue[count++] = v;
        }
    }
    for (size_t k = 0; k < count; k++)
        for (size_t i = f->first_arc[d->queue[k]]; i < f->first_arc[d->queue[k] + 1]; i++) {
            size_t v = f->arc[i].to;
            if (!is_switch(f, v) || d->height[v] != NO_INDEX)
                continue;
            d->height[v] = d->height[d->queue[k]] + 1;
            d->queue[count++] = v;
        }
    return count;
}

/* ---- links that form a tree ---- */

/* The only switch that a node is connected to; NO_INDEX: there are several, or an adapter. */
static size_t only_switch(const struct draft *d, size_t node, size_t *cables)
{
    const topo_fabric *f = d->hosts->fabric;
    size_t own = f->of_host[d->hosts->host[node]], found = NO_INDEX;
    for (size_t i = f->first_arc[own]; i < f->first_arc[own + 1]; i++) {
        if (!is_switch(f, f->arc[i].to) || (found != NO_INDEX && f->arc[i].to != found))
            return NO_INDEX;
        found = f->arc[i].to;
    }
    *cables = f->first_arc[own + 1] - f->first_arc[own];
    return found;
}

/* Breadth-first over switches into the queue; above[v] is the predecessor of v. Returns their
 * number, 0: there is a cycle. */
static size_t walk_tree(const struct draft *d, size_t root, size_t *above)
{
    const topo_fabric *f = d->hosts->fabric;
    size_t count = 0;
    for (size_t v = 0; v < f->keys.count; v++)
        above[v] = NO_INDEX;
    above[root] = root;
    d->queue[count++] = root;
    for (size_t k = 0; k < count; k++) {
        size_t v = d->queue[k];
        for (size_t i = f->first_arc[v]; i < f->first_arc[v + 1]; i++) {
            size_t w = f->arc[i].to;
            if (!is_switch(f, w) || w == above[v])
                continue;
            if (above[w] != NO_INDEX && above[w] != v)
                return 0;
            if (above[w] == NO_INDEX)
                d->queue[count++] = w;
            above[w] = v;
        }
    }
    return count;
}

static void draw_switches(struct draft *d, const size_t *above, size_t count)
{
    const topo_fabric *f = d->hosts->fabric;
    for (size_t k = count; k > 0; k--)
        d->drawn[d->queue[k - 1]] = d->vertices++;
    for (size_t k = 0; k < count; k++) {
        size_t v = d->queue[k], t = d->drawn[v];
        d->parent[t] = above[v] == v ? NO_INDEX : d->drawn[above[v]];
        d->width[t] = 0;
        for (size_t i = f->first_arc[v]; i < f->first_arc[v + 1]; i++)
            d->width[t] += f->arc[i].to == above[v];
    }
}

/* 1: drawn. The highest switch is the root. */
static int draw_as_it_is(struct draft *d)
{
    size_t cables, root = only_switch(d, 0, &cables);
    reset_drawing(d);
    size_t count = root == NO_INDEX ? 0 : walk_tree(d, root, d->part);
    for (size_t k = 0; k < count; k++)
        if (d->height[d->queue[k]] != NO_INDEX && d->height[d->queue[k]] > d->height[root])
            root = d->queue[k];
    count = count == 0 ? 0 : walk_tree(d, root, d->part);
    draw_switches(d, d->part, count);
    for (size_t n = 0; count > 0 && n < d->hosts->nodes; n++) {
        size_t v = only_switch(d, n, &d->width[n]);
        if (v == NO_INDEX || d->drawn[v] == NO_INDEX)
            return 0;
        d->parent[n] = d->drawn[v];
    }
    return count > 0;
}

/* ---- fat trees ---- */

static void unite(const struct draft *d, size_t v, size_t w)
{
    d->part[base_root(d->part, v)] = base_root(d->part, w);
}

/* The switches of one node act as one. Leaves each node's last switch in parent. 0: a node has a
 * link to something else. */
static int unite_rails(struct draft *d)
{
    const topo_fabric *f = d->hosts->fabric;
    for (size_t n = 0; n < d->hosts->nodes; n++) {
        size_t own = f->of_host[d->hosts->host[n]], first = f->first_arc[own];
        d->width[n] = f->first_arc[own + 1] - first;
        for (size_t i = first; i < first + d->width[n]; i++) {
            if (!is_switch(f, f->arc[i].to))
                return 0;
            d->parent[n] = f->arc[i].to;
            unite(d, f->arc[first].to, d->parent[n]);
        }
    }
    return 1;
}

/* The switches of one height are queue[first] .. queue[end - 1]. */
static void unite_level(struct draft *d, size_t first, size_t end)
{
    const topo_fabric *f = d->hosts->fabric;
    for (size_t k = first; k < end; k++)
        for (size_t i = f->first_arc[d->queue[k]]; i < f->first_arc[d->queue[k] + 1]; i++) {
            size_t w = f->arc[i].to;
            if (is_switch(f, w) && d->height[w] <= d->height[d->queue[k]])
                unite(d, d->queue[k], w);
        }
}

/* Switches connected through switches up to this height act as one: draws a vertex for each such
 * part with a switch of this height, above those drawn for its components. */
static void draw_level(struct draft *d, size_t first, size_t end)
{
    size_t kept = 0, opened = d->open_count, level = d->vertices;
    for (size_t k = first; k < end; k++) {
        size_t v = d->queue[k], part = base_root(d->part, v);
        if (d->top[part] == NO_INDEX || d->top[part] < level) {
            d->parent[d->vertices] = NO_INDEX;
            d->width[d->vertices] = 0;
            d->open[d->open_count] = d->vertices;
            d->open_switch[d->open_count++] = v;
            d->top[part] = d->vertices++;
        }
        d->drawn[v] = d->top[part];
    }
    for (size_t k = 0; k < d->open_count; k++) {
        size_t top = d->top[base_root(d->part, d->open_switch[k])];
        if (k < opened && top != NO_INDEX && top >= level) {
            d->parent[d->open[k]] = top;
            continue;
        }
        d->open[kept] = d->open[k];
        d->open_switch[kept++] = d->open_switch[k];
    }
    d->open_count = kept;
}

static void draw_levels(struct draft *d, size_t switches)
{
    const topo_fabric *f = d->hosts->fabric;
    for (size_t first = 0, end; first < switches; first = end) {
        for (end = first; end < switches && d->height[d->queue[end]] == d->height[d->queue[first]];
             end++)
            ;
        unite_level(d, first, end);
        draw_level(d, first, end);
    }
    for (size_t i = 0; i < f->arcs; i++) {
        size_t v = f->arc[i].from, w = f->arc[i].to;
        if (d->drawn[v] != NO_INDEX && d->drawn[w] != NO_INDEX && d->height[w] == d->height[v] + 1)
            d->width[d->drawn[v]]++;
    }
}

/* 1: drawn. */
static int draw_folded(struct draft *d)
{
    size_t switches = find_heights(d);
    reset_drawing(d);
    d->open_count = 0;
    for (size_t v = 0; v < d->hosts->fabric->keys.count; v++) {
        d->part[v] = v;
        d->top[v] = NO_INDEX;
    }
    if (!unite_rails(d))
        return 0;
    draw_levels(d, switches);
    for (size_t n = 0; n < d->hosts->nodes; n++)
        d->parent[n] = d->drawn[d->parent[n]];
    return 1;
}

/* ---- checks ---- */

/* Removes vertices without nodes below, and those above the lowest common ancestor of all nodes. 0:
 * there is none. */
static int prune_draft(struct draft *d)
{
    size_t nodes = d->hosts->nodes, kept = nodes, root = NO_INDEX;
    for (size_t v = 0; v < d->vertices; v++)
        d->below[v] = v < nodes;
    for (size_t v = 0; v < d->vertices && root == NO_INDEX; v++)
        if (v >= nodes && d->below[v] == nodes)
            root = v;
        else if (d->parent[v] != NO_INDEX)
            d->below[d->parent[v]] += d->below[v];
    if (root == NO_INDEX)
        return 0;
    /* Reuses `top` for the new numbers: there are no more switches than in the fabric. */
    for (size_t v = nodes; v <= root; v++)
        if (d->below[v] > 0)
            d->top[v - nodes] = kept++;
    for (size_t v = 0; v <= root; v++) {
        if (v >= nodes && d->below[v] == 0)
            continue;
        size_t to = v < nodes ? v : d->top[v - nodes];
        d->parent[to] = v == root ? to : d->top[d->parent[v] - nodes];
        d->width[to] = d->width[v];
    }
    d->vertices = kept;
    return 1;
}

/* A parent has a higher number than its children. */
static size_t tree_distance(const struct draft *d, size_t v, size_t w)
{
    size_t hops = 0;
    for (; v != w; hops++)
        if (v < w)
            v = d->parent[v];
        else
            w = d->parent[w];
    return hops;
}

static int agrees_with_hops(const struct draft *d)
{
    const job_hosts *s = d->hosts;
    for (size_t n = 0; n < s->nodes; n++) {
        size_t p = s->class[n];
        if (s->sample[p] != n &&
            tree_distance(d, n, s->sample[p]) != s->between[p * s->classes + p])
            return 0;
    }
    for (size_t p = 0; p < s->classes; p++)
        for (size_t q = 0; q < s->classes; q++)
            if (p != q &&
                tree_distance(d, s->sample[p], s->sample[q]) != s->between[p * s->classes + q])
                return 0;
    return 1;
}

static int draft_init(struct draft *d)
{
    size_t vertices = d->hosts->fabric->keys.count, all;
    int rc = 0;
    if (__builtin_add_overflow(vertices, d->hosts->nodes, &all))
        return -ENOMEM;
    size_t **const of_tree[] = {&d->below, &d->open, &d->open_switch};
    size_t **const of_fabric[] = {&d->drawn, &d->height, &d->queue, &d->part, &d->top};
    for (size_t k = 0; k < sizeof of_tree / sizeof *of_tree; k++)
        *of_tree[k] = base_arena_alloc(&d->arena, all, sizeof(size_t));
    for (size_t k = 0; k < sizeof of_fabric / sizeof *of_fabric; k++)
        *of_fabric[k] = base_arena_alloc(&d->arena, vertices, sizeof(size_t));
    d->parent = base_zeroed(all, sizeof *d->parent, &rc);
    d->width = base_zeroed(all, sizeof *d->width, &rc);
    return d->arena.failed ? -ENOMEM : rc;
}

int hosts_find_tree(const job_hosts *s, topo_tree *tree)
{
    struct draft d = {.hosts = s};
    int rc = s->nodes > 0 ? draft_init(&d) : 0, found = 0;
    if (rc == 0 && s->nodes > 0) {
        find_heights(&d);
        found = draw_as_it_is(&d) && prune_draft(&d) && agrees_with_hops(&d);
        found = found || (draw_folded(&d) && prune_draft(&d) && agrees_with_hops(&d));
    }
    if (found) {
        *tree = (topo_tree){d.vertices, d.parent, d.width};
    } else {
        free(d.parent);
        free(d.width);
    }
    base_arena_release(&d.arena);
    return rc;
}
