/* SPDX-License-Identifier: BSD-3-Clause */
/* The gain of a unit on each node, with a topology that is not flat. */
#include "plan/gains.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Classes per block: loops of constant length without branches vectorise. */
enum { BLOCK = 8 };

static void fill_hops(gains *g)
{
    size_t classes = count_of_classes(g->topology);
    for (size_t p = 0; p < classes; p++)
        for (size_t q = 0; q < classes; q++)
            g->hops[q * g->stride + p] = (float)hops_of_classes(g->topology, p, q);
}

/* Minimum hops from another class to a node of q. */
static double nearest_class(const gains *g, size_t q)
{
    double nearest = INFINITY;
    for (size_t p = 0; p < count_of_classes(g->topology); p++)
        if (p != q && g->hops[q * g->stride + p] < nearest)
            nearest = g->hops[q * g->stride + p];
    return nearest;
}

static double gain_away(const gains *g, size_t unit, size_t p)
{
    const matrix *m = g->bytes;
    double sum = 0.0;
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        size_t q = class_of_node(g->topology, m->col[e]);
        sum -= (double)g->hops[q * g->stride + p] * (double)m->value[e];
    }
    return sum;
}

/* Bounds `far` by the nearest class of each entry. */
static void weigh_unit(gains *g, size_t unit, const double *nearest)
{
    const matrix *m = g->bytes;
    double far = 0.0;
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        size_t p = class_of_node(g->topology, m->col[e]);
        double own = (double)m->value[e];
        g->away[e] = gain_away(g, unit, p);
        g->entry[e] = g->away[e] + (hops_of_classes(g->topology, p, p) - TOPO_SAME_NODE) * own;
        far -= own > 0.0 ? nearest[p] * own : 0.0;
    }
    g->far[unit] = far;
}

int gains_set_up(gains *g, struct base_arena *arena, const matrix *bytes, const topo *t)
{
    size_t entries = bytes->row_start[bytes->rows], classes = count_of_classes(t), cells;
    *g = (gains){.bytes = bytes, .topology = t, .stride = (classes + BLOCK - 1) / BLOCK * BLOCK};
    if (is_flat(t))
        return 0;
    if (__builtin_mul_overflow(classes, g->stride, &cells))
        return -ENOMEM;
    g->entry = base_arena_alloc(arena, entries, sizeof *g->entry);
    g->away = base_arena_alloc(arena, entries, sizeof *g->away);
    g->far = base_arena_alloc(arena, bytes->rows, sizeof *g->far);
    g->hops = base_arena_alloc(arena, cells, sizeof *g->hops);
    g->class = base_arena_alloc(arena, g->stride, sizeof *g->class);
    double *nearest = base_arena_alloc(arena, classes, sizeof *nearest);
    if (arena->failed)
        return -ENOMEM;
    fill_hops(g);
    for (size_t q = 0; q < classes; q++)
        nearest[q] = nearest_class(g, q);
    for (size_t u = 0; u < bytes->rows; u++)
        weigh_unit(g, u, nearest);
    return 0;
}

/* ---- classes without entries ---- */

static void sum_block(const gains *g, size_t unit, size_t first)
{
    const matrix *m = g->bytes;
    double sum[BLOCK] = {0.0};
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        const float *hops = g->hops + class_of_node(g->topology, m->col[e]) * g->stride + first;
        double bytes = (double)m->value[e];
        for (size_t k = 0; k < BLOCK; k++)
            sum[k] -= (double)hops[k] * bytes;
    }
    memcpy(g->class + first, sum, sizeof sum);
}

void gains_of_classes(gains *g, size_t unit)
{
    const matrix *m = g->bytes;
    double far = -INFINITY;
    for (size_t first = 0; first < g->stride; first += BLOCK)
        sum_block(g, unit, first);
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++)
        g->class[class_of_node(g->topology, m->col[e])] = -INFINITY;
    for (size_t p = 0; p < count_of_classes(g->topology); p++)
        far = g->class[p] > far ? g->class[p] : far;
    g->far[unit] = far;
}
