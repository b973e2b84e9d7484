/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding of the ranks of each node to processors.
 */
#include "rmaps_dla_bind.h"

#include <stdlib.h>

#include "opal/class/opal_pointer_array.h"
#include "opal/mca/hwloc/base/base.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/rmaps_private.h"

static bool topologies_known(const orte_job_t *jdata)
{
    for (int i = 0; i < jdata->map->nodes->size; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(jdata->map->nodes, i);

        if (NULL != node && (NULL == node->topology || NULL == node->topology->topo))
            return false;
    }
    return true;
}

/* Nodes of one kind share one topology. Open MPI therefore resets the counts of bound ranks of all
 * objects before it binds the ranks of another node; but with hwloc 2 it misses the NUMA nodes. */
static void reset_numa_usage(const orte_node_t *node)
{
    hwloc_topology_t topo = node->topology->topo;
    hwloc_obj_t numa = NULL;

    while (NULL != (numa = hwloc_get_next_obj_by_type(topo, HWLOC_OBJ_NUMANODE, numa)))
        if (NULL != numa->userdata)
            ((opal_hwloc_obj_data_t *)numa->userdata)->num_bound = 0;
}

/* Binds the ranks of one node, as its daemon would. */
static int bind_node_ranks(orte_job_t *jdata, orte_node_t *node)
{
    opal_pointer_array_t *nodes = jdata->map->nodes;
    opal_pointer_array_t alone;
    bool no_vm = orte_no_vm;
    int rc;

    OBJ_CONSTRUCT(&alone, opal_pointer_array_t);
    opal_pointer_array_add(&alone, node);
    reset_numa_usage(node);
    jdata->map->nodes = &alone;
    orte_no_vm = true; /* lifts the restriction to mpirun's node */
    rc = orte_rmaps_base_compute_bindings(jdata);
    orte_no_vm = no_vm;
    jdata->map->nodes = nodes;
    OBJ_DESTRUCT(&alone);
    return rc;
}

/* Binds the ranks of all nodes except those marked in unbound[]. Where the default binding is
 * impossible on a node, Open MPI unbinds the whole job and clears the policy: this function marks
 * the node, restores the policy for the other nodes, and sets *lost. */
static int bind_nodes(orte_job_t *jdata, bool *unbound, bool *lost)
{
    const opal_binding_policy_t binding = jdata->map->binding;
    int rc = ORTE_SUCCESS;

    *lost = false;
    for (int i = 0; ORTE_SUCCESS == rc && i < jdata->map->nodes->size; i++) {
        orte_node_t *node = opal_pointer_array_get_item(jdata->map->nodes, i);

        if (NULL == node || unbound[i])
            continue;
        rc = bind_node_ranks(jdata, node);
        if (binding != jdata->map->binding) {
            jdata->map->binding = binding;
            unbound[i] = *lost = true;
        }
    }
    return rc;
}

/* The daemons of a fully described job compute no bindings, and mpirun computes those of its node
 * only. Here it computes all of them, and sends them with the job. As with the stock mappers,
 * oversubscribed nodes are bound only if the user requests a binding. */
int dla_bind(orte_job_t *jdata)
{
    bool *unbound;
    bool lost;
    int rc;

    if (!topologies_known(jdata) || (ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_OVERSUBSCRIBED) &&
                                     !OPAL_BINDING_POLICY_IS_SET(jdata->map->binding)))
        return ORTE_SUCCESS;
    unbound = calloc((size_t)jdata->map->nodes->size + 1, sizeof(*unbound));
    if (NULL == unbound)
        return ORTE_ERR_OUT_OF_RESOURCE;
    /* a cpu list is assigned by local rank */
    rc = orte_rmaps_base_compute_local_ranks(jdata);
    if (ORTE_SUCCESS == rc)
        rc = bind_nodes(jdata, unbound, &lost);
    if (ORTE_SUCCESS == rc && lost)
        rc = bind_nodes(jdata, unbound, &lost);
    free(unbound);
    /* keeps Open MPI from computing the bindings again */
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYUSER);
    return rc;
}
