/* SPDX-License-Identifier: BSD-3-Clause */
/* What binds ranks, or groups of ranks, together: an undirected weighted graph. */
#include "setmatch/affinity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* How many pairs there are, and by how many bits their values must be shifted. */
static size_t measure(const symmetric_rows *rows, unsigned *shift)
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

/* A value that is shifted to nothing still binds a little. */
static int64_t shifted(uint64_t value, unsigned shift)
{
    return value >> shift > 0 ? (int64_t)(value >> shift) : 1;
}

static void fill(affinity *g, const symmetric_rows *rows, unsigned shift)
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
    rc = affinity_allocate(g, view->rows, measure(&rows, &shift));
    if (rc == 0)
        fill(g, &rows, shift);
    symmetric_rows_release(&rows);
    return rc;
}

/* The vertices of a graph by what they become: member[first[c]] .. member[first[c + 1] - 1]. */
struct members {
    size_t *first;
    vertex *member;
};

static int members_init(struct members *m, const vertex *to, size_t vertices, size_t count)
{
    *m = (struct members){calloc(count + 2, sizeof *m->first),
                          calloc(vertices + 1, sizeof *m->member)};
    if (m->first == NULL || m->member == NULL) {
        free(m->first);
        free(m->member);
        return -ENOMEM;
    }
    for (size_t v = 0; v < vertices; v++)
        if (to[v] != NO_VERTEX)
            m->first[to[v] + 2]++;
    for (size_t c = 2; c < count + 2; c++)
        m->first[c] += m->first[c - 1];
    for (size_t v = 0; v < vertices; v++)
        if (to[v] != NO_VERTEX)
            m->member[m->first[to[v] + 1]++] = (vertex)v;
    return 0;
}

/* Adds the arcs of one fine vertex to coarse vertex c, whose arcs begin at g->start[c]. at[] says
 * where an arc to a coarse vertex stands, if that is not before the beginning. */
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

static size_t remaining_arcs(const affinity *fine, const vertex *to)
{
    size_t arcs = 0;
    for (size_t v = 0; v < fine->vertices; v++)
        for (size_t i = fine->start[v]; to[v] != NO_VERTEX && i < fine->start[v + 1]; i++)
            arcs += to[fine->other[i]] != NO_VERTEX && to[fine->other[i]] != to[v];
    return arcs;
}

int affinity_contract(affinity *coarse, const affinity *fine, const vertex *to, size_t count)
{
    struct members m;
    affinity made;
    size_t *at = calloc(count + 1, sizeof *at);
    if (at == NULL)
        return -ENOMEM;
    int rc = members_init(&m, to, fine->vertices, count);
    if (rc != 0)
        goto free_at;
    rc = affinity_allocate(&made, count, remaining_arcs(fine, to));
    if (rc != 0)
        goto free_members;
    for (size_t c = 0; c < count; c++) {
        size_t end = made.start[c];
        for (size_t k = m.first[c]; k < m.first[c + 1]; k++) {
            made.size[c] += fine->size[m.member[k]];
            end = add_arcs(&made, c, end, fine, m.member[k], to, at);
        }
        made.start[c + 1] = end;
    }
    *coarse = made;
free_members:
    free(m.first);
    free(m.member);
free_at:
    free(at);
    return rc;
}

static size_t arcs_of(const affinity *g, const vertex *member, size_t count)
{
    size_t arcs = 0;
    for (size_t k = 0; k < count; k++)
        arcs += g->start[member[k] + 1] - g->start[member[k]];
    return arcs;
}

int affinity_extract(affinity *part, const affinity *whole, const vertex *member, size_t count,
                     vertex *to)
{
    size_t arcs = 0;
    int rc = affinity_allocate(part, count, arcs_of(whole, member, count));
    if (rc != 0)
        return rc;
    for (size_t k = 0; k < count; k++)
        to[member[k]] = (vertex)k;
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
