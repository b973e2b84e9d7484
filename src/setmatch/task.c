/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement task: the checked input as a graph of ranks and a site. */
#include "setmatch/task.h"

#include <errno.h>

/* Up to .3 s, less with few ranks. A visit takes less than 0.1 us. */
enum { MOST_WORK = 5600000, WORK_PER_RANK = 24000, HIGH_EFFORT = 27 };

static size_t work_of_search(const setmatch_input *input)
{
    size_t ranks = input->view->rows;
    return ranks < MOST_WORK / WORK_PER_RANK ? WORK_PER_RANK * ranks : MOST_WORK;
}

int placement_task_init(placement_task *task, const setmatch_input *input, bool exact)
{
    if (input->threshold > 100)
        return -EINVAL;
    if (input->nodes >= NO_VERTEX)
        return -EOVERFLOW;
    *task = (placement_task){.input = input, .work = work_of_search(input)};
    task->effort = input->effort == SETMATCH_EFFORT_HIGH ? HIGH_EFFORT : 1;
    int rc = affinity_from_view(&task->ranks, input->view, exact);
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
