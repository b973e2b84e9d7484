/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between the ranks of a node: which parts of the machine they share, by the locality
 * strings that the launcher gave this node for ranks that it bound. Where it gave none, each rank
 * makes its own with hwloc, by the processors that it may use, and sends it to its leader. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "fcoll_tatp_nodes_internal.h"
#include "ompi/communicator/communicator.h"
#include "ompi/compat/compat.h"
#include "ompi/mca/fcoll/base/base.h"
#include "ompi/proc/proc.h"
#include "opal/util/output.h"
#include "topo/local.h"
#include "topo/machine.h"

/* Open MPI may load it only now, which two threads must not do at once. */
static topo_machine *find_machine(void)
{
    static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
    OPAL_THREAD_LOCK(&lock);
    topo_machine *machine = compat_machine();
    OPAL_THREAD_UNLOCK(&lock);
    return machine;
}

/* *steps is NULL where no two ranks save anything. */
static int make_steps(char *const *locality, size_t ranks, unsigned char **steps)
{
    unsigned char *made = base_alloc(ranks, ranks);
    int most = 0;
    if (NULL == made)
        return -ENOMEM;
    for (size_t i = 0; i < ranks; i++) {
        for (size_t k = 0; k < i; k++) {
            int saved = topo_level_saves(topo_locality_level(locality[i], locality[k]));
            made[i * ranks + k] = made[k * ranks + i] = (unsigned char)saved;
            most = saved > most ? saved : most;
        }
        made[i * ranks + i] = TOPO_STEPS;
    }
    if (0 == most) {
        free(made);
        made = NULL;
    }
    *steps = made;
    return OMPI_SUCCESS;
}

static bool any_differs(const unsigned char *nearness, size_t ranks)
{
    for (size_t i = 1; i < ranks; i++)
        if (nearness[i] != nearness[0])
            return true;
    return false;
}

/* *network is NULL where all ranks are as near, or this is not known. */
static int make_nearness(char *const *locality, size_t ranks, unsigned char **nearness)
{
    topo_machine *machine = find_machine();
    if (NULL == machine)
        return OMPI_SUCCESS;
    unsigned char *made = calloc(ranks, 1);
    int rc = NULL == made ? -ENOMEM : topo_machine_near_network(machine, locality, ranks, made);
    if (0 == rc && any_differs(made, ranks))
        *nearness = made;
    else
        free(made);
    return rc;
}

static bool any_bound(char *const *locality, size_t ranks)
{
    for (size_t i = 0; i < ranks; i++)
        if (NULL != locality[i])
            return true;
    return false;
}

/* Sets *inside on success only. */
static int make_inside(char *const *locality, size_t ranks, tatp_inside *inside)
{
    tatp_inside made = {NULL, NULL};
    int rc = OMPI_SUCCESS;
    if (ranks > 1 && any_bound(locality, ranks)) {
        rc = make_steps(locality, ranks, &made.steps);
        if (OMPI_SUCCESS == rc)
            rc = make_nearness(locality, ranks, &made.nearness);
    }
    if (OMPI_SUCCESS == rc)
        *inside = made;
    else
        tatp_inside_release(&made);
    return rc;
}

void tatp_inside_release(tatp_inside *inside)
{
    free(inside->steps);
    free(inside->nearness);
    *inside = (tatp_inside){NULL, NULL};
}

static void free_localities(char **locality, size_t ranks)
{
    for (size_t i = 0; NULL != locality && i < ranks; i++)
        free(locality[i]);
    free(locality);
}

/* ---- from the launcher ---- */

/* NULL: the rank is not bound, or this is not known. The caller frees it. */
static char *locality_of(const coll_group *group, int rank)
{
    const ompi_proc_t *proc = ompi_comm_peer_lookup(tatp_communicator_of(group), rank);
    return compat_modex_string(proc, COMPAT_PMIX_LOCALITY);
}

int tatp_inside_read(const coll_group *group, tatp_inside *inside, bool *given)
{
    size_t ranks = (size_t)group->locals;
    char **locality = calloc(ranks, sizeof *locality);
    if (NULL == locality)
        return -ENOMEM;
    *given = ranks < 2;
    for (size_t i = 0; i < ranks; i++) {
        locality[i] = locality_of(group, group->local[i]);
        *given = *given || NULL != locality[i];
    }
    int rc = make_inside(locality, ranks, inside);
    free_localities(locality, ranks);
    return rc;
}

/* ---- from hwloc ---- */

/* Where there are more processors than the set has room for, hwloc finds out. */
bool tatp_may_be_bound(void)
{
    cpu_set_t usable;
    return 0 != sched_getaffinity(0, sizeof usable, &usable) ||
           CPU_COUNT(&usable) < sysconf(_SC_NPROCESSORS_ONLN);
}

/* NULL: no memory, or nothing is known. The caller frees it. */
static int make_own_locality(char **own)
{
    topo_machine *machine = find_machine();
    *own = NULL;
    return NULL == machine ? OMPI_SUCCESS : topo_machine_own_locality(machine, own);
}

static size_t index_on_node(const void *group, int rank)
{
    return (size_t)coll_local_index(group, rank);
}

/* On the leader: takes its own string over. rc: as tatp_receive_texts. */
static int ask_peers(coll_group *group, char *own, tatp_inside *inside, int rc)
{
    size_t ranks = (size_t)group->locals;
    tatp_texts all = {calloc(ranks, sizeof *all.text), index_on_node, group};
    rc = tatp_receive_texts(group, ranks - 1, &all, rc);
    if (NULL == all.text) {
        free(own);
        return OMPI_SUCCESS != rc ? rc : -ENOMEM;
    }
    all.text[0] = own;
    if (OMPI_SUCCESS == rc)
        rc = make_inside(all.text, ranks, inside);
    free_localities(all.text, ranks);
    return rc;
}

int tatp_inside_ask(coll_group *group, bool given, tatp_inside *inside)
{
    tatp_inside asked = {NULL, NULL};
    char *own;
    int rc = make_own_locality(&own);
    if (coll_is_leader(group)) {
        rc = ask_peers(group, own, &asked, rc);
    } else {
        int sent = tatp_send_text(group, own, group->local[0]);
        rc = OMPI_SUCCESS != rc ? rc : sent;
        free(own);
    }
    rc = coll_agree_error(group, rc);
    if (OMPI_SUCCESS == rc && !given && coll_is_leader(group)) {
        tatp_inside_release(inside);
        *inside = asked;
    } else {
        tatp_inside_release(&asked);
    }
    return rc;
}

void tatp_inside_report(const coll_group *group, bool given, bool asked)
{
    const char *source = "all equal, because ranks are not bound";
    if (group->locals < 2)
        return;
    if (given)
        source = "from the launcher";
    else if (asked)
        source = "from hwloc";
    opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                        "fcoll:tatp: distances between the ranks of a node: %s", source);
}
