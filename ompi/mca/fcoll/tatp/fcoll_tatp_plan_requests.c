/* SPDX-License-Identifier: BSD-3-Clause */
/* What a decision needs on rank 0, by way of the node leaders: C, without the row of each rank
 * (src/plan/rows.h); and where domains may be fitted the bytes of each node in each unit.
 *
 * Both are in one message: the number of elements of C, those, and the steps of units. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- a message ---- */

/* Parts of a message; either in it, or to be released. */
typedef struct request_parts {
    int64_t *row;
    size_t row_count;
    unit_counts units;
} request_parts;

static void release_parts(request_parts *parts)
{
    free(parts->row);
    free(parts->units.step);
}

static void copy_elements(int64_t *to, const void *from, size_t count)
{
    if (count > 0)
        memcpy(to, from, count * sizeof *to);
}

/* No elements if there is nothing to say. */
static int join_parts(const request_parts *parts, tatp_message *message)
{
    size_t steps = parts->units.count * UNIT_STEP_ELEMENTS;
    if (0 == parts->row_count + steps)
        return OMPI_SUCCESS;
    message->element = base_alloc(1 + parts->row_count + steps, sizeof *message->element);
    if (NULL == message->element)
        return OMPI_ERR_OUT_OF_RESOURCE;
    message->element[0] = (int64_t)parts->row_count;
    copy_elements(message->element + 1, parts->row, parts->row_count);
    copy_elements(message->element + 1 + parts->row_count, parts->units.step, steps);
    message->count = 1 + parts->row_count + steps;
    return OMPI_SUCCESS;
}

static request_parts view_parts(const tatp_message *message)
{
    int64_t *row = message->element + 1;
    size_t count = (size_t)message->element[0];
    return (request_parts){
        .row = row,
        .row_count = count,
        .units = {.step = (unit_step *)(row + count),
                  .count = (message->count - 1 - count) / UNIT_STEP_ELEMENTS},
    };
}

/* ---- sums ---- */

typedef struct request_sums {
    size_t units;            /* their number; 0: they are not counted */
    rows_node node;          /* at the leader of a node ... */
    int64_t *unit_bytes;     /* ... and its bytes in each unit */
    rows_builder all;        /* on rank 0 ... */
    pieces_bytes *all_units; /* ... and the bytes of all nodes */
    const size_t *node_of_rank;
} request_sums;

static int add_rank_units(request_sums *sums, const request_parts *from)
{
    if (NULL == sums->unit_bytes)
        sums->unit_bytes = calloc(sums->units, sizeof *sums->unit_bytes);
    if (NULL == sums->unit_bytes)
        return OMPI_ERR_OUT_OF_RESOURCE;
    return tatp_from_errno(
        units_add(from->units.step, from->units.count, sums->unit_bytes, sums->units));
}

static int add_rank_requests(void *sum, const tatp_message *message)
{
    request_sums *sums = sum;
    if (0 == message->count)
        return OMPI_SUCCESS;
    const request_parts from = view_parts(message);
    int rc = tatp_from_errno(rows_node_add(&sums->node, message->from, from.row, from.row_count));
    return OMPI_SUCCESS == rc && from.units.count > 0 ? add_rank_units(sums, &from) : rc;
}

static int sum_node_requests(void *sum, tatp_message *message)
{
    request_sums *sums = sum;
    request_parts parts = {0};
    int rc = rows_node_sum(&sums->node, &parts.row, &parts.row_count);
    if (0 == rc && NULL != sums->unit_bytes)
        rc = units_from_array(sums->unit_bytes, sums->units, &parts.units);
    rc = tatp_from_errno(rc);
    if (OMPI_SUCCESS == rc)
        rc = join_parts(&parts, message);
    release_parts(&parts);
    return rc;
}

static int add_node_requests(void *sum, const tatp_message *message)
{
    request_sums *sums = sum;
    const request_parts from = view_parts(message);
    size_t node = sums->node_of_rank[message->from];
    int rc = rows_builder_add(&sums->all, node, from.row, from.row_count);
    if (0 == rc && from.units.count > 0)
        rc = pieces_add_bytes(sums->all_units, node, from.units.step, from.units.count);
    return tatp_from_errno(rc);
}

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
                 .near = {local, locals, inside->steps, inside->network}},
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

/* This rank's message. */
static int describe_requests(const tatp_planning *planning, const tatp_draft *draft,
                             tatp_message *own)
{
    request_parts parts = {0};
    int rc = rows_from_shares(draft->share, draft->view.shares, &parts.row, &parts.row_count);
    if (0 == rc && counts_units(planning, draft))
        rc = pieces_count(&planning->pieces, planning->in->accesses, &parts.units);
    rc = tatp_from_errno(rc);
    if (OMPI_SUCCESS == rc)
        rc = join_parts(&parts, own);
    release_parts(&parts);
    return rc;
}

int tatp_gather_requests(const tatp_planning *planning, const tatp_draft *draft, int rc,
                         tatp_gathered *all)
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
    *all = (tatp_gathered){0};
    sums.units = counts_units(planning, draft) ? planning->pieces.count : 0;
    sums.all_units = &all->units;
    if (OMPI_SUCCESS == rc)
        rc = describe_requests(planning, draft, &own);
    rc = tatp_gather_by_node(comm, &gather, &sums, &own, rc);
    if (OMPI_SUCCESS == rc && own.from == 0)
        rc = tatp_from_errno(rows_builder_finish(&sums.all, &all->c));
    free(own.element);
    free(sums.unit_bytes);
    rows_node_release(&sums.node);
    rows_builder_release(&sums.all);
    return rc;
}

void tatp_gathered_release(tatp_gathered *all)
{
    rows_release(&all->c);
    free(all->units.entry);
}
