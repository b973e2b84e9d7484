/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of a forest: each node in turn takes the ranks of least cut to those that are left.
 * These are found exactly, by sums over subtrees. Source: Lukes, "Efficient algorithm for the
 * partitioning of trees", IBM Journal of Research and Development 18 (1974). */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"

/* Limits of memory: table entries. So many of them take as long as the visit of a rank. */
enum { MOST_ENTRIES = 1 << 21, ENTRIES_PER_VISIT = 32 };

/* More than any cut, and three times that is an int64. */
#define NO_CUT (INT64_C(1) << 61)

/* What a subtree adds to a choice of ranks: a number of its own, with or without its root. */
struct part {
    uint32_t chosen;
    bool has_root;
};

/* All trees hang from one more vertex, which is not a rank. */
struct forest {
    struct base_arena arena;
    const affinity *g;
    vertex *order;        /* parents before children */
    vertex *parent;       /* by rank */
    int64_t *weight;      /* by rank: to its parent */
    bool *placed;         /* by rank */
    size_t most;          /* ranks that are to be chosen */
    int64_t *cut[2];      /* by vertex, whether it is chosen, and ranks chosen of its subtree */
    struct part *part[2]; /* by rank, whether its parent is chosen, and ranks chosen of what the
                             parent has merged so far with this subtree */
    size_t *ranks;        /* by vertex: of its subtree, as far as it is merged; those to choose */
    int64_t *sum[2];      /* of a vertex while it merges a subtree */
    bool *chosen;         /* by vertex */
    size_t work;          /* table entries */
};

static int init_forest(struct forest *f, const affinity *g, size_t most)
{
    size_t ranks = g->vertices, entries = (ranks + 1) * (most + 1);
    *f = (struct forest){.g = g};
    f->order = base_arena_alloc(&f->arena, ranks, sizeof *f->order);
    f->parent = base_arena_alloc(&f->arena, ranks, sizeof *f->parent);
    f->weight = base_arena_alloc(&f->arena, ranks, sizeof *f->weight);
    f->placed = base_arena_alloc(&f->arena, ranks, sizeof *f->placed);
    f->ranks = base_arena_alloc(&f->arena, ranks + 1, sizeof *f->ranks);
    f->chosen = base_arena_alloc(&f->arena, ranks + 1, sizeof *f->chosen);
    for (size_t k = 0; k < 2; k++) {
        f->cut[k] = base_arena_alloc(&f->arena, entries, sizeof *f->cut[k]);
        f->part[k] = base_arena_alloc(&f->arena, entries, sizeof *f->part[k]);
        f->sum[k] = base_arena_alloc(&f->arena, most + 1, sizeof *f->sum[k]);
    }
    return f->arena.failed ? -ENOMEM : 0;
}

/* ---- trees ---- */

/* Breadth first from `root`; returns the number of vertices that are listed then. */
static size_t list_tree(struct forest *f, vertex root, size_t listed)
{
    const affinity *g = f->g;
    size_t end = listed;
    f->order[end++] = root;
    f->parent[root] = (vertex)g->vertices;
    for (size_t at = listed; at < end; at++) {
        vertex v = f->order[at];
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
            vertex u = g->other[i];
            if (f->parent[u] != NO_VERTEX)
                continue;
            f->order[end++] = u;
            f->parent[u] = v;
            f->weight[u] = g->weight[i];
        }
    }
    return end;
}

/* Returns the number of trees, of which all edges but those to a parent are ignored. */
static size_t list_trees(struct forest *f)
{
    size_t ranks = f->g->vertices, listed = 0, trees = 0;
    memset(f->parent, 0xff, ranks * sizeof *f->parent);
    for (size_t v = 0; v < ranks; v++) {
        if (f->parent[v] != NO_VERTEX)
            continue;
        listed = list_tree(f, (vertex)v, listed);
        trees++;
    }
    return trees;
}

/* ---- choice of ranks ---- */

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int64_t *cuts_of(const struct forest *f, size_t v, bool chosen)
{
    return f->cut[chosen] + v * (f->most + 1);
}

static struct part *parts_of(const struct forest *f, size_t v, bool parent_is_chosen)
{
    return f->part[parent_is_chosen] + v * (f->most + 1);
}

/* Vertices alone. */
static void begin_choice(struct forest *f)
{
    size_t root = f->g->vertices;
    for (size_t v = 0; v <= root; v++) {
        f->ranks[v] = v < root;
        cuts_of(f, v, false)[0] = 0;
        cuts_of(f, v, true)[0] = NO_CUT;
        if (v < root) {
            cuts_of(f, v, false)[1] = NO_CUT;
            cuts_of(f, v, true)[1] = 0;
        }
    }
}

