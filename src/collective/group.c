/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a file, and the nodes they are on. */
#include "collective/group.h"

#include <stdlib.h>

#include "base/memory.h"

static bool is_here(const coll_group *group, int rank)
{
    return rank == group->rank || group->runtime->is_local(group->runtime->context, rank);
}

static int find_local_ranks(coll_group *group)
{
    size_t locals = 0;
    for (int r = 0; r < group->size; r++)
        locals += is_here(group, r);
    group->local = base_alloc(locals, sizeof *group->local);
    for (int r = 0; r < group->size && group->local != NULL; r++)
        if (is_here(group, r))
            group->local[group->locals++] = r;
    return group->local == NULL ? -ENOMEM : 0;
}

int coll_group_init(coll_group *group, const coll_runtime *runtime)
{
    group->runtime = runtime;
    group->rank = runtime->rank;
    group->size = runtime->size;
    int rc = group->local == NULL ? find_local_ranks(group) : 0;
    group->is_leader = rc == 0 && group->local[0] == group->rank;
    return rc;
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

bool coll_has_lost(const coll_runtime *runtime)
{
    return runtime->has_lost != NULL && runtime->has_lost(runtime->context);
}

void coll_end_job(const coll_runtime *runtime, int rc)
{
    if (coll_has_lost(runtime))
        return;
    coll_show(runtime->process, COLL_TEXT_END, runtime->rank, runtime->error_class(rc));
    runtime->abort(runtime->context, runtime->error_class(rc));
}

int coll_reduce(const coll_group *group, int64_t *value, size_t count,
                enum coll_operation operation)
{
    int rc = group->runtime->reduce(group->runtime->context, value, count, operation);
    if (rc != 0)
        coll_end_job(group->runtime, rc);
    return rc;
}

int coll_gather(const coll_group *group, const int64_t *own, size_t count, int64_t *all)
{
    int rc = group->runtime->gather(group->runtime->context, own, count, all);
    if (rc != 0)
        coll_end_job(group->runtime, rc);
    return rc;
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
