/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes of a domain on each node. */
#include "plan/costs.h"
#include "base/memory.h"

#include <errno.h>
#include <limits.h> /* defines __GLIBC__ */
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Classes whose costs are computed at once: loops of constant length vectorise. */
enum { BLOCK = 32 };

/* hops: classes x BLOCK, from a node of a class of the block. */
static void costs_fill_hops(const struct classes *classes, size_t first, size_t count, float *hops)
{
    for (size_t k = 0; k < count; k++)
        for (size_t q = 0; q < classes->count; q++)
            hops[q * BLOCK + k] = hops_of_classes(classes, first + k, q);
}

/* Marks a function that is compiled for baseline processors and for those with AVX2 or AVX-512,
 * where the dynamic linker can select one of them. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

FOR_EACH_PROCESSOR
static void costs_sum(const float *restrict hops, const size_t *restrict class,
                      const int64_t *restrict value, size_t count, double *restrict sum)
{
    for (size_t c = 0; c < BLOCK; c++)
        sum[c] = 0.0;
    for (size_t k = 0; k < count; k++) {
        const float *from = hops + class[k] * BLOCK;
        double bytes = (double)value[k];
        for (size_t c = 0; c < BLOCK; c++)
            sum[c] += (double)from[c] * bytes;
    }
}

/* Hop-bytes of each domain from a node of each class that accesses none of it. m: domains x
 * classes; hops: memory of a block. */
static void fill_costs(struct costs *costs, const matrix *m, float *hops)
{
    size_t classes = costs->classes.count;
    double sum[BLOCK];
    for (size_t first = 0; first < classes; first += BLOCK) {
        size_t count = classes - first < BLOCK ? classes - first : BLOCK;
        costs_fill_hops(&costs->classes, first, count, hops);
        for (size_t j = 0; j < m->rows; j++) {
            size_t start = m->row_start[j];
            costs_sum(hops, m->col + start, m->value + start, m->row_start[j + 1] - start, sum);
            memcpy(costs->at_classes + j * classes + first, sum, count * sizeof *sum);
        }
    }
}

static int compute_costs(struct costs *costs, const matrix *by_node)
{
    size_t classes = costs->classes.count;
    matrix by_class = {0}, of_domain = {0};
    int rc = matrix_sum_rows(&by_class, by_node, costs->classes.of_node, classes);
    if (rc == 0)
        rc = matrix_transpose(&of_domain, &by_class);
    float *hops = base_zeroed(classes, BLOCK * sizeof *hops, &rc);
    if (rc == 0)
        fill_costs(costs, &of_domain, hops);
    free(hops);
    matrix_release(&of_domain);
    matrix_release(&by_class);
    return rc;
}

void costs_on_nodes(const struct costs *costs, size_t j, double *cost)
{
    const matrix *m = &costs->on_nodes;
    const double *at_class = costs_at_classes(costs, j);
    for (size_t n = 0; n < m->cols; n++)
        cost[n] = at_class[costs->classes.of_node[n]];
    for (size_t e = m->row_start[j]; e < m->row_start[j + 1]; e++)
        cost[m->col[e]] = cost_of_entry(costs, at_class, e);
}

/* ---- node classes ---- */

int find_classes(struct base_arena *arena, const topo *t, int apart, struct classes *c)
{
    bool is_single = apart || t->places == 0;
    c->count = is_single ? 1 : t->places;
    c->between = is_single ? NULL : t->between;
    c->same = apart ? 0.0 : TOPO_SAME_NODE;
    c->of_node =
        is_single ? base_arena_alloc(arena, t->nodes, sizeof *c->of_node) : t->place_of_node;
    c->within = base_arena_alloc(arena, c->count, sizeof *c->within);
    if (arena->failed || base_group_items(arena, c->of_node, t->nodes, c->count, &c->nodes) != 0)
        return -ENOMEM;
    for (size_t p = 0; p < c->count; p++) {
        const size_t *node = c->nodes.item + c->nodes.start[p];
        c->within[p] =
            base_group_size(&c->nodes, p) > 1 ? topo_hops(t, node[0], node[1], 0) : c->same;
    }
    if (apart)
        c->within[0] = 1.0;
    return 0;
}

