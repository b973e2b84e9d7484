/* SPDX-License-Identifier: BSD-3-Clause */
/* How near the ranks of a node are to its network devices, by the locality strings that the
 * launcher gave this node for ranks that it bound. Where it gave none, each rank finds out with
 * hwloc by the processors that it may use, and tells its leader. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "collective/nodes_internal.h"
#include "topo/machine.h"

static topo_machine *find_machine(const coll_group *group)
{
    const coll_process *process = group->runtime->process;
    return process->machine(process->context);
}

static bool any_bound(char *const *locality, size_t ranks)
{
    for (size_t i = 0; i < ranks; i++)
        if (locality[i] != NULL)
            return true;
    return false;
}

/* *nearness stays where no rank is bound, or the machine is not known. */
static int make_nearness(const coll_group *group, char *const *locality, unsigned char **nearness)
{
    size_t ranks = (size_t)group->locals;
    topo_machine *machine = ranks > 1 && any_bound(locality, ranks) ? find_machine(group) : NULL;
    if (machine == NULL)
        return 0;
    unsigned char *made = calloc(ranks, 1);
    int rc = made == NULL ? -ENOMEM : topo_machine_near_network(machine, locality, ranks, made);
    if (rc == 0)
        *nearness = made;
    else
        free(made);
    return rc;
}

/* ---- from the launcher ---- */

int coll_nearness_read(const coll_group *group, unsigned char **nearness, bool *given)
{
    size_t ranks = (size_t)group->locals;
    char **locality = calloc(ranks, sizeof *locality);
    if (locality == NULL)
        return -ENOMEM;
    *given = ranks < 2;
    for (size_t i = 0; i < ranks; i++) {
        locality[i] = group->runtime->locality(group->runtime->context, group->local[i]);
        *given = *given || locality[i] != NULL;
    }
    int rc = make_nearness(group, locality, nearness);
    for (size_t i = 0; i < ranks; i++)
        free(locality[i]);
    free(locality);
    return rc;
}

/* ---- from hwloc ---- */

/* Where there are more processors than the set has room for, hwloc finds out. */
bool coll_may_be_bound(void)
{
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) != 0 ||
           CPU_COUNT(&usable) < sysconf(_SC_NPROCESSORS_ONLN);
}

/* 0 where it is not bound, or the machine is not known. */
static int find_own_nearness(const coll_group *group, int64_t *nearness)
{
    topo_machine *machine = find_machine(group);
    char *own = NULL;
    unsigned char found = 0;
    int rc = machine == NULL ? 0 : topo_machine_own_locality(machine, &own);
    if (rc == 0 && own != NULL)
        rc = topo_machine_near_network(machine, &own, 1, &found);
    free(own);
    *nearness = found;
    return rc;
}

typedef struct peer_nearness {
    const coll_group *group;
    unsigned char *of_local; /* NULL if memory is exhausted */
} peer_nearness;

static int add_nearness(void *context, int rank, const int64_t *element, size_t count)
{
    const peer_nearness *all = context;
    if (all->of_local != NULL && count > 0)
        all->of_local[coll_local_index(all->group, rank)] = (unsigned char)*element;
    return 0;
}

int coll_nearness_ask(coll_group *group, bool given, unsigned char **nearness)
{
    int64_t own[2] = {0}; /* one element would be an error */
    int rc = find_own_nearness(group, own);
    peer_nearness all = {.group = group};
    const coll_message message = {group->rank, own, 2};
    if (coll_is_leader(group))
        all.of_local = base_zeroed((size_t)group->locals, 1, &rc);
    rc = coll_gather_node(group, COLL_TAG_ROWS, &message, add_nearness, &all, rc);
    if (!given && all.of_local != NULL)
        *nearness = all.of_local;
    else
        free(all.of_local);
    return coll_agree_error(group, rc);
}

void coll_nearness_report(const coll_group *group, bool given, bool asked)
{
    const char *source = "all equal, because ranks are not bound";
    if (group->locals < 2)
        return;
    if (given)
        source = "from the launcher";
    else if (asked)
        source = "from hwloc";
    coll_log(group->runtime->process, 10, "localities of the ranks of a node: %s", source);
}
