/* SPDX-License-Identifier: BSD-3-Clause */
/* Annealing with groups of ranks that share a node: what single ranks cannot leave without a great
 * loss, such as a branch of a tree. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/matching.h"

/* A group has at most one of as many parts of a node; times that pairs of groups merge. */
enum { GROUPS_PER_NODE = 4, MOST_LEVELS = 4 };

struct grouping {
    struct base_arena arena;
    const affinity *g; /* of the groups */
    affinity merged;   /* this, once there is one */
    vertex *group;     /* by rank */
    vertex *to;        /* by group: the one that it becomes part of */
    size_t *node;      /* by group */
};

/* At first each rank is a group. */
static int init_grouping(struct grouping *r, const affinity *ranks, const size_t *node)
{
    size_t count = ranks->vertices;
    *r = (struct grouping){.g = ranks};
    r->group = base_arena_alloc(&r->arena, count, sizeof *r->group);
    r->to = base_arena_alloc(&r->arena, count, sizeof *r->to);
    r->node = base_arena_alloc(&r->arena, count, sizeof *r->node);
    if (r->arena.failed)
        return -ENOMEM;
    memcpy(r->node, node, count * sizeof *node);
    for (size_t v = 0; v < count; v++)
        r->group[v] = (vertex)v;
    return 0;
}

/* Merges pairs of groups that share a node. */
static int merge_groups(struct grouping *r, size_t ranks, const match_rules *rules)
{
    affinity merged;
    size_t count = match_vertices(r->g, rules, r->to);
    int rc = affinity_contract(&merged, r->g, r->to, count);
    if (rc != 0)
        return rc;
    for (size_t v = 0; v < r->g->vertices; v++)
        r->node[r->to[v]] = r->node[v];
    for (size_t v = 0; v < ranks; v++)
        r->group[v] = r->to[r->group[v]];
    affinity_release(&r->merged);
    r->merged = merged;
    r->g = &r->merged;
    return 0;
}

int anneal_groups(const affinity *ranks, const site *s, const annealing_run *run, size_t *node,
                  size_t *work)
{
    struct grouping r;
    int rc = init_grouping(&r, ranks, node);
    const match_rules rules = {s->slots[s->by_size[0]] / GROUPS_PER_NODE + 1, run->variant, r.node};
    const annealing_run strict = {run->variant, run->most_work, true};
    for (size_t level = 0; rc == 0 && level <= run->variant % MOST_LEVELS; level++)
        rc = merge_groups(&r, ranks->vertices, &rules);
    if (rc == 0)
        rc = anneal_placement(r.g, s, &strict, r.node, work);
    for (size_t v = 0; rc == 0 && v < ranks->vertices; v++)
        node[v] = r.node[r.group[v]];
    affinity_release(&r.merged);
    base_arena_release(&r.arena);
    return rc;
}
