/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a file, and the nodes they are on. */
#include "collective/group.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

static void find_local_ranks(coll_group *group)
{
    const coll_runtime *runtime = group->runtime;
    group->locals = 0;
    for (int r = 0; r < group->size; r++)
        if (r == group->rank || runtime->is_local(runtime->context, r))
            group->local[group->locals++] = r;
}

int coll_group_init(coll_group *group, const coll_runtime *runtime)
{
    bool is_new = group->local == NULL;
    group->runtime = runtime;
    group->rank = runtime->rank;
    group->size = runtime->size;
    if (group->leader == NULL)
        group->leader = base_alloc((size_t)group->size, sizeof *group->leader);
    if (is_new)
        group->local = base_alloc((size_t)group->size, sizeof *group->local);
    if (group->leader == NULL || group->local == NULL)
        return -ENOMEM;
    if (is_new)
        find_local_ranks(group);
    return 0;
}

void coll_group_release(coll_group *group)
{
    free(group->local);
    free(group->leader);
    *group = (coll_group){NULL};
}

double coll_clock(const coll_group *group)
{
    return group->runtime->process->clock(group->runtime->process->context);
}

int coll_local_index(const coll_group *group, int rank)
{
    int low = 0, high = group->locals;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (group->local[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < group->locals && group->local[low] == rank ? low : -1;
}

bool coll_is_local(const coll_group *group, int rank)
{
    return coll_local_index(group, rank) >= 0;
}

bool coll_is_leader(const coll_group *group)
{
    return group->local[0] == group->rank;
}

/* ---- leaders ---- */

/* of: the leader of each rank. In place: the leaders, ascending. */
static void keep_leaders(coll_group *group, int *of, size_t *node_of_rank)
{
    int leaders = 0;
    for (int r = 0; r < group->size; r++) {
        int leader = of[r];
        if (node_of_rank != NULL)
            node_of_rank[r] = leader == r ? (size_t)leaders : node_of_rank[leader];
        if (leader != r)
            continue;
        if (r == group->local[0])
            group->leader_index = leaders;
        of[leaders++] = r;
    }
    group->leaders = leaders;
}

int coll_find_leaders(coll_group *group, size_t *node_of_rank, size_t *nodes)
{
    const coll_runtime *runtime = group->runtime;
    int rc = runtime->allgather(runtime->context, group->local[0], group->leader);
    if (rc == 0)
        keep_leaders(group, group->leader, node_of_rank);
    *nodes = (size_t)group->leaders;
    return rc;
}
