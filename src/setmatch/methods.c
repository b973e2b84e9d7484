/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of placement. */
#include "setmatch/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int placement_task_init(placement_task *task, const setmatch_input *input)
{
    if (input->threshold > 100)
        return -EINVAL;
    if (input->nodes >= NO_VERTEX)
        return -EOVERFLOW;
    *task = (placement_task){.input = input};
    int rc = affinity_from_view(&task->ranks, input->view);
    if (rc == 0 && !site_suffices(input->slots, input->nodes, input->view->rows))
        rc = -ENOSPC;
    if (rc == 0)
        rc = site_init(&task->site, input->slots, input->nodes);
    if (rc != 0)
        placement_task_release(task);
    return rc;
}

void placement_task_release(placement_task *task)
{
    affinity_release(&task->ranks);
    site_release(&task->site);
}

static int place_paper(const placement_task *t, size_t *node)
{
    return place_by_sets(&t->ranks, &t->site, t->input->threshold, node);
}

static int place_in_levels(const placement_task *t, size_t *node)
{
    return place_levelled(&t->ranks, &t->site, t->input->threshold, node);
}

static int place_merged(const placement_task *t, size_t *node)
{
    return place_agglomerative(&t->ranks, &t->site, 0, node);
}

static int place_divided(const placement_task *t, size_t *node)
{
    return place_bisected(&t->ranks, &t->site, 0, node);
}

static int place_in_order(const placement_task *t, size_t *node)
{
    return place_by_slot(&t->ranks, &t->site, node);
}

static int place_in_turn(const placement_task *t, size_t *node)
{
    const setmatch_input *in = t->input;
    size_t rank = 0;
    for (size_t turn = 0; rank < t->ranks.vertices; turn++)
        for (size_t n = 0; n < in->nodes && rank < t->ranks.vertices; n++)
            if (turn < in->slots[n])
                node[rank++] = n;
    return 0;
}

typedef int (*place_fn)(const placement_task *task, size_t *node);

/* node_of_rank is set only on success. */
static int run(const setmatch_input *input, place_fn place, bool refine, size_t *node_of_rank)
{
    placement_task task;
    size_t work = 0;
    int rc = placement_task_init(&task, input);
    if (rc != 0)
        return rc;
    size_t ranks = task.ranks.vertices, *node = calloc(ranks + 1, sizeof *node);
    rc = node == NULL ? -ENOMEM : place(&task, node);
    if (rc == 0 && refine)
        rc = refine_placement(&task.ranks, &task.site, node, &work);
    if (rc == 0)
        memcpy(node_of_rank, node, ranks * sizeof *node);
    free(node);
    placement_task_release(&task);
    return rc;
}

int setmatch_auto(const setmatch_input *input, size_t *node_of_rank)
{
    return run(input, place_by_objective, false, node_of_rank);
}

int setmatch_paper(const setmatch_input *input, size_t *node_of_rank)
{
    return run(input, place_paper, input->refine, node_of_rank);
}

int setmatch_levelled(const setmatch_input *input, size_t *node_of_rank)
{
    return run(input, place_in_levels, input->refine, node_of_rank);
}

int setmatch_agglomerative(const setmatch_input *input, size_t *node_of_rank)
{
    return run(input, place_merged, input->refine, node_of_rank);
}

int setmatch_bisection(const setmatch_input *input, size_t *node_of_rank)
{
    return run(input, place_divided, input->refine, node_of_rank);
}

int setmatch_byslot(const setmatch_input *input, size_t *node_of_rank)
{
    return run(input, place_in_order, false, node_of_rank);
}

int setmatch_bynode(const setmatch_input *input, size_t *node_of_rank)
{
    return run(input, place_in_turn, false, node_of_rank);
}

const setmatch_method setmatch_methods[] = {
    {"auto", setmatch_auto, "the least cut of several methods, refined"},
    {"setmatch", setmatch_paper, "SetMatch as in the paper, with its errors mended"},
    {"levelled", setmatch_levelled, "SetMatch again and again, for ever weaker bonds"},
    {"agglomerative", setmatch_agglomerative, "the most bound sets merged first"},
    {"bisection", setmatch_bisection, "multilevel recursive bisection"},
    {"byslot", setmatch_byslot, "nodes filled in order"},
    {"bynode", setmatch_bynode, "one rank to each node in turn"},
    {"mpipp", setmatch_mpipp, "random placement, then the best swaps"},
    {NULL, NULL, NULL},
};

const setmatch_method *setmatch_find_method(const char *name)
{
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}
