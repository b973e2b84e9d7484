/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job's map: its nodes, the ranks of each, and their binding to processors.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdlib.h>

#include "opal/mca/hwloc/base/base.h"
#include "orte/util/attr.h"

/* ---- the map ---- */

/* Nodes are in the order of the layout, as with the stock mappers. */
static int add_mapped_nodes(const dla_layout *l, orte_job_t *jdata)
{
    bool *used = calloc(l->mapping.job.nodes + 1, sizeof(*used));
    if (NULL == used)
        return ORTE_ERR_OUT_OF_RESOURCE;
    for (size_t rank = 0; rank < l->mapping.job.ranks; rank++)
        used[l->mapping.node_of_rank[rank]] = true;
    for (size_t n = 0; n < l->mapping.job.nodes; n++) {
        if (used[n]) {
            ORTE_FLAG_SET(l->node[n], ORTE_NODE_FLAG_MAPPED);
            OBJ_RETAIN(l->node[n]);
            opal_pointer_array_add(jdata->map->nodes, l->node[n]);
            ++jdata->map->num_nodes;
        }
    }
    free(used);
    return ORTE_SUCCESS;
}

/* Without these flags, mpirun crashes at exit if a node has more ranks than slots. */
static void flag_oversubscribed(orte_job_t *jdata, orte_node_t *node)
{
    if (node->slots < (int)node->num_procs) {
        ORTE_FLAG_SET(node, ORTE_NODE_FLAG_OVERSUBSCRIBED);
        ORTE_FLAG_SET(jdata, ORTE_JOB_FLAG_OVERSUBSCRIBED);
    }
}

static int add_mapped_rank(orte_job_t *jdata, orte_node_t *node, orte_app_context_t *context,
                           size_t rank)
{
    orte_proc_t *proc = orte_rmaps_base_setup_proc(jdata, node, context->idx);
    if (NULL == proc)
        return ORTE_ERR_OUT_OF_RESOURCE;
    flag_oversubscribed(jdata, node);
    proc->name.vpid = (orte_vpid_t)rank;
    if (NULL != node->topology && NULL != node->topology->topo) {
        orte_set_attribute(&proc->attributes, ORTE_PROC_HWLOC_LOCALE, ORTE_ATTR_LOCAL,
                           hwloc_get_root_obj(node->topology->topo), OPAL_PTR);
    }
    ++jdata->num_procs;
    return opal_pointer_array_set_item(jdata->procs, (int)rank, proc);
}

static int add_mapped_ranks(const dla_layout *l, orte_job_t *jdata)
{
    size_t rank = 0;
    int rc = ORTE_SUCCESS;
    for (size_t a = 0; a < l->mapping.job.apps; a++) {
        orte_app_context_t *context = l->context[a];
        context->num_procs = (orte_std_cntr_t)l->mapping.job.app[a].ranks;
        context->first_rank = (orte_vpid_t)rank;
        for (size_t end = rank + l->mapping.job.app[a].ranks; ORTE_SUCCESS == rc && rank < end;
             rank++)
            rc = add_mapped_rank(jdata, l->node[l->mapping.node_of_rank[rank]], context, rank);
    }
    return rc;
}

/* ---- binding ---- */

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
    hwloc_topology_t machine = node->topology->topo;
    hwloc_obj_t numa = NULL;
    while (NULL != (numa = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, numa)))
        if (NULL != numa->userdata)
            ((opal_hwloc_obj_data_t *)numa->userdata)->num_bound = 0;
}

