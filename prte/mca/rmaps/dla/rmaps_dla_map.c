/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job's map: its nodes, and the ranks of each.
 */
#include "rmaps_dla_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rmaps_dla_arrange.h"
#include "rmaps_dla_help.h"

/* Ranks by node: those of node n are rank[first[n]] to rank[first[n + 1] - 1], ascending. */
typedef struct node_ranks {
    size_t *first, *rank;
} node_ranks;

static int sort_ranks_by_node(const dla_layout *l, struct base_arena *arena, node_ranks *by_node)
{
    size_t *end;

    by_node->first = base_arena_alloc(arena, l->job.nodes + 2, sizeof(*by_node->first));
    by_node->rank = base_arena_alloc(arena, l->job.ranks, sizeof(*by_node->rank));
    if (arena->failed)
        return PRTE_ERR_OUT_OF_RESOURCE;
    end = by_node->first + 1;
    for (size_t r = 0; r < l->job.ranks; r++)
        end[l->node_of_rank[r] + 1]++;
    for (size_t n = 0; n < l->job.nodes; n++)
        end[n + 1] += end[n];
    for (size_t r = 0; r < l->job.ranks; r++)
        by_node->rank[end[l->node_of_rank[r]]++] = r;
    return PRTE_SUCCESS;
}

static prte_app_idx_t app_of_rank(const dla_layout *l, size_t rank)
{
    size_t a = 0;

    for (size_t end = l->job.app[0].ranks; rank >= end; end += l->job.app[a].ranks)
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

/* PRRTE's own message does not say what to do. */
static int refuse_binding(const prte_node_t *node, int enough, const prte_rmaps_options_t *options)
{
    char reason[1024];

    (void)snprintf(reason, sizeof(reason),
                   "with PE=%u the processors of node %s suffice for %d of its %d ranks: limit "
                   "the ranks by slots, as in --host %s:SLOTS, or lower PE",
                   options->cpus_per_rank, node->name, enough, options->nprocs, node->name);
    dla_show_refusal(reason);
    return PRTE_ERR_SILENT;
}

/* The processors of the node, for PRRTE's binding. Where no binding is demanded, the ranks of a
 * node with fewer processors are not bound, as with the stock mappers. */
static int prepare_binding(prte_job_t *jdata, prte_node_t *node, size_t ranks, bool demanded,
                           prte_rmaps_options_t *options)
{
    int ncpus;

    hwloc_bitmap_free(options->job_cpuset);
    hwloc_bitmap_free(options->target);
    options->job_cpuset = options->target = NULL;
    prte_rmaps_base_get_cpuset(jdata, node, options);
    ncpus = prte_rmaps_base_get_ncpus(node, NULL, options) / options->cpus_per_rank;
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

/* An order of processors that the user gives is that of the ranks. */
static bool may_arrange(const dla_layout *l, const prte_rmaps_options_t *options)
{
    return 0 < l->view.rows && !options->ordered && PRTE_BIND_TO_NONE != options->bind;
}

static int map_node_ranks(dla_layout *l, prte_job_t *jdata, size_t n, const node_ranks *by_node,
                          prte_rmaps_options_t *options)
{
    const bool demanded = PRTE_BINDING_POLICY_IS_SET(jdata->map->binding);
    const prte_binding_policy_t binding = options->bind;
    size_t begin = by_node->first[n], end = by_node->first[n + 1];
    int rc = PRTE_SUCCESS;

    if (begin == end)
        return PRTE_SUCCESS;
    if (!options->donotlaunch)
        rc = prte_rmaps_base_check_support(jdata, l->node[n], options);
    if (PRTE_SUCCESS == rc)
        rc = prepare_binding(jdata, l->node[n], end - begin, demanded, options);
    if (PRTE_SUCCESS == rc)
        add_mapped_node(jdata, l->node[n], options);
    for (size_t k = begin; PRTE_SUCCESS == rc && k < end; k++)
        rc = add_mapped_rank(l, jdata, l->node[n], by_node->rank[k], options);
    if (PRTE_SUCCESS == rc && may_arrange(l, options))
        rc = dla_arrange_node(l, jdata, l->node[n], &by_node->rank[begin], end - begin);
    options->bind = binding;
    return rc;
}

int dla_map(dla_layout *l, prte_job_t *jdata, prte_rmaps_options_t *options)
{
    struct base_arena arena = {0};
    node_ranks by_node;
    int rc = sort_ranks_by_node(l, &arena, &by_node);

    jdata->num_procs = 0;
    for (size_t n = 0; PRTE_SUCCESS == rc && n < l->job.nodes; n++)
        rc = map_node_ranks(l, jdata, n, &by_node, options);
    base_arena_release(&arena);
    return PRTE_SUCCESS == rc ? prrte_rank_locally(jdata, options) : rc;
}
