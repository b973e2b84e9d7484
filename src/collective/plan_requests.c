/* SPDX-License-Identifier: BSD-3-Clause */
/* What a decision needs on rank 0, by way of the node leaders: C, without the row of each rank, and
 * the bytes of each node in each unit (src/plan/requests.h). */
#include "collective/plan_internal.h"

#include <stdlib.h>

#include "plan/requests.h"

static request_sums start_request_sums(const coll_planning *planning)
{
    const coll_plan_input *in = planning->in;
    const planner *p = &planning->planner;
    const int *local = in->group->local;
    size_t locals = (size_t)in->group->locals;
    size_t most = in->wishes.all_entries || !coll_is_leader(in->group) ? locals : p->per_node;
    bool by_blocks = p->strategy->by_blocks;
    return (request_sums){
        .node = {.by_blocks = by_blocks,
                 .most = most,
                 .low = local[(most < locals ? most : locals) - 1],
                 .rank = local,
                 .ranks = locals,
                 .nearness = in->nodes->nearness},
        .all = rows_builder_new((size_t)in->group->size, p->nodes, p->domains, by_blocks),
        .node_of_rank = p->node_of_rank,
    };
}

int coll_gather_requests(const coll_planning *planning, const plan_draft *draft,
                         const domain_layout *layout, int rc, coll_gathered *all)
{
    static const coll_node_gather gather = {
        .to_leader = COLL_TAG_ROWS,
        .to_root = COLL_TAG_NODE_ROWS,
        .add_rank = requests_add_rank,
        .node_sum = requests_sum_node,
        .add_node = requests_add_node,
    };
    coll_group *group = planning->in->group;
    const planner *p = &planning->planner;
    const pieces *units = p->may_fit && draft->units.unit == 0 ? &p->units : NULL;
    request_sums sums = start_request_sums(planning);
    coll_message own = {.from = group->rank};
    *all = (coll_gathered){0};
    sums.units = units != NULL ? units->count : 0;
    sums.most_units = pieces_most_of_node(&p->units, p->nodes);
    sums.all_units = &all->units;
    if (rc == 0)
        rc = requests_describe(layout->share, layout->shares, units, planning->in->accesses,
                               &own.element, &own.count);
    rc = coll_gather_by_node(group, &gather, &sums, &own, rc);
    if (rc == 0 && own.from == 0)
        rc = rows_builder_finish(&sums.all, &all->c);
    free(own.element);
    requests_release(&sums);
    return rc;
}
