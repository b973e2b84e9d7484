/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchical groups of nodes by distance. */
#include "base/arena.h"
#include "base/memory.h"
#include "base/union.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "topo/distances.h"

/* Joined classes at the current level: a union-find whose roots are the lowest members. */
struct nearness {
    const topo *topo;
    struct base_arena arena;
    size_t *parent;
    unsigned char *together; /* by class: its own nodes are joined */
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
    s->members = base_arena_alloc(&s->arena, n, sizeof *s->members);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t k = 0; k < t->nodes; k++)
        s->members[t->place_of_node[k]]++;
    for (size_t p = 0; p < t->places; p++)
        s->parent[p] = p;
    return 0;
}

/* A class that is joined to another one has its own nodes joined, through that one; one without
 * nodes is not joined. Returns the next number of hops. */
static uint16_t join_at(struct nearness *s, uint16_t hops)
{
    size_t classes = s->topo->places;
    uint16_t next = TOPO_UNREACHED;
    for (size_t p = 0; p < classes; p++) {
        for (size_t q = p; q < classes; q++) {
            uint16_t between = hops_between(s->topo, p, q);
            bool are_two = s->members[p] > (p == q) && s->members[q] > 0;
            if (are_two && between > hops && between < next)
                next = between;
            if (!are_two || between != hops)
                continue;
            size_t x = base_root(s->parent, p), y = base_root(s->parent, q);
            s->together[p] = s->together[q] = 1;
            s->parent[x > y ? x : y] = x > y ? y : x;
        }
    }
    return next;
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
    for (uint16_t hops = 0; rc == 0 && hops < TOPO_UNREACHED && groups > 1;) {
        size_t before = groups;
        hops = join_at(s, hops);
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
