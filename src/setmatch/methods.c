/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of placement. */
#include "setmatch/setmatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setmatch/task.h"

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

/* Sets node_of_rank only on success. */
static int run_method(const setmatch_input *input, place_fn place, bool refine,
                      size_t *node_of_rank)
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
    return run_method(input, place_by_objective, false, node_of_rank);
}

int setmatch_paper(const setmatch_input *input, size_t *node_of_rank)
{
    return run_method(input, place_paper, input->refine, node_of_rank);
}

int setmatch_levelled(const setmatch_input *input, size_t *node_of_rank)
{
    return run_method(input, place_in_levels, input->refine, node_of_rank);
}

int setmatch_agglomerative(const setmatch_input *input, size_t *node_of_rank)
{
    return run_method(input, place_merged, input->refine, node_of_rank);
}

int setmatch_bisection(const setmatch_input *input, size_t *node_of_rank)
{
    return run_method(input, place_divided, input->refine, node_of_rank);
}

int setmatch_byslot(const setmatch_input *input, size_t *node_of_rank)
{
    return run_method(input, place_in_order, false, node_of_rank);
}

int setmatch_bynode(const setmatch_input *input, size_t *node_of_rank)
{
    return run_method(input, place_in_turn, false, node_of_rank);
}

const setmatch_method setmatch_methods[] = {
    {"auto", setmatch_auto, "the least cut of several methods, refined"},
    {"setmatch", setmatch_paper, "SetMatch as in the paper, with corrections"},
    {"levelled", setmatch_levelled, "SetMatch repeatedly, for decreasing weights"},
    {"agglomerative", setmatch_agglomerative, "pairs of sets merged, the greatest weight first"},
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
