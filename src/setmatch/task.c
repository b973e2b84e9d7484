/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement task: the checked input as a graph of ranks and a site. */
#include "setmatch/task.h"

#include <errno.h>

int placement_task_init(placement_task *task, const setmatch_input *input, bool exact)
{
    if (input->threshold > 100)
        return -EINVAL;
    if (input->nodes >= NO_VERTEX)
        return -EOVERFLOW;
    *task = (placement_task){.input = input};
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
