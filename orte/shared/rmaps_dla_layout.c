/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes and application contexts of a job.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdint.h>
#include <string.h>

void dla_layout_release(dla_layout *l)
{
    for (size_t n = 0; n < l->mapping.job.nodes; n++)
        core_macro(RELEASE)(l->node[n]);
    matrix_release(&l->mapping.view);
    base_arena_release(&l->arena);
}

/* Acquires the reference to a node. Returns its index. */
static size_t add_layout_node(dla_layout *l, rte_node *node)
{
    size_t *index = &l->index[node->index];
    if (SIZE_MAX == *index) {
        *index = l->mapping.job.nodes++;
        l->node[*index] = node;
        l->mapping.node_name[*index] = node->name;
        l->mapping.job.node[*index] = dla_node_capacity(node);
    } else {
        core_macro(RELEASE)(node);
    }
    return *index;
}

static int gather_app_nodes(dla_layout *l, rte_job *jdata, rte_context *context, bool no_local,
                            dla_app *app)
{
    rte_list list;
    core_macro(CONSTRUCT)(&list, core(list_t));
    int rc =
        dla_target_nodes(&list, &app->ranks, jdata, context, no_local, 0 == l->mapping.job.nodes);
    if (RTE(SUCCESS) == rc) {
        app->node = base_arena_alloc(&l->arena, core(list_get_size)(&list), sizeof(*app->node));
        rc = l->arena.failed ? RTE(ERR_OUT_OF_RESOURCE) : RTE(SUCCESS);
    }
    while (RTE(SUCCESS) == rc && 0 < core(list_get_size)(&list))
        app->node[app->nodes++] = add_layout_node(l, (rte_node *)core(list_remove_first)(&list));
    core_list_destruct(&list);
    return rc;
}

static int gather_apps(dla_layout *l, rte_job *jdata, bool no_local)
{
    dla_mapping *m = &l->mapping;
    for (int i = 0; i < jdata->apps->size; i++) {
        rte_context *context = core(pointer_array_get_item)(jdata->apps, i);
        dla_app *app = &m->job.app[m->job.apps];
        if (NULL == context)
            continue;
        l->context[m->job.apps++] = context;
        int rc = gather_app_nodes(l, jdata, context, no_local, app);
        if (RTE(SUCCESS) != rc)
            return rc;
        m->job.ranks += app->ranks;
    }
    m->by_slot = base_arena_alloc(&l->arena, m->job.ranks, sizeof(*m->by_slot));
    m->node_of_rank = base_arena_alloc(&l->arena, m->job.ranks, sizeof(*m->node_of_rank));
    return l->arena.failed ? RTE(ERR_OUT_OF_RESOURCE) : RTE(SUCCESS);
}

int dla_layout_init(dla_layout *l, rte_job *jdata, rte_options *options, bool no_local)
{
    size_t apps = (size_t)jdata->apps->size, pool = (size_t)rte(node_pool)->size;
    dla_mapping *m = &l->mapping;
    int rc = RTE(ERR_OUT_OF_RESOURCE);
    (void)options;
    *l = (dla_layout){.mapping.job.oversubscribe = RTE_OVERSUBSCRIBES(jdata, options)};
    m->job.app = base_arena_alloc(&l->arena, apps, sizeof(*m->job.app));
    m->job.node = base_arena_alloc(&l->arena, pool, sizeof(*m->job.node));
    m->node_name = base_arena_alloc(&l->arena, pool, sizeof(*m->node_name));
    l->context = base_arena_alloc(&l->arena, apps, sizeof(*l->context));
    l->node = base_arena_alloc(&l->arena, pool, sizeof(*l->node));
    l->index = base_arena_alloc(&l->arena, pool, sizeof(*l->index));
    if (!l->arena.failed) {
        memset(l->index, 0xff, pool * sizeof(*l->index));
        rc = gather_apps(l, jdata, no_local);
    }
    if (RTE(SUCCESS) != rc)
        dla_layout_release(l);
    return rc;
}
