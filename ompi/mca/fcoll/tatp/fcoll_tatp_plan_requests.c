/* SPDX-License-Identifier: BSD-3-Clause */
/* What a decision needs on rank 0, by way of the node leaders: C, without the row of each rank, and
 * the bytes of each node in each unit (src/plan/requests.h). */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

#include <stdlib.h>

#include "plan/requests.h"

static request_sums start_request_sums(const tatp_planning *planning)
{
    const tatp_plan_input *in = planning->in;
    const tatp_node_map *map = tatp_nodes_map(in->nodes);
    bool by_blocks = in->settings->strategy->by_blocks;
    int count;
    const int *local = tatp_comm_local_ranks(in->comm, &count);
    size_t locals = (size_t)count;
    const tatp_inside *inside = tatp_nodes_inside(in->nodes);
    size_t most = in->all_entries
                      ? locals
                      : plan_even_per_node(map->ranks_on_node, map->nodes, planning->domains);
    return (request_sums){
        .node = {.by_blocks = by_blocks,
                 .most = most,
                 .low = local[(most < locals ? most : locals) - 1],
                 .near = {local, locals, inside->steps, inside->nearness}},
        .all = rows_builder_new((size_t)tatp_comm_size(in->comm), map->nodes, planning->domains,
                                by_blocks),
        .node_of_rank = map->node_of_rank,
    };
}

/* With the even domains, where fitted ones may replace them. */
static bool counts_units(const tatp_planning *planning, const tatp_draft *draft)
{
    return planning->may_fit && 0 == draft->units.unit;
}

int tatp_gather_requests(const tatp_planning *planning, const tatp_draft *draft, int rc,
                         tatp_gathered *all)
{
    static const tatp_node_gather gather = {
        .to_leader = TATP_TAG_ROWS,
        .to_root = TATP_TAG_NODE_ROWS,
        .add_rank = requests_add_rank,
        .node_sum = requests_sum_node,
        .add_node = requests_add_node,
    };
    tatp_comm *comm = planning->in->comm;
    bool with_units = counts_units(planning, draft);
    request_sums sums = start_request_sums(planning);
    tatp_message own = {.from = tatp_comm_rank(comm)};
    *all = (tatp_gathered){0};
    sums.units = with_units ? planning->pieces.count : 0;
    sums.all_units = &all->units;
    if (OMPI_SUCCESS == rc)
        rc = tatp_from_errno(requests_describe(draft->share, draft->view.shares,
                                               with_units ? &planning->pieces : NULL,
                                               planning->in->accesses, &own.element, &own.count));
    rc = tatp_gather_by_node(comm, &gather, &sums, &own, rc);
    if (OMPI_SUCCESS == rc && own.from == 0)
        rc = tatp_from_errno(rows_builder_finish(&sums.all, &all->c));
    free(own.element);
    requests_release(&sums);
    return rc;
}

void tatp_gathered_release(tatp_gathered *all)
{
    rows_release(&all->c);
    free(all->units.entry);
}
