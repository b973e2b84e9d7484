/* SPDX-License-Identifier: BSD-3-Clause */
/* The affinity of ranks, or of sets of ranks: an undirected weighted graph. */
#include "setmatch/affinity.h"

#include <errno.h>
#include <stdlib.h>
#include "base/arena.h"
#include "setmatch/rows.h"

/* Sums stay below this. */
#define LARGEST_SUM ((unsigned __int128)1 << 62)

int affinity_allocate(affinity *g, size_t vertices, size_t arcs)
{
    affinity made = {.vertices = vertices,
                     .start = calloc(vertices + 1, sizeof *made.start),
                     .other = calloc(arcs + 1, sizeof *made.other),
                     .weight = calloc(arcs + 1, sizeof *made.weight),
                     .size = calloc(vertices + 1, sizeof *made.size)};
    if (made.start == NULL || made.other == NULL || made.weight == NULL || made.size == NULL) {
        affinity_release(&made);
        return -ENOMEM;
    }
    *g = made;
    return 0;
}

void affinity_release(affinity *g)
{
    free(g->start);
    free(g->other);
    free(g->weight);
    free(g->size);
    *g = (affinity){0};
}

/* Counts the arcs, and the bits by which values must be shifted. */
static size_t count_arcs(const symmetric_rows *rows, unsigned *shift)
{
    row_pair pair;
    size_t arcs = 0;
    unsigned __int128 sum = 0;
    for (size_t rank = 0; rank < rows->view->rows; rank++) {
        for (row_sum sums = symmetric_row(rows, rank); next_pair(&sums, &pair);) {
            arcs += pair.value > 0;
            sum += pair.value;
        }
    }
    for (*shift = 0; (sum >> *shift) + arcs >= LARGEST_SUM;)
        (*shift)++;
    return arcs;
}

/* At least 1: small values do not vanish. */
static int64_t shifted(uint64_t value, unsigned shift)
{
    return value >> shift > 0 ? (int64_t)(value >> shift) : 1;
}

static void fill_arcs(affinity *g, const symmetric_rows *rows, unsigned shift)
{
    row_pair pair;
    size_t arcs = 0;
    for (size_t rank = 0; rank < g->vertices; rank++) {
        for (row_sum sums = symmetric_row(rows, rank); next_pair(&sums, &pair);) {
            if (pair.value == 0)
                continue;
            g->other[arcs] = (vertex)pair.other;
            g->weight[arcs++] = shifted(pair.value, shift);
        }
        g->start[rank + 1] = arcs;
        g->size[rank] = 1;
    }
}

int affinity_from_view(affinity *g, const matrix *view)
{
    symmetric_rows rows;
    unsigned shift;
    if (view->rows >= NO_VERTEX)
        return -EOVERFLOW;
    int rc = symmetric_rows_init(&rows, view);
    if (rc != 0)
        return rc;
    rc = affinity_allocate(g, view->rows, count_arcs(&rows, &shift));
    if (rc == 0)
        fill_arcs(g, &rows, shift);
    symmetric_rows_release(&rows);
    return rc;
}

/* Sorts vertices by coarse vertex: those of c become member[first[c]] .. member[first[c + 1] - 1].
 * first has count + 2 entries of 0. */
static void list_coarse_members(const vertex *to, size_t vertices, size_t count, size_t *first,
                                vertex *member)
{
    for (size_t v = 0; v < vertices; v++)
        if (to[v] != NO_VERTEX)
            first[to[v] + 2]++;
    for (size_t c = 2; c < count + 2; c++)
        first[c] += first[c - 1];
    for (size_t v = 0; v < vertices; v++)
        if (to[v] != NO_VERTEX)
            member[first[to[v] + 1]++] = (vertex)v;
}

/* Adds the arcs of one fine vertex to coarse vertex c, whose arcs begin at g->start[c]. at[]: index
 * of the arc to each coarse vertex, invalid if less than the beginning. */
static size_t add_arcs(affinity *g, size_t c, size_t end, const affinity *fine, vertex v,
                       const vertex *to, size_t *at)
{
    for (size_t i = fine->start[v]; i < fine->start[v + 1]; i++) {
        vertex other = to[fine->other[i]];
        if (other == NO_VERTEX || other == c)
            continue;
        if (at[other] < g->start[c] || at[other] >= end || g->other[at[other]] != other) {
            at[other] = end++;
            g->other[at[other]] = other;
            g->weight[at[other]] = 0;
        }
        g->weight[at[other]] += fine->weight[i];
    }
    return end;
}

static size_t count_remaining_arcs(const affinity *fine, const vertex *to)
{
    size_t arcs = 0;
    for (size_t v = 0; v < fine->vertices; v++)
        for (size_t i = fine->start[v]; to[v] != NO_VERTEX && i < fine->start[v + 1]; i++)
            arcs += to[fine->other[i]] != NO_VERTEX && to[fine->other[i]] != to[v];
    return arcs;
}

int affinity_contract(affinity *coarse, const affinity *fine, const vertex *to, size_t count)
{
    affinity made;
    struct base_arena arena = {0};
    size_t *at = base_arena_alloc(&arena, count, sizeof *at);
    size_t *first = base_arena_alloc(&arena, count + 2, sizeof *first);
    vertex *member = base_arena_alloc(&arena, fine->vertices, sizeof *member);
    int rc =
        arena.failed ? -ENOMEM : affinity_allocate(&made, count, count_remaining_arcs(fine, to));
    if (rc == 0) {
        list_coarse_members(to, fine->vertices, count, first, member);
        for (size_t c = 0; c < count; c++) {
            size_t end = made.start[c];
            for (size_t k = first[c]; k < first[c + 1]; k++) {
                made.size[c] += fine->size[member[k]];
                end = add_arcs(&made, c, end, fine, member[k], to, at);
            }
            made.start[c + 1] = end;
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
            if (to[whole->other[i]] == NO_VERTEX)
                continue;
            part->other[arcs] = to[whole->other[i]];
            part->weight[arcs++] = whole->weight[i];
        }
        part->start[k + 1] = arcs;
    }
    for (size_t k = 0; k < count; k++)
        to[member[k]] = NO_VERTEX;
    return 0;
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