/* ---- all together ---- */

static int allocate_costs(struct costs *costs)
{
    struct base_arena *arena = &costs->arena;
    const matrix *m = &costs->on_nodes;
    size_t size;
    if (__builtin_mul_overflow(costs->classes.count, m->rows, &size))
        return -ENOMEM;
    costs->capacity = base_arena_alloc(arena, costs->ranks.count, sizeof *costs->capacity);
    costs->most = base_arena_alloc(arena, matrix_entries(m), sizeof *costs->most);
    costs->at_classes = base_arena_alloc(arena, size, sizeof *costs->at_classes);
    return arena->failed ? -ENOMEM : 0;
}

/* at[j]: the next entry of domain j; entries and calls are both ordered by node. A rank may be
 * listed with a domain of which its node has nothing. */
static void note_most(struct costs *costs, const matrix *by_rank, size_t n, size_t rank, size_t *at)
{
    const matrix *m = &costs->on_nodes;
    for (size_t k = by_rank->row_start[rank]; k < by_rank->row_start[rank + 1]; k++) {
        size_t j = by_rank->col[k], end = m->row_start[j + 1];
        while (at[j] < end && m->col[at[j]] < n)
            at[j]++;
        if (at[j] < end && m->col[at[j]] == n)
            costs->most[at[j]] = fmax(costs->most[at[j]], (double)by_rank->value[k]);
    }
}

static int find_most(struct costs *costs, const matrix *by_rank)
{
    const struct base_groups *ranks = &costs->ranks;
    size_t *at = base_alloc(costs->on_nodes.rows, sizeof *at);
    if (at == NULL)
        return -ENOMEM;
    memcpy(at, costs->on_nodes.row_start, costs->on_nodes.rows * sizeof *at);
    for (size_t n = 0; n < ranks->count; n++)
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++)
            note_most(costs, by_rank, n, ranks->item[r], at);
    free(at);
    return 0;
}

static int fill_all(struct costs *costs, const struct held *held, const matrix *by_node)
{
    int rc = matrix_transpose(&costs->on_nodes, by_node);
    if (rc == 0)
        rc = allocate_costs(costs);
    if (rc == 0)
        rc = compute_costs(costs, by_node);
    return rc == 0 ? find_most(costs, held->by_rank) : rc;
}

int costs_init(struct costs *costs, const plan_input *in, const struct held *held)
{
    size_t nodes = in->topology->nodes, most = held->by_rank->cols;
    *costs = (struct costs){.own = held->apart ? 0.0 : TOPO_SAME_NODE};
    struct base_arena *arena = &costs->arena;
    matrix sums = {0};
    int rc = base_group_items(arena, in->node_of_rank, in->requests->rows, nodes, &costs->ranks);
    if (rc == 0)
        rc = find_classes(arena, in->topology, held->apart, &costs->classes);
    if (rc == 0 && held->by_node == NULL)
        rc = matrix_sum_rows(&sums, held->by_rank, in->node_of_rank, nodes);
    if (rc == 0)
        rc = fill_all(costs, held, held->by_node != NULL ? held->by_node : &sums);
    matrix_release(&sums);
    if (rc != 0)
        return rc;
    if (in->per_node > 0 && in->per_node < most)
        most = in->per_node;
    for (size_t n = 0; n < nodes; n++) {
        size_t ranks = base_group_size(&costs->ranks, n);
        costs->capacity[n] = ranks < most ? ranks : most;
    }
    return 0;
}

void costs_release(struct costs *costs)
{
    base_arena_release(&costs->arena);
    matrix_release(&costs->on_nodes);
}
