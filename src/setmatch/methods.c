/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of placement. */
#include "setmatch/setmatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setmatch/task.h"

/* A visit takes 40 to 60 ns. By the view alone the cut is all that counts; candidates by a profile
 * are many, and the least cut is not the least load. Of many ranks, more bisections gain less than
 * one hundredth. */
enum { MOST_WORK = 350000, WORK_PER_RANK = 1500, TIMES_BY_VIEW = 64, TIMES_OF_MANY = 12 };

static size_t work_of_search(const setmatch_input *input)
{
    size_t ranks = input->view->rows;
    size_t work = ranks < MOST_WORK / WORK_PER_RANK ? WORK_PER_RANK * ranks : MOST_WORK;
    if (input->profile == NULL)
        work *= ranks > MANY_RANKS ? TIMES_OF_MANY : TIMES_BY_VIEW;
    return work;
}

static bool slots_suffice(const setmatch_input *input)
{
    size_t ranks = input->view->rows;
    for (size_t n = 0; n < input->nodes && ranks > 0; n++)
        ranks -= input->slots[n] < ranks ? input->slots[n] : ranks;
    return ranks == 0;
}

static void placement_task_release(placement_task *task)
{
    affinity_release(&task->ranks);
    allocation_release(&task->allocation);
}

/* Checks the input. Errors as setmatch_method_fn. */
static int placement_task_init(placement_task *task, const setmatch_input *input)
{
    if (input->nodes >= NO_VERTEX)
        return -EOVERFLOW;
    *task = (placement_task){.input = input, .work = work_of_search(input)};
    int rc = affinity_from_view(&task->ranks, input->view);
    if (rc == 0 && !slots_suffice(input))
        rc = -ENOSPC;
    if (rc == 0)
        rc = allocation_init(&task->allocation, input->slots, input->nodes);
    if (rc != 0)
        placement_task_release(task);
    return rc;
}

/* place: NULL for that of the objective. Sets node_of_rank only on success. */
static int run_method(const setmatch_input *input, place_fn place, bool refine,
                      size_t *node_of_rank)
{
    placement_task task;
    size_t work = 0;
    int rc = placement_task_init(&task, input);
    if (rc != 0)
        return rc;
    size_t ranks = task.ranks.vertices, *node = calloc(ranks + 1, sizeof *node);
    if (node == NULL)
        rc = -ENOMEM;
    else if (place == NULL)
        rc = place_by_objective(&task, node);
    else
        rc = place(&task.ranks, &task.allocation, node);
    if (rc == 0 && refine)
        rc = refine_multilevel(&task.ranks, &task.allocation, 0, node, &work);
    if (rc == 0)
        memcpy(node_of_rank, node, ranks * sizeof *node);
    free(node);
    placement_task_release(&task);
    return rc;
}

#define METHOD(name, place, refine)                                                                \
    int setmatch_##name(const setmatch_input *input, size_t *node_of_rank)                         \
    {                                                                                              \
        return run_method(input, place, refine, node_of_rank);                                     \
    }

METHOD(auto, NULL, false)
METHOD(paper, place_by_sets, input->refine)
METHOD(bisection, place_bisected, input->refine)
METHOD(byslot, place_by_slot, false)
METHOD(bynode, place_by_node, false)

const setmatch_method setmatch_methods[] = {
    {"auto", setmatch_auto, "the least cut of several methods, refined"},
    {"setmatch", setmatch_paper, "SetMatch as in the paper, with corrections"},
    {"bisection", setmatch_bisection, "multilevel recursive bisection"},
    {"byslot", setmatch_byslot, "nodes filled in order"},
    {"bynode", setmatch_bynode, "one rank to each node in turn"},
    {NULL, NULL, NULL},
};
