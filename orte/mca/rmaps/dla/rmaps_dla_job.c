/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the mapper asks about jobs and nodes of ORTE.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdint.h>

#include "opal/mca/hwloc/base/base.h"
#include "orte/util/attr.h"

/* ---- jobs ---- */

bool dla_is_spawned(orte_job_t *jdata)
{
    return orte_get_attribute(&jdata->attributes, ORTE_JOB_LAUNCH_PROXY, NULL, OPAL_NAME);
}

/* ---- nodes ---- */

/* In a managed allocation without -np, the mapper sets the number of ranks. Like the stock mappers
 * it takes all slots, for one application context. */
int dla_target_nodes(opal_list_t *list, size_t *ranks, orte_job_t *jdata,
                     orte_app_context_t *context, bool no_local, bool first)
{
    orte_mapping_policy_t policy = jdata->map->mapping;
    orte_std_cntr_t slots;
    ORTE_SET_MAPPING_POLICY(policy, ORTE_MAPPING_BYSLOT);
    if (no_local)
        ORTE_SET_MAPPING_DIRECTIVE(policy, ORTE_MAPPING_NO_USE_LOCAL);
    int rc = orte_rmaps_base_get_target_nodes(list, &slots, context, policy, first, false);
    if (ORTE_SUCCESS == rc && 0 == context->num_procs && 1 < jdata->num_apps) {
        orte_show_help("help-orte-rmaps-rr.txt", "orte-rmaps-rr:multi-apps-and-zero-np", true,
                       jdata->num_apps, NULL);
        return ORTE_ERR_SILENT;
    }
    *ranks = (size_t)(0 != context->num_procs ? context->num_procs : 0 < slots ? slots : 1);
    return rc;
}

/* --npernode and similar options limit every node, as with the stock policy "slot". */
static size_t per_node_limit(const orte_node_t *node)
{
    if (orte_rmaps_base_pernode)
        return 1;
    if (0 < orte_rmaps_base_n_pernode)
        return (size_t)orte_rmaps_base_n_pernode;
    if (0 < orte_rmaps_base_n_persocket && NULL != node->topology) {
        return (size_t)orte_rmaps_base_n_persocket *
               opal_hwloc_base_get_nbobjs_by_type(node->topology->topo, HWLOC_OBJ_PACKAGE, 0,
                                                  OPAL_HWLOC_AVAILABLE);
    }
    return SIZE_MAX;
}

static size_t free_slots(int slots, int in_use)
{
    return slots > in_use ? (size_t)(slots - in_use) : 0;
}

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* max_slots limits oversubscription. */
dla_node dla_node_capacity(const orte_node_t *node)
{
    size_t limit = per_node_limit(node);
    size_t most = 0 == node->slots_max ? SIZE_MAX : free_slots(node->slots_max, node->slots_inuse);
    limit = smaller_of(limit, most);
    return (dla_node){smaller_of(free_slots(node->slots, node->slots_inuse), limit), limit};
}
