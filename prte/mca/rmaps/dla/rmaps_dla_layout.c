/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes and application contexts of a job.
 */
#include "rmaps_dla_layout.h"

#include <stdint.h>
#include <string.h>

void dla_layout_release(dla_layout *l)
{
    for (size_t n = 0; n < l->job.nodes; n++)
        PMIX_RELEASE(l->node[n]);
    matrix_release(&l->view);
    base_arena_release(&l->arena);
}

/* slots_available is set for nodes with free slots only; max_slots limits oversubscription. */
static dla_node node_capacity(const prte_node_t *node)
{
    bool is_free = node->slots > node->slots_inuse;
    size_t slots = is_free ? (size_t)node->slots_available : 0, most = SIZE_MAX;

    if (0 != node->slots_max) {
        most =
            node->slots_max > node->slots_inuse ? (size_t)(node->slots_max - node->slots_inuse) : 0;
    }
    return (dla_node){slots < most ? slots : most, most};
}

/* Acquires the reference to a node. Returns its index. */
static size_t add_layout_node(dla_layout *l, prte_node_t *node)
{
    size_t *index = &l->index[node->index];

    if (SIZE_MAX == *index) {
        *index = l->job.nodes;
        l->node[l->job.nodes] = node;
        l->node_name[l->job.nodes] = node->name;
        l->job.node[l->job.nodes] = node_capacity(node);
        l->job.nodes++;
    } else {
        PMIX_RELEASE(node);
    }
    return *index;
}

/* The nodes that the hosts and hostfiles of an application context allow. */
static int gather_app_nodes(dla_layout *l, prte_job_t *jdata, prte_app_context_t *context,
                            dla_app *app)
{
    pmix_list_t list;
    int32_t slots;
    int rc;

    PMIX_CONSTRUCT(&list, pmix_list_t);
    rc = prrte_get_target_nodes(&list, &slots, jdata, context, 0 == l->job.nodes);
    if (PRTE_SUCCESS == rc) {
        app->node = base_arena_alloc(&l->arena, pmix_list_get_size(&list), sizeof(*app->node));
        rc = l->arena.failed ? PRTE_ERR_OUT_OF_RESOURCE : PRTE_SUCCESS;
    }
    while (PRTE_SUCCESS == rc && !pmix_list_is_empty(&list))
        app->node[app->nodes++] = add_layout_node(l, (prte_node_t *)pmix_list_remove_first(&list));
    PMIX_LIST_DESTRUCT(&list);
    return rc;
}

static int gather_apps(dla_layout *l, prte_job_t *jdata)
{
    for (int i = 0; i < jdata->apps->size; i++) {
        prte_app_context_t *context = pmix_pointer_array_get_item(jdata->apps, i);
        dla_app *app = &l->job.app[l->job.apps];
        int rc;

        if (NULL == context)
            continue;
        l->context[l->job.apps++] = context;
        rc = gather_app_nodes(l, jdata, context, app);
        if (PRTE_SUCCESS != rc)
            return rc;
        app->ranks = (size_t)context->num_procs;
        l->job.ranks += app->ranks;
    }
    l->by_slot = base_arena_alloc(&l->arena, l->job.ranks, sizeof(*l->by_slot));
    l->node_of_rank = base_arena_alloc(&l->arena, l->job.ranks, sizeof(*l->node_of_rank));
    return l->arena.failed ? PRTE_ERR_OUT_OF_RESOURCE : PRTE_SUCCESS;
}

int dla_layout_init(dla_layout *l, prte_job_t *jdata, const prte_rmaps_options_t *options)
{
    size_t apps = (size_t)jdata->apps->size, pool = (size_t)prte_node_pool->size;
    int rc = PRTE_ERR_OUT_OF_RESOURCE;

    *l = (dla_layout){.job.oversubscribe = options->oversubscribe};
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
    if (PRTE_SUCCESS != rc)
        dla_layout_release(l);
    return rc;
}
