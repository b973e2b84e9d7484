/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement by a graph of ranks: among groups of nodes first, then within each. */
#define _GNU_SOURCE /* qsort_r */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/quality.h"
#include "setmatch/task.h"

/* Ranks to be placed on some nodes (NULL: on all), which are in groups of the levels below `level`.
 */
struct part {
    const affinity *ranks;
    const size_t *node;
    size_t nodes, level;
};

/* Groups in the order of their labels, on level 0 the nodes; the nodes of group k are
 * node[first[k]] .. node[first[k + 1] - 1], in the order of their numbers. */
struct groups {
    struct base_arena arena;
    size_t count;
    size_t *first, *node, *slots;
};

static int compare_labels(const void *a, const void *b, void *labels)
{
    const size_t *x = a, *y = b, *label = labels;
    if (label[*x] != label[*y])
        return label[*x] < label[*y] ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* Sums of slots saturate. Release the arena, also after an error. */
static int groups_init(struct groups *g, const setmatch_input *in, const struct part *p)
{
    size_t *label = p->level == 0 ? NULL : in->network->group_of_node + (p->level - 1) * in->nodes;
    *g = (struct groups){.count = 0};
    g->first = base_arena_alloc(&g->arena, p->nodes + 1, sizeof *g->first);
    g->node = base_arena_alloc(&g->arena, p->nodes, sizeof *g->node);
    g->slots = base_arena_alloc(&g->arena, p->nodes, sizeof *g->slots);
    if (g->arena.failed)
        return -ENOMEM;
    for (size_t k = 0; k < p->nodes; k++)
        g->node[k] = p->node != NULL ? p->node[k] : k;
    if (label != NULL)
        qsort_r(g->node, p->nodes, sizeof *g->node, compare_labels, label);
    for (size_t k = 0; k < p->nodes; k++) {
        if (k == 0 || label == NULL || label[g->node[k]] != label[g->node[k - 1]])
            g->first[g->count++] = k;
        size_t *slots = &g->slots[g->count - 1];
        if (__builtin_add_overflow(*slots, in->slots[g->node[k]], slots))
            *slots = SIZE_MAX;
    }
    g->first[g->count] = p->nodes;
    return 0;
}

/* Each rank is placed once on each level, so that all take as much work as a placement that ignores
 * groups. */
static int place_on_slots(const placement_task *task, const affinity *ranks, const size_t *slots,
                          size_t nodes, size_t *node)
{
    allocation s;
    int rc = allocation_init(&s, slots, nodes);
    if (rc != 0)
        return rc;
    double share = (double)ranks->vertices / (double)(task->ranks.vertices + 1);
    double work = share * (double)task->work / (double)(task->input->network->levels + 1);
    rc = place_best(ranks, &s, task->input->refine, (size_t)work, node);
    allocation_release(&s);
    return rc;
}

/* Ranks sorted by group: those of group k are rank[first[k]] .. rank[first[k + 1] - 1]. */
struct members {
    struct base_arena arena;
    size_t *first;
    vertex *rank, *to; /* to: for affinity_extract */
    size_t *node;      /* of the ranks of one group */
};

/* Release the arena, also after an error. */
static int group_members_init(struct members *m, size_t ranks, size_t groups)
{
    *m = (struct members){.first = NULL};
    m->first = base_arena_alloc(&m->arena, groups + 2, sizeof *m->first);
    m->rank = base_arena_alloc(&m->arena, ranks, sizeof *m->rank);
    m->to = base_arena_alloc(&m->arena, ranks, sizeof *m->to);
    m->node = base_arena_alloc(&m->arena, ranks, sizeof *m->node);
    return m->arena.failed ? -ENOMEM : 0;
}

static void sort_members(struct members *m, const size_t *group_of_rank, size_t ranks,
                         size_t groups)
{
    for (size_t v = 0; v < ranks; v++)
        m->first[group_of_rank[v] + 2]++;
    for (size_t k = 2; k < groups + 2; k++)
        m->first[k] += m->first[k - 1];
    for (size_t v = 0; v < ranks; v++) {
        m->rank[m->first[group_of_rank[v] + 1]++] = (vertex)v;
        m->to[v] = NO_VERTEX;
    }
}

static int place_level_part(const placement_task *task, const struct part *p, size_t *node);

static int place_members(const placement_task *task, const struct part *p, const struct groups *g,
                         size_t group, struct members *m, size_t *node)
{
    affinity ranks;
    const vertex *member = m->rank + m->first[group];
    size_t count = m->first[group + 1] - m->first[group];
    int rc = affinity_extract(&ranks, p->ranks, member, count, m->to);
    if (rc != 0)
        return rc;
    const struct part part = {&ranks, g->node + g->first[group],
                              g->first[group + 1] - g->first[group], p->level - 1};
    rc = place_level_part(task, &part, m->node);
    affinity_release(&ranks);
    for (size_t k = 0; rc == 0 && k < count; k++)
        node[member[k]] = m->node[k];
    return rc;
}

/* Sets node[] to the groups of the ranks first. */
static int place_in_groups(const placement_task *task, const struct part *p, const struct groups *g,
                           size_t *node)
{
    struct members m;
    int rc = group_members_init(&m, p->ranks->vertices, g->count);
    if (rc == 0)
        rc = place_on_slots(task, p->ranks, g->slots, g->count, node);
    if (rc == 0)
        sort_members(&m, node, p->ranks->vertices, g->count);
    for (size_t k = 0; rc == 0 && k < g->count; k++)
        rc = place_members(task, p, g, k, &m, node);
    base_arena_release(&m.arena);
    return rc;
}

/* The recursion depth is the number of levels. */
static int place_level_part(const placement_task *task, const struct part *p, size_t *node)
{
    struct groups g;
    const struct part below = {p->ranks, p->node, p->nodes, p->level - 1};
    int rc = groups_init(&g, task->input, p);
    if (rc == 0 && p->level == 0)
        rc = place_on_slots(task, p->ranks, g.slots, g.count, node);
    else if (rc == 0)
        rc =
            g.count > 1 ? place_in_groups(task, p, &g, node) : place_level_part(task, &below, node);
    for (size_t v = 0; rc == 0 && p->level == 0 && v < p->ranks->vertices; v++)
        node[v] = g.node[node[v]];
    base_arena_release(&g.arena);
    return rc;
}

/* Placements that know no groups, where they cost less. */
static int compare_flat(const placement_task *task, size_t *node)
{
    static const place_fn flat[] = {place_by_sets, place_by_slot};
    size_t ranks = task->ranks.vertices, *trial = calloc(ranks + 1, sizeof *trial);
    double least = setmatch_cost(task->input, node);
    int rc = trial == NULL ? -ENOMEM : 0;
    for (size_t k = 0; rc == 0 && k < 2; k++) {
        rc = flat[k](&task->ranks, &task->allocation, trial);
        double cost = rc == 0 ? setmatch_cost(task->input, trial) : least;
        if (cost < least) {
            least = cost;
            memcpy(node, trial, ranks * sizeof *trial);
        }
    }
    free(trial);
    return rc;
}

int place_by_affinity(const placement_task *task, const affinity *ranks, size_t *node)
{
    const setmatch_input *in = task->input;
    if (in->network == NULL || in->network->levels == 0)
        return place_best(ranks, &task->allocation, in->refine, task->work, node);
    const struct part all = {ranks, NULL, in->nodes, in->network->levels};
    int rc = place_level_part(task, &all, node);
    return rc == 0 && ranks == &task->ranks ? compare_flat(task, node) : rc;
}
