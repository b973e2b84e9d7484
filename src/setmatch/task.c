/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement task: the checked input as a graph of ranks and a allocation. */
#include "setmatch/task.h"

#include <errno.h>

/* A visit takes 20 to 40 ns. By the view alone the cut is all that counts; candidates by a profile
 * are many, and the least cut is not the least load. */
enum { MOST_WORK = 350000, WORK_PER_RANK = 1500, TIMES_BY_VIEW = 128 };

static size_t work_of_search(const setmatch_input *input)
{
    size_t ranks = input->view->rows;
    size_t work = ranks < MOST_WORK / WORK_PER_RANK ? WORK_PER_RANK * ranks : MOST_WORK;
    return input->profile == NULL ? TIMES_BY_VIEW * work : work;
}

int placement_task_init(placement_task *task, const setmatch_input *input)
{
    if (input->nodes >= NO_VERTEX)
        return -EOVERFLOW;
    *task = (placement_task){.input = input, .work = work_of_search(input)};
    int rc = affinity_from_view(&task->ranks, input->view);
    if (rc == 0 && !slots_suffice(input->slots, input->nodes, input->view->rows))
        rc = -ENOSPC;
    if (rc == 0)
        rc = allocation_init(&task->allocation, input->slots, input->nodes);
    if (rc != 0)
        placement_task_release(task);
    return rc;
}

void placement_task_release(placement_task *task)
{
    affinity_release(&task->ranks);
    allocation_release(&task->allocation);
}
