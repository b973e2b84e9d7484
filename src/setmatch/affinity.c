/* SPDX-License-Identifier: BSD-3-Clause */
/* The affinity of ranks, or of sets of ranks: an undirected weighted graph. */
#include "setmatch/affinity.h"

#include <errno.h>

/* Sums stay below this. */
#define LARGEST_SUM ((unsigned __int128)1 << 62)

int affinity_allocate(affinity *g, size_t vertices, size_t arcs)
{
    *g = (affinity){.vertices = vertices};
    g->start = base_arena_alloc(&g->arena, vertices + 1, sizeof *g->start);
    g->other = base_arena_alloc(&g->arena, arcs, sizeof *g->other);
    g->weight = base_arena_alloc(&g->arena, arcs, sizeof *g->weight);
    g->size = base_arena_alloc(&g->arena, vertices, sizeof *g->size);
    if (!g->arena.failed)
        return 0;
    affinity_release(g);
    return -ENOMEM;
}

void affinity_release(affinity *g)
{
    base_arena_release(&g->arena);
    *g = (affinity){0};
}

/* The column of entry i of a row, or SIZE_MAX beyond its end. */
static size_t column_at(const matrix *m, size_t row, size_t i)
{
    return i < m->row_start[row + 1] ? m->col[i] : SIZE_MAX;
}

/* Adds the arcs of one rank, others ascending. Two int64 >= 0 always fit their sum in uint64. */
static void affinity_add(affinity *g, size_t rank, const matrix *view, const matrix *transposed)
{
    size_t i = view->row_start[rank], k = transposed->row_start[rank], arcs = g->start[rank];
    for (;;) {
        size_t here = column_at(view, rank, i), there = column_at(transposed, rank, k);
        size_t other = here < there ? here : there;
        uint64_t value = 0;
        if (other == SIZE_MAX)
            break;
        if (here == other)
            value += (uint64_t)view->value[i++];
        if (there == other)
            value += (uint64_t)transposed->value[k++];
        if (value == 0 || other == rank)
            continue;
        g->other[arcs] = (vertex)other;
        g->weight[arcs++] = (int64_t)value;
    }
    g->start[rank + 1] = arcs;
    g->size[rank] = 1;
}

/* Values stay at least 1: small ones do not vanish. */
static void halve_weights(affinity *g)
{
    size_t arcs = g->start[g->vertices];
    unsigned __int128 sum = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < arcs; i++)
        sum += (uint64_t)g->weight[i];
    while ((sum >> shift) + arcs >= LARGEST_SUM)
        shift++;
    for (size_t i = 0; shift > 0 && i < arcs; i++) {
        uint64_t value = (uint64_t)g->weight[i] >> shift;
        g->weight[i] = value > 0 ? (int64_t)value : 1;
    }
}

int affinity_from_view(affinity *g, const matrix *view)
{
    matrix transposed;
    if (view->rows >= NO_VERTEX)
        return -EOVERFLOW;
    if (view->rows != view->cols || !matrix_is_nonnegative(view))
        return -EINVAL;
    int rc = matrix_transpose(&transposed, view);
    if (rc != 0)
        return rc;
    rc = affinity_allocate(g, view->rows, 2 * transposed.row_start[view->rows]);
    for (size_t rank = 0; rc == 0 && rank < view->rows; rank++)
        affinity_add(g, rank, view, &transposed);
    if (rc == 0)
        halve_weights(g);
    matrix_release(&transposed);
    return rc;
}

/* Sorts vertices by coarse vertex: those of c become member[first[c]] .. member[first[c + 1] - 1].
 * first has count + 2 entries of 0. */
static void list_coarse_members(const vertex *to, size_t vertices, size_t count, size_t *first,
                                vertex *member)
{
    for (size_t v = 0; v < vertices; v++)
        first[to[v] + 2]++;
    for (size_t c = 2; c < count + 2; c++)
        first[c] += first[c - 1];
    for (size_t v = 0; v < vertices; v++)
        member[first[to[v] + 1]++] = (vertex)v;
}

/* Adds the arcs of one fine vertex to the last coarse vertex, c. at[]: index of the arc to each
 * coarse vertex, and one more; not above the beginning: none yet. Without branches, which would be
 * mispredicted. */
static void add_arcs(affinity *g, size_t c, const affinity *fine, vertex v, const vertex *to,
                     size_t *at)
{
    size_t end = g->start[c + 1];
    for (size_t i = fine->start[v]; i < fine->start[v + 1]; i++) {
        vertex other = to[fine->other[i]];
        bool is_new = at[other] <= g->start[c];
        end += is_new;
        size_t arc = is_new ? end : at[other];
        at[other] = arc;
        g->other[arc - 1] = other;
        g->weight[arc - 1] += fine->weight[i];
    }
    g->start[c + 1] = end;
}

int affinity_contract(affinity *coarse, const affinity *fine, const vertex *to, size_t count)
{
    affinity made;
    struct base_arena arena = {0};
    size_t *at = base_arena_alloc(&arena, count, sizeof *at);
    size_t *first = base_arena_alloc(&arena, count + 2, sizeof *first);
    vertex *member = base_arena_alloc(&arena, fine->vertices, sizeof *member);
    size_t spare = fine->start[fine->vertices] + 1; /* the arc from c to itself, which is dropped */
    int rc = arena.failed ? -ENOMEM : affinity_allocate(&made, count, spare);
    if (rc == 0) {
        list_coarse_members(to, fine->vertices, count, first, member);
        for (size_t c = 0; c < count; c++) {
            made.start[c + 1] = made.start[c];
            at[c] = spare;
            for (size_t k = first[c]; k < first[c + 1]; k++) {
                made.size[c] += fine->size[member[k]];
                add_arcs(&made, c, fine, member[k], to, at);
            }
            at[c] = 0;
        }
        *coarse = made;
    }
    base_arena_release(&arena);
    return rc;
}

int affinity_extract(affinity *part, const affinity *whole, const vertex *member, size_t count,
                     vertex *to)
{
    size_t arcs = 0;
    for (size_t k = 0; k < count; k++)
        arcs += whole->start[member[k] + 1] - whole->start[member[k]];
    int rc = affinity_allocate(part, count, arcs);
    if (rc != 0)
        return rc;
    for (size_t k = 0; k < count; k++)
        to[member[k]] = (vertex)k;
    arcs = 0;
    for (size_t k = 0; k < count; k++) {
        vertex v = member[k];
        part->size[k] = whole->size[v];
        for (size_t i = whole->start[v]; i < whole->start[v + 1]; i++) {
            part->other[arcs] = to[whole->other[i]];
            part->weight[arcs] = whole->weight[i];
            arcs += part->other[arcs] != NO_VERTEX;
        }
        part->start[k + 1] = arcs;
    }
    for (size_t k = 0; k < count; k++)
        to[member[k]] = NO_VERTEX;
    return 0;
}

uint64_t affinity_ranks(const affinity *g)
{
    uint64_t ranks = 0;
    for (size_t v = 0; v < g->vertices; v++)
        ranks += g->size[v];
    return ranks;
}

int64_t affinity_cut(const affinity *g, const size_t *node)
{
    int64_t twice = 0;
    for (size_t v = 0; v < g->vertices; v++)
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            if (node[g->other[i]] != node[v])
                twice += g->weight[i];
    return twice / 2;
}
