/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of a forest: each node in turn takes the ranks of least cut to those that are left,
 * some fewer than it has slots for if that saves enough. These are found exactly, by sums over
 * subtrees. Source: Lukes, "Efficient algorithm for the partitioning of trees", IBM Journal of
 * Research and Development 18 (1974). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mix.h"
#include "base/processor.h"
#include "setmatch/candidates.h"

/* What a free slot is worth, as a part of the weight of a light edge: it may save a cut later on.
 */
static const double worth_of_slot = .375;

/* Limit of memory: table entries. */
enum { MOST_ENTRIES = 1 << 21 };

/* Table entries that take as long as the visit of a rank, as passes over a rank while a node is
 * filled, and as sorting an arc. */
enum { ENTRIES_PER_VISIT = 28, PASSES = 4, SORT_ARC = 8 };

/* Nodes of which one is filled next. */
enum { NODES_DRAWN = 4 };

/* Table entries that are summed up at a time. */
enum { BLOCK = 8 };

/* More than any cut, and three times that is an int64. */
#define NO_CUT (INT64_C(1) << 61)

/* All trees hang from one more vertex, which is not a rank. */
struct forest {
    struct base_arena arena;
    const affinity *g;
    size_t variant;
    size_t *free;      /* nodes that are to be filled, the largest first */
    vertex *order;     /* parents before children */
    vertex *parent;    /* by rank */
    int64_t *weight;   /* by rank: to its parent */
    bool *placed;      /* by rank */
    size_t most;       /* ranks that can be chosen */
    int64_t *cut[2];   /* by vertex, whether it is chosen, and ranks chosen of its subtree */
    uint64_t *part[2]; /* by rank, whether its parent is chosen, and ranks chosen of what the
                          parent has merged so far with this subtree: twice those of the
                          subtree, and 1 with its root */
    size_t *ranks;     /* by vertex: of its subtree, as far as it is merged */
    size_t *number;    /* by vertex: those to choose of its subtree */
    bool *is_stale;    /* by vertex: ranks of its subtree were placed */
    int64_t *sum;      /* of a vertex, chosen or not, while it merges a subtree */
    bool *chosen;      /* by vertex */
    int64_t *sorted;   /* weights of arcs */
    size_t work;       /* table entries */
};

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most_on_node(const affinity *g, const site *s)
{
    return lesser(s->nodes > 0 ? s->slots[s->by_size[0]] : 0, g->vertices);
}

