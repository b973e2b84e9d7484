/* SPDX-License-Identifier: BSD-3-Clause */
/* C on rank 0: by way of the node leaders, without the row of each rank (src/plan/rows.h). */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

#include <stdlib.h>

typedef struct request_sums {
    rows_node node;             /* at the leader of a node */
    rows_builder all;           /* on rank 0 */
    const size_t *node_of_rank; /* on rank 0 */
} request_sums;

static int add_rank_requests(void *sum, const tatp_message *message)
{
    request_sums *sums = sum;
    return tatp_from_errno(
        rows_node_add(&sums->node, message->from, message->element, message->count));
}

static int sum_node_requests(void *sum, tatp_message *message)
{
    request_sums *sums = sum;
    return tatp_from_errno(rows_node_sum(&sums->node, &message->element, &message->count));
}

static int add_node_requests(void *sum, const tatp_message *message)
{
    request_sums *sums = sum;
    return tatp_from_errno(rows_builder_add(&sums->all, sums->node_of_rank[message->from],
                                            message->element, message->count));
}

/* The largest number of domains that a node owns, or more: only rank 0 knows per_node. */
static size_t most_on_node(const tatp_planning *planning, size_t locals)
{
    for (int k = 0; k < TATP_CAPACITIES; k++)
        if (tatp_nodes_capacity(planning->in->nodes, k) >= (int64_t)planning->domains)
            return (size_t)1 << k;
    return locals;
}

static request_sums start_request_sums(const tatp_planning *planning)
{
    const tatp_plan_input *in = planning->in;
    const tatp_node_map *map = tatp_nodes_map(in->nodes);
    bool by_blocks = in->settings->strategy->by_blocks;
    int count;
    const int *local = tatp_comm_local_ranks(in->comm, &count);
    size_t locals = (size_t)count;
    size_t most = in->all_entries ? locals : most_on_node(planning, locals);
    return (request_sums){
        .node = {.by_blocks = by_blocks,
                 .most = most,
                 .low = local[(most < locals ? most : locals) - 1]},
        .all = rows_builder_new((size_t)tatp_comm_size(in->comm), tatp_nodes_count(in->nodes),
                                planning->domains, by_blocks),
        .node_of_rank = NULL != map ? map->node_of_rank : NULL,
    };
}

int tatp_gather_requests(const tatp_planning *planning, const tatp_draft *draft, int rc, rows *c)
{
    static const tatp_node_gather gather = {
        .to_leader = TATP_TAG_ROWS,
        .to_root = TATP_TAG_NODE_ROWS,
        .add_rank = add_rank_requests,
        .node_sum = sum_node_requests,
        .add_node = add_node_requests,
    };
    tatp_comm *comm = planning->in->comm;
    request_sums sums = start_request_sums(planning);
    tatp_message own = {.from = tatp_comm_rank(comm)};
    *c = (rows){0};
    if (OMPI_SUCCESS == rc)
        rc = tatp_from_errno(
            rows_from_shares(draft->share, draft->view.shares, &own.element, &own.count));
    rc = tatp_gather_by_node(comm, &gather, &sums, &own, rc);
    if (OMPI_SUCCESS == rc && own.from == 0)
        rc = tatp_from_errno(rows_builder_finish(&sums.all, c));
    free(own.element);
    rows_node_release(&sums.node);
    rows_builder_release(&sums.all);
    return rc;
}
