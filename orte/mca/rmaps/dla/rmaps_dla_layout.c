/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes and application contexts of a job.
 */
#include "rmaps_dla_layout.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "opal/class/opal_list.h"
#include "opal/class/opal_pointer_array.h"
#include "opal/mca/hwloc/base/base.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/base.h"
#include "orte/mca/rmaps/base/rmaps_private.h"
#include "orte/util/show_help.h"

void dla_layout_release(dla_layout *l)
{
    for (size_t n = 0; n < l->job.nodes; n++)
        OBJ_RELEASE(l->node[n]);
    matrix_release(&l->view);
    base_arena_release(&l->arena);
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
static dla_node node_capacity(const orte_node_t *node)
{
    size_t limit = per_node_limit(node);
    size_t most = 0 == node->slots_max ? SIZE_MAX : free_slots(node->slots_max, node->slots_inuse);

    limit = smaller_of(limit, most);
    return (dla_node){smaller_of(free_slots(node->slots, node->slots_inuse), limit), limit};
}

/* Acquires the reference to a node. Returns its index. */
static size_t add_layout_node(dla_layout *l, orte_node_t *node)
{
    size_t *index = &l->index[node->index];

    if (SIZE_MAX == *index) {
        *index = l->job.nodes;
        l->node[l->job.nodes] = node;
        l->node_name[l->job.nodes] = node->name;
        l->job.node[l->job.nodes] = node_capacity(node);
        l->job.nodes++;
    } else {
        OBJ_RELEASE(node);
    }
    return *index;
}

/* In a managed allocation without -np, the mapper sets the number of ranks. As with the stock
 * mappers: all slots, for one application context. */
static int set_default_ranks(const orte_job_t *jdata, orte_app_context_t *context,
                             orte_std_cntr_t slots)
{
    if (0 != context->num_procs)
        return ORTE_SUCCESS;
    if (1 < jdata->num_apps) {
        orte_show_help("help-orte-rmaps-rr.txt", "orte-rmaps-rr:multi-apps-and-zero-np", true,
                       jdata->num_apps, NULL);
        return ORTE_ERR_SILENT;
    }
    context->num_procs = 0 < slots ? slots : 1;
    return ORTE_SUCCESS;
}

/* The nodes that the hosts and hostfiles of an application context allow. */
static int gather_app_nodes(dla_layout *l, const orte_job_t *jdata, orte_app_context_t *context,
                            dla_app *app)
{
    orte_std_cntr_t slots;
    opal_list_t list;
    int rc;

    OBJ_CONSTRUCT(&list, opal_list_t);
    rc = orte_rmaps_base_get_target_nodes(&list, &slots, context, jdata->map->mapping,
                                          0 == l->job.nodes, false);
    if (ORTE_SUCCESS == rc)
        rc = set_default_ranks(jdata, context, slots);
    if (ORTE_SUCCESS == rc) {
        app->node = base_arena_alloc(&l->arena, opal_list_get_size(&list), sizeof(*app->node));
        rc = l->arena.failed ? ORTE_ERR_OUT_OF_RESOURCE : ORTE_SUCCESS;
    }
    while (ORTE_SUCCESS == rc && !opal_list_is_empty(&list))
        app->node[app->nodes++] = add_layout_node(l, (orte_node_t *)opal_list_remove_first(&list));
    OPAL_LIST_DESTRUCT(&list);
    return rc;
}

static int gather_apps(dla_layout *l, const orte_job_t *jdata)
{
    for (int i = 0; i < jdata->apps->size; i++) {
        orte_app_context_t *context = opal_pointer_array_get_item(jdata->apps, i);
        dla_app *app = &l->job.app[l->job.apps];
        int rc;

        if (NULL == context)
            continue;
        l->context[l->job.apps++] = context;
        rc = gather_app_nodes(l, jdata, context, app);
        if (ORTE_SUCCESS != rc)
            return rc;
        app->ranks = (size_t)context->num_procs;
        l->job.ranks += app->ranks;
    }
    l->by_slot = base_arena_alloc(&l->arena, l->job.ranks, sizeof(*l->by_slot));
    l->node_of_rank = base_arena_alloc(&l->arena, l->job.ranks, sizeof(*l->node_of_rank));
    return l->arena.failed ? ORTE_ERR_OUT_OF_RESOURCE : ORTE_SUCCESS;
}

int dla_layout_init(dla_layout *l, orte_job_t *jdata)
{
    size_t apps = (size_t)jdata->apps->size, pool = (size_t)orte_node_pool->size;
    int rc = ORTE_ERR_OUT_OF_RESOURCE;

    *l = (dla_layout){.job.oversubscribe = !(ORTE_MAPPING_NO_OVERSUBSCRIBE &
                                             ORTE_GET_MAPPING_DIRECTIVE(jdata->map->mapping))};
    l->job.app = base_arena_alloc(&l->arena, apps, sizeof(*l->job.app));
    l->job.node = base_arena_alloc(&l->arena, pool, sizeof(*l->job.node));
    l->context = base_arena_alloc(&l->arena, apps, sizeof(*l->context));
    l->node = base_arena_alloc(&l->arena, pool, sizeof(*l->node));
    l->node_name = base_arena_alloc(&l->arena, pool, sizeof(*l->node_name));
    l->index = base_arena_alloc(&l->arena, pool, sizeof(*l->index));
    if (!l->arena.failed) {
        memset(l->index, 0xff, pool * sizeof(*l->index));
        rc = gather_apps(l, jdata);
    }
    if (ORTE_SUCCESS != rc)
        dla_layout_release(l);
    return rc;
}