static int init_forest(struct forest *f, const affinity *g, const site *s, size_t variant)
{
    size_t ranks = g->vertices, most = most_on_node(g, s), entries = (ranks + 1) * (most + 1);
    *f = (struct forest){.g = g, .variant = variant, .most = most};
    f->free = base_arena_alloc(&f->arena, s->nodes, sizeof *f->free);
    f->order = base_arena_alloc(&f->arena, ranks, sizeof *f->order);
    f->parent = base_arena_alloc(&f->arena, ranks, sizeof *f->parent);
    f->weight = base_arena_alloc(&f->arena, ranks, sizeof *f->weight);
    f->placed = base_arena_alloc(&f->arena, ranks, sizeof *f->placed);
    f->sorted = base_arena_alloc(&f->arena, g->start[ranks], sizeof *f->sorted);
    f->ranks = base_arena_alloc(&f->arena, ranks + 1, sizeof *f->ranks);
    f->number = base_arena_alloc(&f->arena, ranks + 1, sizeof *f->number);
    f->is_stale = base_arena_alloc(&f->arena, ranks + 1, sizeof *f->is_stale);
    f->chosen = base_arena_alloc(&f->arena, ranks + 1, sizeof *f->chosen);
    for (size_t k = 0; k < 2; k++) {
        f->cut[k] = base_arena_alloc(&f->arena, entries, sizeof *f->cut[k]);
        f->part[k] = base_arena_alloc(&f->arena, entries, sizeof *f->part[k]);
    }
    f->sum = base_arena_alloc(&f->arena, most + 1, sizeof *f->sum);
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

/* Returns the number of trees, of which all edges but those to a parent are ignored. Variants hang
 * them by other ranks. */
static size_t list_trees(struct forest *f)
{
    size_t ranks = f->g->vertices, listed = 0, trees = 0;
    size_t first = f->variant > 0 ? base_mix(f->variant) % ranks : 0;
    memset(f->parent, 0xff, ranks * sizeof *f->parent);
    for (size_t k = 0; k < ranks; k++) {
        vertex v = (vertex)((first + k) % ranks);
        if (f->parent[v] != NO_VERTEX)
            continue;
        listed = list_tree(f, v, listed);
        trees++;
    }
    return trees;
}

/* ---- choice of ranks ---- */

static int64_t *cuts_of(const struct forest *f, size_t v, bool chosen)
{
    return f->cut[chosen] + v * (f->most + 1);
}

static uint64_t *parts_of(const struct forest *f, size_t v, bool parent_is_chosen)
{
    return f->part[parent_is_chosen] + v * (f->most + 1);
}

/* A vertex alone. */
static void begin_subtree(struct forest *f, size_t v)
{
    bool is_rank = v < f->g->vertices;
    f->ranks[v] = is_rank;
    cuts_of(f, v, false)[0] = 0;
    cuts_of(f, v, true)[0] = NO_CUT;
    if (!is_rank)
        return;
    cuts_of(f, v, false)[1] = NO_CUT;
    cuts_of(f, v, true)[1] = 0;
}

/* Lowers sums to those of a row of cuts with one more, and sets the parts of these. */
static inline void lower_block(int64_t *restrict sum, uint64_t *restrict part,
                               const int64_t *restrict cut, size_t count, int64_t more,
                               uint64_t first, uint64_t step)
{
    for (size_t k = 0; k < count; k++) {
        int64_t with = cut[k] + more;
        bool lowers = with < sum[k];
        part[k] = lowers ? first + step * k : part[k];
        sum[k] = lowers ? with : sum[k];
    }
}

/* The same of any number: whole blocks without branches, which compilers vectorize. */
FOR_EACH_PROCESSOR
static void lower_sums(int64_t *sum, uint64_t *part, const int64_t *cut, size_t count, int64_t more,
                       uint64_t first, uint64_t step)
{
    size_t k = 0;
    for (; k + BLOCK <= count; k += BLOCK)
        lower_block(sum + k, part + k, cut + k, BLOCK, more, first + step * k, step);
    lower_block(sum + k, part + k, cut + k, count - k, more, first + step * k, step);
}

/* Adds the subtree of v, whose root is chosen or not, to its parent, which is chosen or not. Of
 * equal cuts the one with most ranks of the subtree counts. The longer rows are those that are
 * added. */
static void add_subtree(struct forest *f, vertex v, bool parent_is_chosen, bool v_is_chosen)
{
    size_t p = f->parent[v], most = f->most;
    const int64_t *above = cuts_of(f, p, parent_is_chosen), *below = cuts_of(f, v, v_is_chosen);
    uint64_t *part = parts_of(f, v, parent_is_chosen);
    int64_t *sum = f->sum;
    int64_t edge = parent_is_chosen != v_is_chosen ? f->weight[v] : 0;
    size_t most_above = lesser(f->ranks[p], most), most_below = lesser(f->ranks[v], most);
    if (most_above < most_below) {
        for (size_t i = 0; i <= most_above; i++)
            lower_sums(sum + i, part + i, below, lesser(most_below, most - i) + 1, above[i] + edge,
                       v_is_chosen, 2);
    } else {
        for (size_t j = most_below + 1; j-- > 0;)
            lower_sums(sum + j, part + j, above, lesser(most_above, most - j) + 1, below[j] + edge,
                       2 * j + v_is_chosen, 0);
    }
    f->work += (most_above + 1) * (most_below + 1);
}

static void merge_subtree(struct forest *f, vertex v)
{
    size_t p = f->parent[v], count = lesser(f->ranks[p] + f->ranks[v], f->most) + 1;
    for (size_t k = 0; k < 2; k++) {
        bool parent_is_chosen = k == 1;
        for (size_t i = 0; i < count; i++)
            f->sum[i] = NO_CUT;
        add_subtree(f, v, parent_is_chosen, false);
        add_subtree(f, v, parent_is_chosen, true);
        memcpy(cuts_of(f, p, parent_is_chosen), f->sum, count * sizeof *f->sum);
    }
    f->ranks[p] += f->ranks[v];
}

/* Sums up anew where ranks were placed. */
static void update_sums(struct forest *f)
{
    size_t ranks = f->g->vertices;
    for (size_t v = 0; v <= ranks; v++)
        if (f->is_stale[v])
            begin_subtree(f, v);
    for (size_t k = ranks; k-- > 0;) {
        vertex v = f->order[k];
        if (!f->placed[v] && f->is_stale[f->parent[v]])
            merge_subtree(f, v);
    }
    memset(f->is_stale, 0, (ranks + 1) * sizeof *f->is_stale);
}

/* The number of ranks to choose: the one of least cut and free slots, the greatest on a tie. */
static size_t best_number(const struct forest *f, size_t least, size_t most, double worth)
{
    const int64_t *cut = cuts_of(f, f->g->vertices, false);
    size_t best = most;
    for (size_t k = most; k-- > least;)
        if ((double)cut[k] + worth * (double)(best - k) < (double)cut[best])
            best = k;
    return best;
}

/* Chooses so many of the ranks that are not placed. What was merged last is taken apart first. */
static void choose_ranks(struct forest *f, size_t number)
{
    size_t ranks = f->g->vertices;
    f->number[ranks] = number;
    f->chosen[ranks] = false;
    for (size_t k = 0; k < ranks; k++) {
        vertex v = f->order[k];
        size_t p = f->parent[v];
        if (f->placed[v])
            continue;
        uint64_t part = parts_of(f, v, f->chosen[p])[f->number[p]];
        f->number[v] = part / 2;
        f->chosen[v] = part % 2 != 0;
        f->number[p] -= part / 2;
    }
}

/* The children of chosen ranks become roots. */
static void place_chosen(struct forest *f, size_t n, size_t *node)
{
    size_t root = f->g->vertices;
    for (size_t k = root; k-- > 0;) {
        vertex v = f->order[k];
        if (f->placed[v])
            continue;
        if (f->chosen[v] || f->is_stale[v])
            f->is_stale[f->parent[v]] = true;
        if (f->parent[v] != root && f->chosen[f->parent[v]]) {
            f->parent[v] = (vertex)root;
            f->weight[v] = 0;
        }
    }
    for (size_t v = 0; v < root; v++) {
        if (f->placed[v] || !f->chosen[v])
            continue;
        node[v] = n;
        f->placed[v] = true;
    }
}

static int compare_weights(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of the lightest edges, as many as there are nodes, the greatest weight: most cuts are likely to
 * be of such edges, however heavy the others are. */
static double light_weight(struct forest *f, size_t nodes)
{
    size_t arcs = f->g->start[f->g->vertices];
    if (arcs == 0)
        return 0;
    memcpy(f->sorted, f->g->weight, arcs * sizeof *f->sorted);
    qsort(f->sorted, arcs, sizeof *f->sorted, compare_weights);
    f->work += SORT_ARC * arcs;
    return (double)f->sorted[lesser(2 * nodes, arcs) - 1];
}

/* The smallest node that is left, since a large one is easier to fill from what others left. Three
 * of four variants draw some of the smaller half, and take the one whose slots cut least. */
static size_t take_node(struct forest *f, const site *s, size_t nodes, size_t left)
{
    const int64_t *cut = cuts_of(f, f->g->vertices, false);
    size_t best = nodes - 1, draws = f->variant % 4 != 0 ? NODES_DRAWN : 0;
    int64_t least = INT64_MAX;
    for (size_t k = 0; k < draws; k++) {
        uint64_t drawn = base_mix((f->variant * NODES_DRAWN + k) ^ (uint64_t)nodes << 32);
        size_t at = nodes - 1 - drawn % ((nodes + 1) / 2);
        size_t slots = site_slots(s, f->free[at], left);
        if (cut[slots] >= least)
            continue;
        best = at;
        least = cut[slots];
    }
    size_t n = f->free[best];
    f->free[best] = f->free[nodes - 1];
    return n;
}

static void fill_nodes(struct forest *f, const site *s, size_t nodes, size_t *node)
{
    double worth = worth_of_slot * light_weight(f, nodes);
    size_t left = f->g->vertices, slots = 0;
    for (size_t k = 0; k < nodes; k++) {
        f->free[k] = s->by_size[k];
        slots += site_slots(s, f->free[k], left);
    }
    memset(f->is_stale, true, (left + 1) * sizeof *f->is_stale);
    for (; left > 0; nodes--) {
        update_sums(f);
        size_t n = take_node(f, s, nodes, left), most = site_slots(s, n, left);
        slots -= site_slots(s, n, f->g->vertices);
        size_t number = best_number(f, left > slots ? left - slots : 0, most, worth);
        left -= number;
        choose_ranks(f, number);
        place_chosen(f, n, node);
        f->work += PASSES * f->g->vertices;
    }
}

int place_forest(const affinity *ranks, const site *s, size_t variant, size_t *node, size_t *work)
{
    struct forest f;
    if (ranks->vertices > MANY_RANKS || ranks->start[ranks->vertices] / 2 >= ranks->vertices ||
        most_on_node(ranks, s) + 1 > MOST_ENTRIES / (ranks->vertices + 1))
        return 1;
    int rc = init_forest(&f, ranks, s, variant);
    if (rc == 0 && list_trees(&f) + ranks->start[ranks->vertices] / 2 > ranks->vertices)
        rc = 1;
    if (rc == 0) {
        fill_nodes(&f, s, site_to_use(s, ranks->vertices, variant), node);
        *work += f.work / ENTRIES_PER_VISIT;
    }
    base_arena_release(&f.arena);
    return rc;
}
