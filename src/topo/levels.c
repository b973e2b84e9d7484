/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical groups of nodes by distance. */
#include "base/arena.h"
#include "base/memory.h"
#include "base/union.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "topo/distances.h"
#include "topo/names.h"

/* Joined classes at the current level: a union-find whose roots are the lowest members. */
struct nearness {
    const topo *topo;
    struct base_arena arena;
    size_t *parent;
    unsigned char *together; /* by class: its own nodes are joined */
    unsigned char *present;  /* by hops: some pair of nodes has that distance */
    size_t *members;         /* by class */
    size_t capacity;         /* of the array of groups */
};

static uint16_t hops_between(const topo *t, size_t p, size_t q)
{
    uint16_t there = t->between[p * t->places + q], back = t->between[q * t->places + p];
    return there < back ? there : back;
}

static int nearness_init(struct nearness *s)
{
    const topo *t = s->topo;
    size_t n = t->places + 1;
    s->parent = base_arena_alloc(&s->arena, n, sizeof *s->parent);
    s->together = base_arena_alloc(&s->arena, n, 1);
    s->present = base_arena_alloc(&s->arena, (size_t)TOPO_UNREACHED + 1, 1);
    s->members = base_arena_alloc(&s->arena, n, sizeof *s->members);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t k = 0; k < t->nodes; k++)
        s->members[t->place_of_node[k]]++;
    for (size_t p = 0; p < t->places; p++) {
        s->parent[p] = p;
        for (size_t q = p; q < t->places; q++)
            if (p != q || s->members[p] > 1)
                s->present[hops_between(t, p, q)] = 1;
    }
    return 0;
}

/* A class that is joined to another one has its own nodes joined, through that one. */
static void join_at(struct nearness *s, uint16_t hops)
{
    size_t classes = s->topo->places;
    for (size_t p = 0; p < classes; p++) {
        for (size_t q = p; q < classes; q++) {
            if (hops_between(s->topo, p, q) != hops || (p == q && s->members[p] < 2))
                continue;
            size_t x = base_root(s->parent, p), y = base_root(s->parent, q);
            s->together[p] = s->together[q] = 1;
            s->parent[x > y ? x : y] = x > y ? y : x;
        }
    }
}

/* A node that is not joined is a separate group, numbered beyond the classes. */
static size_t level_group(const struct nearness *s, size_t node)
{
    size_t class = s->topo->place_of_node[node];
    return s->together[class] ? base_root(s->parent, class) : s->topo->places + node;
}

static size_t count_groups(const struct nearness *s)
{
    size_t groups = 0;
    for (size_t p = 0; p < s->topo->places; p++)
        if (!s->together[p])
            groups += s->members[p];
        else
            groups += s->parent[p] == p;
    return groups;
}

static int append_nearness_level(struct nearness *s, size_t *levels, size_t **group_of_node)
{
    size_t nodes = s->topo->nodes, needed;
    if (__builtin_mul_overflow(*levels + 1, nodes, &needed) ||
        base_reserve(group_of_node, &s->capacity, needed, sizeof **group_of_node) != 0)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        (*group_of_node)[*levels * nodes + n] = level_group(s, n);
    ++*levels;
    return 0;
}

static int group_levels(struct nearness *s, size_t *levels, size_t **group_of_node)
{
    size_t groups = s->topo->nodes;
    int rc = 0;
    for (uint16_t hops = 0; rc == 0 && hops < TOPO_UNREACHED && groups > 1; hops++) {
        if (!s->present[hops])
            continue;
        size_t before = groups;
        join_at(s, hops);
        groups = count_groups(s);
        if (groups < before && groups > 1)
            rc = append_nearness_level(s, levels, group_of_node);
    }
    return rc;
}

int topo_levels(const topo *t, size_t *levels, size_t **group_of_node)
{
    struct nearness s = {.topo = t};
    size_t count = 0, *made = NULL;
    int rc = t->places > 0 ? nearness_init(&s) : 0;
    if (rc == 0 && t->places > 0)
        rc = group_levels(&s, &count, &made);
    base_arena_release(&s.arena);
    if (rc != 0) {
        free(made);
        return rc;
    }
    *levels = count;
    *group_of_node = made;
    return 0;
}

/* ---- from levels to hops ---- */

/* Numbers the groups of level 0; first[p] is the first node of group p. */
static int number_groups(topo *t, const size_t *group, size_t *first)
{
    name_table groups = {0};
    int rc = 0;
    for (size_t n = 0; n < t->nodes && rc == 0; n++) {
        rc = name_table_add(&groups, &group[n], sizeof *group, &t->place_of_node[n]);
        if (rc == 0 && t->place_of_node[n] == t->places)
            first[t->places++] = n;
    }
    name_table_release(&groups);
    return rc;
}

static uint16_t hops_by_levels(size_t nodes, size_t levels, const size_t *group, size_t n, size_t m)
{
    size_t k = 0;
    while (k < levels && group[k * nodes + n] != group[k * nodes + m])
        k++;
    size_t hops = (k + 1) * (size_t)TOPO_OTHER_NODE;
    return (uint16_t)(hops < TOPO_UNREACHED ? hops : TOPO_UNREACHED - 1);
}

int topo_from_levels(topo *t, size_t nodes, size_t levels, const size_t *group_of_node)
{
    topo made;
    topo_flat(&made, nodes);
    if (levels == 0 || nodes == 0) {
        *t = made;
        return 0;
    }
    size_t *first = calloc(nodes, sizeof *first);
    made.place_of_node = calloc(nodes, sizeof *made.place_of_node);
    if (first != NULL && made.place_of_node != NULL &&
        number_groups(&made, group_of_node, first) == 0)
        made.between = base_alloc(made.places, made.places * sizeof *made.between);
    for (size_t p = 0; made.between != NULL && p < made.places; p++)
        for (size_t q = 0; q < made.places; q++)
            made.between[p * made.places + q] =
                hops_by_levels(nodes, levels, group_of_node, first[p], first[q]);
    free(first);
    if (made.between == NULL) {
        topo_release(&made);
        return -ENOMEM;
    }
    *t = made;
    return 0;
}
