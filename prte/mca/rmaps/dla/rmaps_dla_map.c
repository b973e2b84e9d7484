/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job's map: its nodes, and the ranks of each.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdio.h>

#include "topo/machine.h"

static prte_app_idx_t app_of_rank(const dla_layout *l, size_t rank)
{
    size_t a = 0;
    for (size_t end = l->mapping.job.app[0].ranks; rank >= end; end += l->mapping.job.app[a].ranks)
        a++;
    return l->context[a]->idx;
}

static void add_mapped_node(prte_job_t *jdata, prte_node_t *node, prte_rmaps_options_t *options)
{
    if (PRTE_FLAG_TEST(node, PRTE_NODE_FLAG_MAPPED))
        return;
    PRTE_FLAG_SET(node, PRTE_NODE_FLAG_MAPPED);
    PMIX_RETAIN(node);
    pmix_pointer_array_add(jdata->map->nodes, node);
    ++jdata->map->num_nodes;
    options->nnodes++;
}

/* ---- processors ---- */

/* PRRTE's own message does not say what to do. */
static int refuse_binding(const prte_node_t *node, int enough, const prte_rmaps_options_t *options)
{
    char reason[1024];
    (void)snprintf(reason, sizeof(reason),
                   "with PE=%u the processors of node %s suffice for %d of its %d ranks: limit "
                   "the ranks by slots, as in --host %s:SLOTS, or lower PE",
                   options->cpus_per_rank, node->name, enough, options->nprocs, node->name);
    return dla_refuse(reason);
}

/* The processors of the node, for PRRTE's binding. Where no binding is demanded, the ranks of a
 * node with fewer processors are not bound, as with the stock mappers. */
static int prepare_binding(prte_job_t *jdata, prte_node_t *node, size_t ranks, bool demanded,
                           prte_rmaps_options_t *options)
{
    hwloc_bitmap_free(options->job_cpuset);
    hwloc_bitmap_free(options->target);
    options->job_cpuset = options->target = NULL;
    prte_rmaps_base_get_cpuset(jdata, node, options);
    int ncpus = prte_rmaps_base_get_ncpus(node, NULL, options) / options->cpus_per_rank;
    options->ncpus = (unsigned)ncpus;
    options->nprocs = (int)ranks;
    if (1 < options->cpus_per_rank && options->nprocs > ncpus && !options->overload &&
        PRTE_BIND_TO_NONE != options->bind)
        return refuse_binding(node, ncpus, options);
    if (!demanded && options->nprocs > ncpus)
        options->bind = PRTE_BIND_TO_NONE;
    options->target = hwloc_bitmap_dup(options->job_cpuset);
    if (PRTE_BIND_TO_NONE != options->bind)
        (void)hwloc_bitmap_and(options->target, options->target, node->available);
    return PRTE_SUCCESS;
}

static int add_mapped_rank(const dla_layout *l, prte_job_t *jdata, prte_node_t *node, size_t rank,
                           prte_rmaps_options_t *options)
{
    prte_app_idx_t idx = app_of_rank(l, rank);
    prte_proc_t *proc = prte_rmaps_base_setup_proc(jdata, idx, node, NULL, options);
    prte_app_context_t *context = pmix_pointer_array_get_item(jdata->apps, (int)idx);
    if (NULL == proc)
        return PRTE_ERR_OUT_OF_RESOURCE;
    proc->name.rank = (pmix_rank_t)rank;
    ++jdata->num_procs;
    /* which takes over the reference */
    if (PMIX_SUCCESS != pmix_pointer_array_set_item(jdata->procs, (int)rank, proc))
        return PRTE_ERR_OUT_OF_RESOURCE;
    /* flags the node and the job; a full node is none of its errors here */
    (void)prte_rmaps_base_check_oversubscribed(jdata, context, node, options);
    return PRTE_SUCCESS;
}

/* ---- the map ---- */

static int map_node_ranks(dla_layout *l, prte_job_t *jdata, size_t n, const size_t *rank,
                          size_t ranks, prte_rmaps_options_t *options)
{
    const bool demanded = PRTE_BINDING_POLICY_IS_SET(jdata->map->binding);
    const prte_binding_policy_t binding = options->bind;
    int rc = PRTE_SUCCESS;
    if (0 == ranks)
        return PRTE_SUCCESS;
    if (!options->donotlaunch)
        rc = prte_rmaps_base_check_support(jdata, l->node[n], options);
    if (PRTE_SUCCESS == rc)
        rc = prepare_binding(jdata, l->node[n], ranks, demanded, options);
    if (PRTE_SUCCESS == rc)
        add_mapped_node(jdata, l->node[n], options);
    for (size_t k = 0; PRTE_SUCCESS == rc && k < ranks; k++)
        rc = add_mapped_rank(l, jdata, l->node[n], rank[k], options);
    options->bind = binding;
    return rc;
}

int dla_fill_map(dla_layout *l, prte_job_t *jdata, prte_rmaps_options_t *options, bool no_local,
                 bool *ordered)
{
    const dla_mapping *m = &l->mapping;
    struct base_groups ranks;
    int rc = base_group_items(&l->arena, m->node_of_rank, m->job.ranks, m->job.nodes, &ranks);
    rc = 0 == rc ? PRTE_SUCCESS : PRTE_ERR_OUT_OF_RESOURCE;
    *ordered = options->ordered;
    PRTE_SET_MAPPING_POLICY(jdata->map->mapping, PRTE_MAPPING_BYSLOT);
    options->map = PRTE_MAPPING_BYSLOT;
    prrte_note_mapper(jdata, "dla");
    if (no_local)
        PRTE_SET_MAPPING_DIRECTIVE(jdata->map->mapping, PRTE_MAPPING_NO_USE_LOCAL);
    jdata->num_procs = 0;
    for (size_t n = 0; PRTE_SUCCESS == rc && n < m->job.nodes; n++)
        rc = map_node_ranks(l, jdata, n, ranks.item + ranks.start[n], base_group_size(&ranks, n),
                            options);
    return PRTE_SUCCESS == rc ? prrte_rank_locally(jdata, options) : rc;
}

/* Places of unknown locality are far from all others. */
char *dla_unbind(const prte_job_t *jdata, const prte_node_t *node, size_t rank,
                 dla_binding *binding)
{
    prte_proc_t *proc = pmix_pointer_array_get_item(jdata->procs, (int)rank);
    char *locality = NULL;
    binding->cpus = proc->cpuset;
    proc->cpuset = NULL;
    if (NULL != binding->cpus)
        (void)topo_machine_locality(node->topology->topo, binding->cpus, &locality);
    return locality;
}

void dla_bind(const prte_job_t *jdata, size_t rank, const dla_binding *binding)
{
    prte_proc_t *proc = pmix_pointer_array_get_item(jdata->procs, (int)rank);
    proc->cpuset = binding->cpus;
}
