/* SPDX-License-Identifier: BSD-3-Clause */
/* What a unit gains on each node, with a topology that is not flat. */
#include "plan/gains.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Places handled at a time, without branches, which compilers make vectors of. */
enum { BLOCK = 8 };

static void fill_hops(gains *g)
{
    size_t places = count_of_places(g->topology);
    for (size_t p = 0; p < places; p++)
        for (size_t q = 0; q < places; q++)
            g->hops[q * g->stride + p] = (float)hops_of_places(g->topology, p, q);
}

/* The least hops from another place to a node at q. */
static double nearest_place(const gains *g, size_t q)
{
    double nearest = INFINITY;
    for (size_t p = 0; p < count_of_places(g->topology); p++)
        if (p != q && g->hops[q * g->stride + p] < nearest)
            nearest = g->hops[q * g->stride + p];
    return nearest;
}

static double gain_away(const gains *g, size_t unit, size_t p)
{
    const matrix *m = g->bytes;
    double sum = 0.0;
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        size_t q = place_of_node(g->topology, m->col[e]);
        sum -= (double)g->hops[q * g->stride + p] * (double)m->value[e];
    }
    return sum;
}

/* A bound of `far` that takes each entry's nearest place. */
static void weigh_unit(gains *g, size_t unit, const double *nearest)
{
    const matrix *m = g->bytes;
    double far = 0.0;
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        size_t p = place_of_node(g->topology, m->col[e]);
        double own = (double)m->value[e];
        g->away[e] = gain_away(g, unit, p);
        g->entry[e] = g->away[e] + (hops_of_places(g->topology, p, p) - TOPO_SAME_NODE) * own;
        far -= own > 0.0 ? nearest[p] * own : 0.0;
    }
    g->far[unit] = far;
}

static void *new_array(size_t count, size_t size, int *failed)
{
    void *array = calloc(count | 1, size);
    *failed |= array == NULL;
    return array;
}

int gains_set_up(gains *g, const matrix *bytes, const topo *t)
{
    size_t entries = bytes->row_start[bytes->rows], places = count_of_places(t), cells;
    int failed = 0;
    *g = (gains){.bytes = bytes, .topology = t, .stride = (places + BLOCK - 1) / BLOCK * BLOCK};
    if (is_flat(t))
        return 0;
    if (__builtin_mul_overflow(places, g->stride, &cells))
        return -ENOMEM;
    g->entry = new_array(entries, sizeof *g->entry, &failed);
    g->away = new_array(entries, sizeof *g->away, &failed);
    g->far = new_array(bytes->rows, sizeof *g->far, &failed);
    g->hops = new_array(cells, sizeof *g->hops, &failed);
    g->place = new_array(g->stride, sizeof *g->place, &failed);
    double *nearest = new_array(places, sizeof *nearest, &failed);
    if (!failed) {
        fill_hops(g);
        for (size_t q = 0; q < places; q++)
            nearest[q] = nearest_place(g, q);
        for (size_t u = 0; u < bytes->rows; u++)
            weigh_unit(g, u, nearest);
    }
    free(nearest);
    return failed ? -ENOMEM : 0;
}

void gains_release(gains *g)
{
    free(g->entry);
    free(g->away);
    free(g->far);
    free(g->hops);
    free(g->place);
}

/* ---- places without entries ---- */

static void sum_block(const gains *g, size_t unit, size_t first)
{
    const matrix *m = g->bytes;
    double sum[BLOCK] = {0.0};
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        const float *hops = g->hops + place_of_node(g->topology, m->col[e]) * g->stride + first;
        double bytes = (double)m->value[e];
        for (size_t k = 0; k < BLOCK; k++)
            sum[k] -= (double)hops[k] * bytes;
    }
    memcpy(g->place + first, sum, sizeof sum);
}

void gains_of_places(gains *g, size_t unit)
{
    const matrix *m = g->bytes;
    double far = -INFINITY;
    for (size_t first = 0; first < g->stride; first += BLOCK)
        sum_block(g, unit, first);
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++)
        g->place[place_of_node(g->topology, m->col[e])] = -INFINITY;
    for (size_t p = 0; p < count_of_places(g->topology); p++)
        far = g->place[p] > far ? g->place[p] : far;
    g->far[unit] = far;
}
