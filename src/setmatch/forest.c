/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of a forest: each node in turn takes those ranks of a window, or of all, that have the
 * least cut to those that are left, some fewer than it has slots for if that saves enough. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "setmatch/candidates.h"
#include "setmatch/choice.h"

/* What a free slot is worth, as a part of the weight of a light edge: it may save a cut later on.
 */
static const double worth_of_slot = .375;

/* Limit of memory: table entries. */
enum { MOST_ENTRIES = 1 << 21 };

/* Table entries that take as long as the visit of a rank, and as sorting an edge. */
enum { ENTRIES_PER_VISIT = 40, SORT_EDGE = 16 };

/* Nodes of which one is filled next. */
enum { NODES_DRAWN = 4 };

struct forest {
    choice c;
    const site *s;
    size_t variant;
    double worth; /* of a slot */
    size_t left;  /* ranks that are not placed */
    size_t slots; /* of all nodes that are not filled */
    size_t *free; /* nodes to fill next, the largest first */
    size_t *node; /* by rank */
};

static size_t most_on_node(const affinity *g, const site *s)
{
    return s->nodes > 0 ? site_slots(s, s->by_size[0], g->vertices) : 0;
}

/* ---- nodes ---- */

static size_t count_slots(const struct forest *f, size_t nodes)
{
    size_t slots = 0;
    for (size_t k = 0; k < nodes; k++)
        slots += site_slots(f->s, f->s->by_size[k], f->left);
    return slots;
}

/* The number of batches of nodes. Each has fewer slots than the window has ranks, so that the last
 * nodes of a batch have a choice, too. */
static size_t count_batches(const struct forest *f)
{
    if (f->c.most_in_window == f->c.vertices)
        return 1;
    size_t wanted = f->c.most_in_window - 2 * f->c.most;
    return (f->slots + wanted - 1) / wanted;
}

/* Lists one of every `batches` nodes, so that there are some of all sizes. Returns their number. */
static size_t list_batch(struct forest *f, size_t nodes, size_t batch, size_t batches)
{
    size_t listed = 0;
    for (size_t k = batch; k < nodes; k += batches)
        f->free[listed++] = f->s->by_size[k];
    return listed;
}

/* The smallest node that is left, since a large one is easier to fill from what others left. Three
 * of four variants draw some of the smaller half, and take the one whose slots cut least. */
static size_t take_node(struct forest *f, size_t nodes, const int64_t *cut)
{
    size_t best = nodes - 1, draws = f->variant % 4 != 0 ? NODES_DRAWN : 0;
    int64_t least = INT64_MAX;
    for (size_t k = 0; k < draws; k++) {
        uint64_t drawn = base_mix((f->variant * NODES_DRAWN + k) ^ (uint64_t)nodes << 32);
        size_t at = nodes - 1 - drawn % ((nodes + 1) / 2);
        size_t slots = site_slots(f->s, f->free[at], f->left);
        if (cut[slots] >= least)
            continue;
        best = at;
        least = cut[slots];
    }
    size_t n = f->free[best];
    f->free[best] = f->free[nodes - 1];
    return n;
}

/* ---- ranks ---- */

static int compare_weights(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of the lightest edges, as many as there are nodes, the greatest weight: most cuts are likely to
 * be of such edges, however heavy the others are. sorted: scratch, one for each rank. */
static double light_weight(struct forest *f, size_t nodes, int64_t *sorted)
{
    size_t edges = 0;
    for (size_t v = 0; v < f->c.vertices; v++)
        if (f->c.all.parent[v] != f->c.vertices)
            sorted[edges++] = f->c.all.weight[v];
    if (edges == 0)
        return 0;
    qsort(sorted, edges, sizeof *sorted, compare_weights);
    f->c.work += SORT_EDGE * edges;
    return (double)sorted[(nodes < edges ? nodes : edges) - 1];
}

/* The number of ranks of least cut and free slots, the greatest on a tie. */
static size_t best_number(const int64_t *cut, size_t least, size_t most, double worth)
{
    size_t best = most;
    for (size_t k = most; k-- > least;)
        if ((double)cut[k] + worth * (double)(best - k) < (double)cut[best])
            best = k;
    return best;
}

/* Fills one of the listed nodes, as far as that is worth it, and farther if the slots of all others
 * do not suffice. */
static void fill_node(struct forest *f, size_t nodes)
{
    if (f->c.count < f->c.most)
        choice_fill_window(&f->c);
    const int64_t *cut = choice_cuts(&f->c);
    size_t n = take_node(f, nodes, cut), most = site_slots(f->s, n, f->left);
    f->slots -= site_slots(f->s, n, f->c.vertices);
    size_t least = f->left > f->slots ? f->left - f->slots : 0;
    size_t number = best_number(cut, least, most, f->worth);
    choice_place(&f->c, number, n, f->node);
    f->left -= number;
}

static int fill_nodes(struct forest *f)
{
    size_t nodes = site_to_use(f->s, f->left, f->variant);
    f->free = base_arena_alloc(&f->c.arena, nodes, sizeof *f->free);
    int64_t *sorted = base_arena_alloc(&f->c.arena, f->left, sizeof *sorted);
    if (f->c.arena.failed)
        return -ENOMEM;
    f->worth = worth_of_slot * light_weight(f, nodes, sorted);
    f->slots = count_slots(f, nodes);
    size_t batches = count_batches(f);
    for (size_t batch = 0; batch < batches; batch++) {
        choice_fill_window(&f->c);
        for (size_t k = list_batch(f, nodes, batch, batches); k > 0 && f->left > 0; k--)
            fill_node(f, k);
    }
    return 0;
}

int place_forest(const affinity *ranks, const site *s, size_t variant, size_t most_in_window,
                 size_t *node, size_t *work)
{
    struct forest f = {.s = s, .variant = variant, .left = ranks->vertices, .node = node};
    size_t window = most_in_window < ranks->vertices ? most_in_window : ranks->vertices;
    size_t most = most_on_node(ranks, s);
    bool suffices = window == ranks->vertices || most <= window / NODES_PER_WINDOW;
    if (!suffices || window > MANY_RANKS || ranks->start[ranks->vertices] / 2 >= ranks->vertices ||
        most + 1 > MOST_ENTRIES / (window + 1))
        return 1;
    int rc = choice_init(&f.c, ranks, variant, window, most);
    if (rc == 0)
        rc = fill_nodes(&f);
    *work += f.c.work / ENTRIES_PER_VISIT;
    choice_release(&f.c);
    return rc;
}
