/* SPDX-License-Identifier: BSD-3-Clause */
/* The units of fitted file domains (src/plan/fitted.h): rank 0 assigns them to aggregators, and
 * broadcasts the domain of each. */
#include "collective/plan_internal.h"

#include <errno.h>
#include <stdlib.h>

int coll_fit_units(const coll_planning *planning, const int64_t *aggregator,
                   const coll_plan_costs *even, const pieces_bytes *all, pieces *units)
{
    const coll_node_map *map = coll_nodes_map(planning->in->nodes);
    const pieces *whole = &planning->pieces;
    size_t count = planning->domains;
    size_t *node_of_aggregator = calloc(count, sizeof *node_of_aggregator);
    matrix bytes = {0};
    if (node_of_aggregator == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < count; j++)
        node_of_aggregator[j] = map->node_of_rank[aggregator[j]];
    const pieces_fit_input in = {&planning->division, &map->topology, node_of_aggregator, count,
                                 even->hop_bytes};
    int rc = matrix_from_entries(&bytes, whole->count, map->nodes, all->entry, all->count);
    if (rc == 0)
        rc = pieces_fit(whole, &bytes, &in, units);
    matrix_release(&bytes);
    free(node_of_aggregator);
    return rc;
}

int coll_put_units(const coll_planning *planning, const pieces *units, size_t *at)
{
    return PLAN_ELEMENTS + (int)pieces_put_pairs(units, at, planning->in->broadcast + PLAN_ELEMENTS,
                                                 COLL_PLAN_PIECE - PLAN_ELEMENTS);
}

/* From a broadcast of `count` elements. */
static void take_pairs(const coll_planning *planning, int count, pieces *units, size_t *at)
{
    pieces_take_pairs(units, at, planning->in->broadcast + PLAN_ELEMENTS,
                      (size_t)(count - PLAN_ELEMENTS));
}

/* Further broadcasts also have a head, which is not read. */
int coll_take_units(const coll_planning *planning, int count, coll_fit *fit)
{
    bool is_root = planning->in->group->rank == 0;
    pieces *units = &fit->units;
    int rc = 0;
    size_t at = 0;
    if (!is_root) {
        *units = planning->pieces;
        units->domain = calloc(units->count, sizeof *units->domain);
        if (units->domain == NULL)
            fit->error = -ENOMEM;
    }
    take_pairs(planning, count, units, &at);
    while (at < units->count && rc == 0) {
        size_t next = at;
        count = is_root ? coll_put_units(planning, units, &next) : COLL_PLAN_PIECE;
        rc = coll_bcast(planning->in->group, planning->in->broadcast, &count);
        if (rc == 0)
            take_pairs(planning, count, units, &at);
    }
    return rc;
}
