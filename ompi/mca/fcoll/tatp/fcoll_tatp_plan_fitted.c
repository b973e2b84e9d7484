/* SPDX-License-Identifier: BSD-3-Clause */
/* The units of fitted file domains (src/plan/fitted.h): each rank counts its bytes in each unit,
 * the leader of a node adds up those of its node, and rank 0 assigns units to aggregators. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

#include <stdlib.h>

/* ---- the bytes of each node on rank 0 ---- */

typedef struct unit_sums {
    size_t units;
    int64_t *bytes;             /* at the leader of a node: of the node in each unit */
    pieces_bytes *all;          /* on rank 0 */
    const size_t *node_of_rank; /* on rank 0 */
} unit_sums;

static int add_rank_units(void *sum, const tatp_message *message)
{
    unit_sums *sums = sum;
    if (NULL == sums->bytes)
        sums->bytes = calloc(sums->units, sizeof *sums->bytes);
    if (NULL == sums->bytes)
        return OMPI_ERR_OUT_OF_RESOURCE;
    return tatp_from_errno(units_add((const unit_step *)message->element,
                                     message->count / UNIT_STEP_ELEMENTS, sums->bytes,
                                     sums->units));
}

static int sum_node_units(void *sum, tatp_message *message)
{
    const unit_sums *sums = sum;
    unit_counts counts = {0};
    int rc = NULL != sums->bytes ? units_from_array(sums->bytes, sums->units, &counts) : 0;
    message->element = (int64_t *)counts.step;
    message->count = counts.count * UNIT_STEP_ELEMENTS;
    return tatp_from_errno(rc);
}

static int add_node_units(void *sum, const tatp_message *message)
{
    const unit_sums *sums = sum;
    return tatp_from_errno(pieces_add_bytes(sums->all, sums->node_of_rank[message->from],
                                            (const unit_step *)message->element,
                                            message->count / UNIT_STEP_ELEMENTS));
}

/* Returns an error of this rank, or on rank 0 of any. Collective. */
static int gather_units(const tatp_planning *planning, pieces_bytes *all)
{
    static const tatp_node_gather gather = {
        .to_leader = TATP_TAG_UNITS,
        .to_root = TATP_TAG_NODE_UNITS,
        .add_rank = add_rank_units,
        .node_sum = sum_node_units,
        .add_node = add_node_units,
    };
    const tatp_plan_input *in = planning->in;
    const pieces *units = &planning->smallest;
    const tatp_node_map *map = tatp_nodes_map(in->nodes);
    unit_sums sums = {
        .units = units->count, .all = all, .node_of_rank = NULL != map ? map->node_of_rank : NULL};
    unit_counts counts = {0};
    int rc = tatp_from_errno(pieces_count(units, in->accesses, &counts));
    tatp_message own = {tatp_comm_rank(in->comm), (int64_t *)counts.step,
                        counts.count * UNIT_STEP_ELEMENTS};
    rc = tatp_gather_by_node(in->comm, &gather, &sums, &own, rc);
    free(counts.step);
    free(sums.bytes);
    return rc;
}

/* ---- the decision ---- */

/* On rank 0. */
static int fit_on_root(const tatp_planning *planning, const tatp_draft *even, pieces_bytes *all,
                       pieces *units)
{
    const tatp_node_map *map = tatp_nodes_map(planning->in->nodes);
    const pieces *smallest = &planning->smallest;
    size_t count = planning->domains;
    size_t *node_of_aggregator = calloc(count, sizeof *node_of_aggregator);
    matrix bytes = {0};
    if (NULL == node_of_aggregator)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t j = 0; j < count; j++)
        node_of_aggregator[j] = map->node_of_rank[even->aggregator[j]];
    const pieces_fit_input in = {&planning->division, &map->topology, node_of_aggregator, count,
                                 even->costs.hop_bytes};
    int rc = matrix_from_entries(&bytes, smallest->count, map->nodes, all->entry, all->count);
    if (0 == rc)
        rc = pieces_fit(smallest, &bytes, &in, units);
    matrix_release(&bytes);
    free(node_of_aggregator);
    return tatp_from_errno(rc);
}

/* ---- the broadcast ---- */

/* In pieces of one size, so that a rank without memory for the units can receive them. Collective.
 */
static int broadcast_pieces(const tatp_planning *planning, pieces *units)
{
    int64_t *element = planning->broadcast;
    int count = TATP_PLAN_PIECE;
    int rc = OMPI_SUCCESS;
    for (size_t at = 0; at < units->count && OMPI_SUCCESS == rc;) {
        size_t next = at;
        if (tatp_comm_rank(planning->in->comm) == 0)
            pieces_put_pairs(units, &next, element, TATP_PLAN_PIECE);
        rc = tatp_bcast(planning->in->comm, element, &count);
        if (OMPI_SUCCESS == rc)
            pieces_take_pairs(units, &at, element, TATP_PLAN_PIECE);
    }
    return rc;
}

static int broadcast_units(const tatp_planning *planning, int rc, pieces *units, int *local)
{
    enum { UNITS_ERROR, UNITS_UNIT, UNITS_ELEMENTS };
    int64_t element[UNITS_ELEMENTS] = {tatp_error_class(rc), units->unit};
    int count = UNITS_ELEMENTS;
    rc = tatp_bcast(planning->in->comm, element, &count);
    if (OMPI_SUCCESS == rc)
        rc = (int)element[UNITS_ERROR];
    if (OMPI_SUCCESS != rc || element[UNITS_UNIT] == 0)
        return rc;
    if (tatp_comm_rank(planning->in->comm) != 0) {
        *units = pieces_with_unit(&planning->smallest, element[UNITS_UNIT]);
        units->domain = calloc(units->count, sizeof *units->domain);
        if (NULL == units->domain)
            *local = OMPI_ERR_OUT_OF_RESOURCE;
    }
    return broadcast_pieces(planning, units);
}

int tatp_fit_units(const tatp_planning *planning, const tatp_draft *even, pieces *units, int *local)
{
    pieces_bytes all = {0};
    *units = (pieces){0};
    int rc = gather_units(planning, &all);
    if (OMPI_SUCCESS == rc && tatp_comm_rank(planning->in->comm) == 0 && !all.too_many)
        rc = fit_on_root(planning, even, &all, units);
    free(all.entry);
    return broadcast_units(planning, rc, units, local);
}
