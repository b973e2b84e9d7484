/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids: walks whose sections become nodes. */
#include <errno.h>
#include <string.h>

#include "reorder/reorder.h"

/* The walk with the least cut so far. */
typedef struct search {
    const reorder_grid *grid;
    const reorder_nodes *nodes;
    int ranks;
    size_t *node_of_step; /* of any walk */
    size_t *work;         /* the node of each rank */
    int64_t cut;          /* of nodes->of_rank */
    int left;             /* walks that may be tried */
} search;

/* Pairs of neighbours on two nodes. */
static int64_t count_cut(const search *s, const size_t *node)
{
    int64_t cut = 0;
    for (int d = s->grid->dims, stride = 1, line; d-- > 0; stride = line) {
        line = stride * s->grid->extent[d];
        for (int r = 0; r < s->ranks; r++) {
            bool is_last = r % line >= line - stride;
            if (!is_last || s->grid->periodic[d])
                cut += node[r] != node[is_last ? r + stride - line : r + stride];
        }
    }
    return cut;
}

/* ---- a walk ---- */

enum { MOST_DIMS = 32, MOST_WALKS = 48 };

/* A walk has first the columns, dimension `along` last, and then the cross-section of a column. */
typedef struct walk {
    int along, width[MOST_DIMS]; /* of columns; along: 1 */
    double columns, cut;         /* their number, and the estimated cut between them */
} walk;

/* The step that comes to a rank. Each level narrows the box of the ranks that it may be, first to a
 * column, then to itself. Goes backwards after an odd number of steps: so each step is to a
 * neighbour. */
static int find_step(const search *s, const walk *k, int rank)
{
    const int dims = s->grid->dims;
    int at[MOST_DIMS], extent[MOST_DIMS], step = 0, box = s->ranks, turns = 0;
    for (int d = dims; d-- > 0; rank /= extent[d]) {
        extent[d] = s->grid->extent[d];
        at[d] = rank % extent[d];
    }
    for (int level = 1; level <= 2 * dims; level++) {
        int d = (k->along + level) % dims, width = level < dims ? k->width[d] : 1;
        int part = at[d] / width, first = part * width, rest = extent[d] - first;
        int slab = box / extent[d], own = rest < width ? rest : width;
        step += slab * (turns % 2 == 0 ? first : rest - own);
        box = slab * own;
        at[d] -= first;
        extent[d] = own;
        turns += part;
    }
    return step;
}

static void try_walk(search *s, const walk *k)
{
    for (int r = 0; r < s->ranks; r++)
        s->work[r] = s->node_of_step[find_step(s, k, r)];
    int64_t cut = count_cut(s, s->work);
    if (cut < s->cut)
        memcpy(s->nodes->of_rank, s->work, (size_t)s->ranks * sizeof *s->work);
    s->cut = cut < s->cut ? cut : s->cut;
}

/* ---- the choice of walks ---- */

static double estimate_faces(const search *s, int d, double parts)
{
    const double area = s->ranks / s->grid->extent[d];
    return parts > 1.0 ? area * (s->grid->periodic[d] ? parts : parts - 1.0) : 0.0;
}

/* Takes all widths of the next dimensions that divide the extent in equal parts, but for the last
 * one. Tries the walks that may have a lesser cut, estimated as if nodes were equal and began where
 * a column does. */
static void try_widths(search *s, const walk *k, int level)
{
    const int d = (k->along + level) % s->grid->dims, extent = s->grid->extent[d];
    if (level == s->grid->dims) {
        double parts = (double)s->nodes->count / k->columns;
        double cut = k->cut + estimate_faces(s, d, parts);
        if (parts <= extent && cut < (double)s->cut && s->left-- > 0)
            try_walk(s, k);
        return;
    }
    for (int parts = extent; parts > 0; parts--) {
        walk next = *k;
        next.width[d] = (extent + parts - 1) / parts;
        parts = (extent + next.width[d] - 1) / next.width[d];
        next.columns *= parts;
        next.cut += estimate_faces(s, d, parts);
        try_widths(s, &next, level + 1);
    }
}

int reorder_grid_place(const reorder_grid *grid, const reorder_nodes *nodes,
                       struct base_arena *arena, double cut[2])
{
    search s = {.grid = grid, .nodes = nodes, .ranks = (int)nodes->ranks, .left = MOST_WALKS};
    s.node_of_step = base_arena_alloc(arena, nodes->ranks, sizeof *s.node_of_step);
    s.work = base_arena_alloc(arena, nodes->ranks, sizeof *s.work);
    if (arena->failed)
        return -ENOMEM;
    for (size_t n = 0, step = 0; n < nodes->count; n++)
        for (size_t i = 0; i < nodes->processes[n]; i++)
            s.node_of_step[step++] = n;
    memcpy(nodes->of_rank, nodes->of_process, nodes->ranks * sizeof *nodes->of_rank);
    s.cut = count_cut(&s, nodes->of_process);
    cut[0] = (double)s.cut;
    for (int d = grid->dims <= MOST_DIMS ? grid->dims : 0; d-- > 0;)
        if (grid->extent[d] > 1)
            try_widths(&s, &(walk){.along = d, .columns = 1.0}, 1);
    cut[1] = (double)s.cut;
    return 0;
}
