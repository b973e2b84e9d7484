/* SPDX-License-Identifier: BSD-3-Clause */
/* How near the ranks of a node are to its network devices, by the locality strings that the
 * launcher gave this node for ranks that it bound. Where it gave none, each rank makes its own with
 * hwloc, by the processors that it may use, and sends it to its leader. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void free_localities(char **locality, size_t ranks)
{
    for (size_t i = 0; locality != NULL && i < ranks; i++)
        free(locality[i]);
    free(locality);
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
    free_localities(locality, ranks);
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

/* NULL: no memory, or nothing is known. The caller frees it. */
static int make_own_locality(const coll_group *group, char **own)
{
    topo_machine *machine = find_machine(group);
    *own = NULL;
    return machine == NULL ? 0 : topo_machine_own_locality(machine, own);
}

static size_t index_on_node(const void *group, int rank)
{
    return (size_t)coll_local_index(group, rank);
}

/* On the leader: takes its own string over. rc: as coll_receive_texts. */
static int ask_peers(coll_group *group, char *own, unsigned char **nearness, int rc)
{
    size_t ranks = (size_t)group->locals;
    coll_texts all = {calloc(ranks, sizeof *all.text), index_on_node, group};
    rc = coll_receive_texts(group, ranks - 1, &all, rc);
    if (all.text == NULL) {
        free(own);
        return rc != 0 ? rc : -ENOMEM;
    }
    all.text[0] = own;
    if (rc == 0)
        rc = make_nearness(group, all.text, nearness);
    free_localities(all.text, ranks);
    return rc;
}

int coll_nearness_ask(coll_group *group, bool given, unsigned char **nearness)
{
    unsigned char *asked = NULL;
    char *own;
    int rc = make_own_locality(group, &own);
    if (coll_is_leader(group)) {
        rc = ask_peers(group, own, &asked, rc);
    } else {
        int sent = coll_send_text(group, own, group->local[0]);
        rc = rc != 0 ? rc : sent;
        free(own);
    }
    rc = coll_agree_error(group, rc);
    if (rc == 0 && !given && coll_is_leader(group)) {
        free(*nearness);
        *nearness = asked;
    } else {
        free(asked);
    }
    return rc;
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