/* Binds the ranks of one node, as its daemon would. */
static int bind_node_ranks(orte_job_t *jdata, orte_node_t *node)
{
    opal_pointer_array_t *nodes = jdata->map->nodes;
    opal_pointer_array_t alone;
    bool no_vm = orte_no_vm;
    OBJ_CONSTRUCT(&alone, opal_pointer_array_t);
    opal_pointer_array_add(&alone, node);
    reset_numa_usage(node);
    jdata->map->nodes = &alone;
    orte_no_vm = true; /* lifts the restriction to mpirun's node */
    int rc = orte_rmaps_base_compute_bindings(jdata);
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
static int bind_ranks(orte_job_t *jdata)
{
    bool *unbound;
    bool lost;
    if (!topologies_known(jdata) || (ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_OVERSUBSCRIBED) &&
                                     !OPAL_BINDING_POLICY_IS_SET(jdata->map->binding)))
        return ORTE_SUCCESS;
    unbound = calloc((size_t)jdata->map->nodes->size + 1, sizeof(*unbound));
    if (NULL == unbound)
        return ORTE_ERR_OUT_OF_RESOURCE;
    /* a cpu list is assigned by local rank */
    int rc = orte_rmaps_base_compute_local_ranks(jdata);
    if (ORTE_SUCCESS == rc)
        rc = bind_nodes(jdata, unbound, &lost);
    if (ORTE_SUCCESS == rc && lost)
        rc = bind_nodes(jdata, unbound, &lost);
    free(unbound);
    /* keeps Open MPI from computing the bindings again */
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYUSER);
    return rc;
}

/* The effective policies of the job. Its ranks are numbered by this mapper: a ranking policy must
 * not renumber them. Binding is downwards from the node. */
static void set_policies(orte_job_t *jdata, bool no_local)
{
    free(jdata->map->last_mapper);
    jdata->map->last_mapper = strdup("dla");
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYSLOT);
    ORTE_SET_RANKING_POLICY(jdata->map->ranking, ORTE_RANK_BY_SLOT);
    if (no_local)
        ORTE_SET_MAPPING_DIRECTIVE(jdata->map->mapping, ORTE_MAPPING_NO_USE_LOCAL);
}

int dla_fill_map(dla_layout *l, orte_job_t *jdata, rte_options *options, bool no_local,
                 bool *ordered)
{
    (void)options;
    *ordered = OPAL_BIND_ORDERED_REQUESTED(jdata->map->binding);
    set_policies(jdata, no_local);
    jdata->num_procs = 0;
    int rc = add_mapped_nodes(l, jdata);
    if (ORTE_SUCCESS == rc)
        rc = add_mapped_ranks(l, jdata);
    if (ORTE_SUCCESS == rc) {
        /* otherwise the daemons renumber the ranks by the number on each node */
        orte_set_attribute(&jdata->attributes, ORTE_JOB_FULLY_DESCRIBED, ORTE_ATTR_GLOBAL, NULL,
                           OPAL_BOOL);
        rc = bind_ranks(jdata);
    }
    return rc;
}

char *dla_unbind(const orte_job_t *jdata, const orte_node_t *node, size_t rank,
                 dla_binding *binding)
{
    orte_proc_t *proc = opal_pointer_array_get_item(jdata->procs, (int)rank);
    (void)orte_get_attribute(&proc->attributes, ORTE_PROC_CPU_BITMAP, (void **)&binding->cpus,
                             OPAL_STRING);
    (void)orte_get_attribute(&proc->attributes, ORTE_PROC_HWLOC_BOUND, &binding->object, OPAL_PTR);
    return NULL == binding->cpus
               ? NULL
               : opal_hwloc_base_get_locality_string(node->topology->topo, binding->cpus);
}

void dla_bind(const orte_job_t *jdata, size_t rank, const dla_binding *binding)
{
    orte_proc_t *proc = opal_pointer_array_get_item(jdata->procs, (int)rank);
    if (NULL == binding->cpus)
        return;
    orte_set_attribute(&proc->attributes, ORTE_PROC_CPU_BITMAP, ORTE_ATTR_GLOBAL, binding->cpus,
                       OPAL_STRING);
    orte_set_attribute(&proc->attributes, ORTE_PROC_HWLOC_BOUND, ORTE_ATTR_LOCAL, binding->object,
                       OPAL_PTR);
    free(binding->cpus);
}
