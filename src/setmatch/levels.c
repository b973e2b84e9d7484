/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement by a graph of ranks: among groups of nodes first, then within each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setmatch/cost.h"
#include "setmatch/methods.h"

/* Groups numbered in the order of their first nodes; the nodes of group k are
 * node[first[k]] .. node[first[k + 1] - 1]. */
struct groups {
    size_t count;
    size_t *first, *node, *slots;
};

static void groups_release(struct groups *g)
{
    free(g->first);
    free(g->node);
    free(g->slots);
}

struct labelled {
    size_t label, node;
};

static int compare_labels(const void *a, const void *b)
{
    const struct labelled *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Labels become numbers without gaps. Slots beyond what counts are not added up. */
static void fill_groups(struct groups *g, const setmatch_input *in, struct labelled *labelled)
{
    for (size_t n = 0; n < in->nodes; n++)
        labelled[n] = (struct labelled){in->group_of_node[n], n};
    qsort(labelled, in->nodes, sizeof *labelled, compare_labels);
    for (size_t k = 0; k < in->nodes; k++) {
        size_t n = labelled[k].node;
        if (k == 0 || labelled[k].label != labelled[k - 1].label)
            g->first[g->count++] = k;
        g->node[k] = n;
        if (__builtin_add_overflow(g->slots[g->count - 1], in->slots[n], &g->slots[g->count - 1]))
            g->slots[g->count - 1] = SIZE_MAX;
    }
    g->first[g->count] = in->nodes;
}

static int groups_init(struct groups *g, const setmatch_input *in)
{
    size_t n = in->nodes + 1;
    struct labelled *labelled = calloc(n, sizeof *labelled);
    *g = (struct groups){0, calloc(n, sizeof *g->first), calloc(n, sizeof *g->node),
                         calloc(n, sizeof *g->slots)};
    int complete = labelled != NULL && g->first != NULL && g->node != NULL && g->slots != NULL;
    if (complete)
        fill_groups(g, in, labelled);
    else
        groups_release(g);
    free(labelled);
    return complete ? 0 : -ENOMEM;
}

/* place_best on nodes of these slots. */
static int place_on_slots(const placement_task *task, const affinity *ranks, const size_t *slots,
                          size_t nodes, size_t *node)
{
    site s;
    int rc = site_init(&s, slots, nodes);
    if (rc != 0)
        return rc;
    rc = place_best(ranks, &s, task->input->threshold, task->input->refine, node);
    site_release(&s);
    return rc;
}

/* Ranks sorted by group: those of group k are rank[first[k]] .. rank[first[k + 1] - 1]. */
struct members {
    size_t *first;
    vertex *rank, *to; /* to: for affinity_extract */
    size_t *node;      /* of the ranks of one group: which of its nodes */
    size_t *slots;     /* of the nodes of one group */
};

static void members_release(struct members *m)
{
    free(m->first);
    free(m->rank);
    free(m->to);
    free(m->node);
    free(m->slots);
}

static int members_init(struct members *m, size_t ranks, size_t groups, size_t nodes)
{
    *m = (struct members){calloc(groups + 2, sizeof *m->first), calloc(ranks + 1, sizeof *m->rank),
                          calloc(ranks + 1, sizeof *m->to), calloc(ranks + 1, sizeof *m->node),
                          calloc(nodes + 1, sizeof *m->slots)};
    if (m->first == NULL || m->rank == NULL || m->to == NULL || m->node == NULL || m->slots == NULL) {
        members_release(m);
        return -ENOMEM;
    }
    return 0;
}

static void sort_members(struct members *m, const size_t *group_of_rank, size_t ranks, size_t groups)
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

/* Places the ranks of one group on its nodes. */
static int place_members(const placement_task *task, const affinity *ranks, const struct groups *g,
                         size_t group, struct members *m, size_t *node)
{
    affinity part;
    const vertex *member = m->rank + m->first[group];
    const size_t *nodes = g->node + g->first[group];
    size_t count = m->first[group + 1] - m->first[group];
    size_t node_count = g->first[group + 1] - g->first[group];
    int rc = affinity_extract(&part, ranks, member, count, m->to);
    if (rc != 0)
        return rc;
    for (size_t k = 0; k < node_count; k++)
        m->slots[k] = task->input->slots[nodes[k]];
    rc = place_on_slots(task, &part, m->slots, node_count, m->node);
    affinity_release(&part);
    for (size_t k = 0; rc == 0 && k < count; k++)
        node[member[k]] = nodes[m->node[k]];
    return rc;
}

/* node[] holds the groups of the ranks first. */
static int place_in_groups(const placement_task *task, const affinity *ranks,
                           const struct groups *g, size_t *node)
{
    struct members m;
    int rc = members_init(&m, ranks->vertices, g->count, task->input->nodes);
    if (rc != 0)
        return rc;
    rc = place_on_slots(task, ranks, g->slots, g->count, node);
    if (rc == 0)
        sort_members(&m, node, ranks->vertices, g->count);
    for (size_t k = 0; rc == 0 && k < g->count; k++)
        rc = place_members(task, ranks, g, k, &m, node);
    members_release(&m);
    return rc;
}

static int place_flat(const placement_task *task, const affinity *ranks, size_t *node)
{
    return place_best(ranks, &task->site, task->input->threshold, task->input->refine, node);
}

/* Takes the placement that asks nothing of groups where its cost is less. */
static int compare_with_flat(const placement_task *task, const affinity *ranks, size_t *node)
{
    size_t *flat = calloc(ranks->vertices + 1, sizeof *flat);
    int rc = flat == NULL ? -ENOMEM : place_flat(task, ranks, flat);
    if (rc == 0 && affinity_cost(ranks, task->input, flat) < affinity_cost(ranks, task->input, node))
        memcpy(node, flat, ranks->vertices * sizeof *node);
    free(flat);
    return rc;
}

int place_by_affinity(const placement_task *task, const affinity *ranks, size_t *node)
{
    struct groups g;
    if (task->input->group_of_node == NULL)
        return place_flat(task, ranks, node);
    int rc = groups_init(&g, task->input);
    if (rc != 0)
        return rc;
    rc = g.count > 1 ? place_in_groups(task, ranks, &g, node) : place_flat(task, ranks, node);
    if (rc == 0 && g.count > 1)
        rc = compare_with_flat(task, ranks, node);
    groups_release(&g);
    return rc;
}
