/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job's map: its nodes, and the ranks of each.
 */
#include "rmaps_dla_map.h"

#include <stdlib.h>

#include "opal/class/opal_pointer_array.h"
#include "opal/mca/hwloc/base/base.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/rmaps_private.h"
#include "orte/util/attr.h"

#include "rmaps_dla_bind.h"

/* In the order of the layout, as the stock mappers do. */
static int add_mapped_nodes(const dla_layout *l, orte_job_t *jdata)
{
    bool *used = calloc(l->job.nodes + 1, sizeof(*used));

    if (NULL == used)
        return ORTE_ERR_OUT_OF_RESOURCE;
    for (size_t rank = 0; rank < l->job.ranks; rank++)
        used[l->node_of_rank[rank]] = true;
    for (size_t n = 0; n < l->job.nodes; n++) {
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

    for (size_t a = 0; a < l->job.apps; a++) {
        orte_app_context_t *context = l->context[a];

        context->first_rank = (orte_vpid_t)rank;
        for (size_t end = rank + l->job.app[a].ranks; ORTE_SUCCESS == rc && rank < end; rank++)
            rc = add_mapped_rank(jdata, l->node[l->node_of_rank[rank]], context, rank);
    }
    return rc;
}

int dla_map(const dla_layout *l, orte_job_t *jdata)
{
    int rc;

    jdata->num_procs = 0;
    rc = add_mapped_nodes(l, jdata);
    if (ORTE_SUCCESS == rc)
        rc = add_mapped_ranks(l, jdata);
    if (ORTE_SUCCESS == rc) {
        /* otherwise the daemons renumber the ranks by the number on each node */
        orte_set_attribute(&jdata->attributes, ORTE_JOB_FULLY_DESCRIBED, ORTE_ATTR_GLOBAL, NULL,
                           OPAL_BOOL);
        rc = dla_bind(jdata);
    }
    return rc;
}
