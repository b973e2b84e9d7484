/* SPDX-License-Identifier: BSD-3-Clause */
/* The units of fitted file domains (src/plan/fitted.h): rank 0 assigns them to aggregators, and
 * broadcasts the domain of each. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

#include <errno.h>
#include <stdlib.h>

int tatp_fit_units(const tatp_planning *planning, const int64_t *aggregator,
                   const tatp_plan_costs *even, const pieces_bytes *all, pieces *units)
{
    const tatp_node_map *map = tatp_nodes_map(planning->in->nodes);
    const pieces *whole = &planning->pieces;
    size_t count = planning->domains;
    size_t *node_of_aggregator = calloc(count, sizeof *node_of_aggregator);
    matrix bytes = {0};
    if (NULL == node_of_aggregator)
        return -ENOMEM;
    for (size_t j = 0; j < count; j++)
        node_of_aggregator[j] = map->node_of_rank[aggregator[j]];
    const pieces_fit_input in = {&planning->division, &map->topology, node_of_aggregator, count,
                                 even->apart_hop_bytes};
    int rc = matrix_from_entries(&bytes, whole->count, map->nodes, all->entry, all->count);
    if (0 == rc)
        rc = pieces_fit(whole, &bytes, &in, units);
    matrix_release(&bytes);
    free(node_of_aggregator);
    return rc;
}

int tatp_put_units(const tatp_planning *planning, const pieces *units, size_t *at)
{
    return PLAN_ELEMENTS + (int)pieces_put_pairs(units, at, planning->broadcast + PLAN_ELEMENTS,
                                                 TATP_PLAN_PIECE - PLAN_ELEMENTS);
}

/* From a broadcast of `count` elements. */
static void take_pairs(const tatp_planning *planning, int count, pieces *units, size_t *at)
{
    pieces_take_pairs(units, at, planning->broadcast + PLAN_ELEMENTS,
                      (size_t)(count - PLAN_ELEMENTS));
}

/* Further broadcasts also have a head, which is not read. */
int tatp_take_units(const tatp_planning *planning, int count, tatp_fit *fit)
{
    bool is_root = 0 == planning->in->group->rank;
    pieces *units = &fit->units;
    int rc = OMPI_SUCCESS;
    size_t at = 0;
    if (!is_root) {
        *units = planning->pieces;
        units->domain = calloc(units->count, sizeof *units->domain);
        if (NULL == units->domain)
            fit->error = -ENOMEM;
    }
    take_pairs(planning, count, units, &at);
    while (at < units->count && OMPI_SUCCESS == rc) {
        size_t next = at;
        count = is_root ? tatp_put_units(planning, units, &next) : TATP_PLAN_PIECE;
        rc = coll_bcast(planning->in->group, planning->broadcast, &count);
        if (OMPI_SUCCESS == rc)
            take_pairs(planning, count, units, &at);
    }
    return rc;
}
