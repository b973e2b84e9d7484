/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding: which processors the ranks of each node may use.
 */
#include "rmaps_dla_map.h"

#include <stdlib.h>

#include "opal/class/opal_pointer_array.h"
#include "opal/mca/hwloc/base/base.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/rmaps_private.h"

static bool topology_known(const orte_job_t *jdata)
{
    for (int i = 0; i < jdata->map->nodes->size; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(jdata->map->nodes, i);

        if (NULL != node && (NULL == node->topology || NULL == node->topology->topo))
            return false;
    }
    return true;
}

/* Open MPI forgets how many ranks are bound to each object before it binds those of another
 * node, for nodes of one kind share one topology; but since hwloc 2 it does not find the
 * NUMA nodes. */
static void clear_numa_usage(const orte_node_t *node)
{
    hwloc_topology_t topo = node->topology->topo;
    hwloc_obj_t numa = NULL;

    while (NULL != (numa = hwloc_get_next_obj_by_type(topo, HWLOC_OBJ_NUMANODE, numa)))
        if (NULL != numa->userdata)
            ((opal_hwloc_obj_data_t *)numa->userdata)->num_bound = 0;
}

/* As the daemon of that node would, for the ranks of that node alone. */
static int bind_node(orte_job_t *jdata, orte_node_t *node)
{
    opal_pointer_array_t *nodes = jdata->map->nodes;
    opal_pointer_array_t alone;
    bool no_vm = orte_no_vm;
    int rc;

    OBJ_CONSTRUCT(&alone, opal_pointer_array_t);
    opal_pointer_array_add(&alone, node);
    clear_numa_usage(node);
    jdata->map->nodes = &alone;
    orte_no_vm = true; /* lifts the restriction to mpirun's own node */
    rc = orte_rmaps_base_compute_bindings(jdata);
    orte_no_vm = no_vm;
    jdata->map->nodes = nodes;
    OBJ_DESTRUCT(&alone);
    return rc;
}

/* Binds the ranks of all nodes but those marked. A node that cannot carry a binding that
 * nobody asked for is marked; Open MPI then unbinds the whole job and drops the policy, which
 * is kept here for the other nodes. */
static int bind_nodes(orte_job_t *jdata, bool *unbound, bool *lost)
{
    const opal_binding_policy_t binding = jdata->map->binding;
    int rc = ORTE_SUCCESS;

    *lost = false;
    for (int i = 0; ORTE_SUCCESS == rc && i < jdata->map->nodes->size; i++) {
        orte_node_t *node = opal_pointer_array_get_item(jdata->map->nodes, i);

        if (NULL == node || unbound[i])
            continue;
        rc = bind_node(jdata, node);
        if (binding != jdata->map->binding) {
            jdata->map->binding = binding;
            unbound[i] = *lost = true;
        }
    }
    return rc;
}

/* The daemons of a fully described job compute no bindings, and mpirun computes those of its
 * own node only. Here it computes all of them, and they travel with the job. As with the
 * stock mappers, oversubscribed nodes are bound only when binding was asked for. */
int dla_bind(orte_job_t *jdata)
{
    bool *unbound;
    bool lost;
    int rc;

    if (!topology_known(jdata) || (ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_OVERSUBSCRIBED) &&
                                   !OPAL_BINDING_POLICY_IS_SET(jdata->map->binding)))
        return ORTE_SUCCESS;
    unbound = calloc((size_t)jdata->map->nodes->size + 1, sizeof(*unbound));
    if (NULL == unbound)
        return ORTE_ERR_OUT_OF_RESOURCE;
    /* a cpu list is dealt out by local rank */
    rc = orte_rmaps_base_compute_local_ranks(jdata);
    if (ORTE_SUCCESS == rc)
        rc = bind_nodes(jdata, unbound, &lost);
    if (ORTE_SUCCESS == rc && lost)
        rc = bind_nodes(jdata, unbound, &lost);
    free(unbound);
    /* bindings are given: nobody shall compute them again */
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYUSER);
    return rc;
}
