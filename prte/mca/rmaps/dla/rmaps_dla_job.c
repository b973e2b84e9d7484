/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the mapper asks about jobs and nodes of PRRTE.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdint.h>

/* mpirun's own job has a launch proxy too, mpirun itself, and a job on a persistent virtual machine
 * has one that starts it, prun: a job without ranks of its own. */
bool dla_is_spawned(prte_job_t *jdata)
{
    pmix_proc_t *proxy = NULL;
    if (!prte_get_attribute(&jdata->attributes, PRTE_JOB_LAUNCH_PROXY, (void **)&proxy, PMIX_PROC))
        return false;
    const prte_job_t *parent = prte_get_job_data_object(proxy->nspace);
    bool spawned = !PMIX_CHECK_NSPACE(PRTE_PROC_MY_NAME->nspace, proxy->nspace) && NULL != parent &&
                   !PRTE_FLAG_TEST(parent, PRTE_JOB_FLAG_TOOL);
    PMIX_PROC_RELEASE(proxy);
    return spawned;
}

int dla_target_nodes(pmix_list_t *list, size_t *ranks, prte_job_t *jdata,
                     prte_app_context_t *context, bool no_local, bool first)
{
    prte_mapping_policy_t policy = jdata->map->mapping;
    int32_t slots;
    PRTE_SET_MAPPING_POLICY(policy, PRTE_MAPPING_BYSLOT);
    if (no_local)
        PRTE_SET_MAPPING_DIRECTIVE(policy, PRTE_MAPPING_NO_USE_LOCAL);
    int rc = prrte_get_target_nodes(list, &slots, jdata, context, policy, first);
    *ranks = (size_t)context->num_procs;
    return rc;
}

/* slots_available is set for nodes with free slots only; max_slots limits oversubscription. */
dla_node dla_node_capacity(const prte_node_t *node)
{
    bool is_free = node->slots > node->slots_inuse;
    size_t slots = is_free ? (size_t)node->slots_available : 0, most = SIZE_MAX;
    if (0 != node->slots_max) {
        most =
            node->slots_max > node->slots_inuse ? (size_t)(node->slots_max - node->slots_inuse) : 0;
    }
    return (dla_node){slots < most ? slots : most, most};
}