/* Adds the subtree of v, whose root is chosen or not, to its parent, which is chosen or not. */
static void add_subtree(struct forest *f, vertex v, bool parent_is_chosen, bool v_is_chosen)
{
    size_t p = f->parent[v], most = f->most;
    const int64_t *above = cuts_of(f, p, parent_is_chosen), *below = cuts_of(f, v, v_is_chosen);
    struct part *part = parts_of(f, v, parent_is_chosen);
    int64_t *sum = f->sum[parent_is_chosen];
    int64_t edge = parent_is_chosen != v_is_chosen ? f->weight[v] : 0;
    for (size_t i = 0; i <= lesser(f->ranks[p], most); i++) {
        size_t last = lesser(f->ranks[v], most - i);
        for (size_t j = 0; j <= last; j++) {
            int64_t cut = above[i] + below[j] + edge;
            if (cut >= sum[i + j])
                continue;
            sum[i + j] = cut;
            part[i + j] = (struct part){(uint32_t)j, v_is_chosen};
        }
        f->work += last + 1;
    }
}

static void merge_subtree(struct forest *f, vertex v)
{
    size_t p = f->parent[v], count = lesser(f->ranks[p] + f->ranks[v], f->most) + 1;
    for (size_t k = 0; k < 2; k++) {
        bool parent_is_chosen = k == 1;
        for (size_t i = 0; i < count; i++)
            f->sum[k][i] = NO_CUT;
        add_subtree(f, v, parent_is_chosen, false);
        add_subtree(f, v, parent_is_chosen, true);
    }
    for (size_t k = 0; k < 2; k++)
        memcpy(cuts_of(f, p, k == 1), f->sum[k], count * sizeof *f->sum[k]);
    f->ranks[p] += f->ranks[v];
}

/* Where a parent is placed already, its children are roots. */
static void cut_off_placed(struct forest *f)
{
    size_t root = f->g->vertices;
    for (size_t v = 0; v < root; v++) {
        if (f->parent[v] != root && f->placed[f->parent[v]]) {
            f->parent[v] = (vertex)root;
            f->weight[v] = 0;
        }
    }
}

/* Chooses `most` of the ranks that are not placed. What was merged last is taken apart first. */
static void choose_ranks(struct forest *f)
{
    size_t ranks = f->g->vertices;
    begin_choice(f);
    for (size_t k = ranks; k-- > 0;)
        if (!f->placed[f->order[k]])
            merge_subtree(f, f->order[k]);
    f->ranks[ranks] = f->most;
    f->chosen[ranks] = false;
    for (size_t k = 0; k < ranks; k++) {
        vertex v = f->order[k];
        size_t p = f->parent[v];
        if (f->placed[v])
            continue;
        struct part part = parts_of(f, v, f->chosen[p])[f->ranks[p]];
        f->ranks[v] = part.chosen;
        f->chosen[v] = part.has_root;
        f->ranks[p] -= part.chosen;
    }
}

/* The largest node is filled last, since a large one is easier to fill from what others left. */
static void fill_nodes(struct forest *f, const site *s, size_t *node)
{
    size_t left = f->g->vertices, nodes = site_fewest(s, left);
    while (left > 0) {
        size_t n = s->by_size[--nodes];
        f->most = lesser(s->slots[n], left);
        left -= f->most;
        choose_ranks(f);
        for (size_t v = 0; v < f->g->vertices; v++) {
            if (f->placed[v] || !f->chosen[v])
                continue;
            node[v] = n;
            f->placed[v] = true;
        }
        cut_off_placed(f);
    }
}

int place_forest(const affinity *ranks, const site *s, size_t *node, size_t *work)
{
    struct forest f;
    size_t most = lesser(s->nodes > 0 ? s->slots[s->by_size[0]] : 0, ranks->vertices);
    if (ranks->start[ranks->vertices] / 2 >= ranks->vertices ||
        most + 1 > MOST_ENTRIES / (ranks->vertices + 1))
        return 1;
    int rc = init_forest(&f, ranks, most);
    if (rc == 0 && list_trees(&f) + ranks->start[ranks->vertices] / 2 > ranks->vertices)
        rc = 1;
    if (rc == 0) {
        fill_nodes(&f, s, node);
        *work += f.work / ENTRIES_PER_VISIT;
    }
    base_arena_release(&f.arena);
    return rc;
}
