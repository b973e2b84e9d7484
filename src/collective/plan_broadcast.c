/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 broadcasts of a plan: the units of fitted domains, or the aggregators.
 *
 * All broadcasts begin with a head. The aggregator of each domain follows, and the number of ranks
 * that access each; or, with a unit, units of fitted domains, as many as there is room for. The
 * heads of further broadcasts of units are not read. */
#include "collective/plan_internal.h"

#include <stdlib.h>

#include "base/memory.h"

/* With room for this number of elements the units of most programs need no further broadcast. */
enum { LEAST_ROOM = 1024 };

static size_t broadcast_room(size_t domains)
{
    size_t elements = PLAN_ELEMENTS + 2 * domains;
    return elements > LEAST_ROOM ? elements : LEAST_ROOM;
}

/* For 2,046 domains. */
enum { USUAL_ROOM = 4 * LEAST_ROOM };

int coll_broadcast_init(coll_broadcast *broadcast)
{
    broadcast->agreed = USUAL_ROOM;
    return base_reserve(&broadcast->element, &broadcast->room, USUAL_ROOM,
                        sizeof *broadcast->element);
}

int coll_make_room(const coll_planning *planning, int rc)
{
    coll_broadcast *b = planning->in->broadcast;
    size_t room = broadcast_room(planning->planner.domains);
    if (room <= b->agreed)
        return rc;
    int failed = base_reserve(&b->element, &b->room, room, sizeof *b->element);
    rc = coll_agree_error(planning->in->group, rc != 0 ? rc : failed);
    if (rc == 0)
        b->agreed = room;
    return rc;
}

bool coll_has_room(const coll_planning *planning)
{
    return broadcast_room(planning->planner.domains) <= planning->in->broadcast->agreed;
}

static void put_head(const coll_planning *planning, int rc, int64_t unit)
{
    const coll_runtime *runtime = planning->in->group->runtime;
    int64_t *head = planning->in->broadcast->element;
    head[PLAN_ERROR] = runtime->error_class(rc);
    head[PLAN_ID] = ++runtime->process->plans;
    head[PLAN_UNIT] = unit;
}

int coll_put_units(const coll_planning *planning, const pieces *units)
{
    int64_t *element = planning->in->broadcast->element;
    size_t at = 0;
    int rc = 0;
    put_head(planning, 0, units->unit);
    while (at < units->count && rc == 0) {
        int count = PLAN_ELEMENTS + (int)pieces_put_pairs(units, &at, element + PLAN_ELEMENTS,
                                                          LEAST_ROOM - PLAN_ELEMENTS);
        rc = coll_bcast(planning->in->group, element, &count);
    }
    return rc;
}

int coll_put_aggregators(const coll_planning *planning, const plan_draft *draft, int rc)
{
    size_t domains = planning->planner.domains;
    int64_t *aggregator = planning->in->broadcast->element + PLAN_ELEMENTS;
    int64_t *contributors = aggregator + domains;
    int count = PLAN_ELEMENTS + 2 * (int)domains;
    put_head(planning, rc, 0);
    for (size_t j = 0; j < domains && rc == 0; j++) {
        aggregator[j] = (int64_t)draft->rank_of_domain[j];
        contributors[j] = matrix_get(&draft->c.accessing, 0, j);
    }
    return coll_bcast(planning->in->group, planning->in->broadcast->element, &count);
}

bool coll_has_units(const coll_planning *planning)
{
    const int64_t *head = planning->in->broadcast->element;
    return head[PLAN_ERROR] == 0 && head[PLAN_UNIT] > 0;
}

/* From a broadcast of `count` elements. */
static void take_pairs(const coll_planning *planning, int count, pieces *units, size_t *at)
{
    pieces_take_pairs(units, at, planning->in->broadcast->element + PLAN_ELEMENTS,
                      (size_t)(count - PLAN_ELEMENTS));
}

int coll_take_broadcast(const coll_planning *planning, pieces *units)
{
    coll_group *group = planning->in->group;
    int count = (int)broadcast_room(planning->planner.domains);
    size_t at = 0;
    int rc = coll_bcast(group, planning->in->broadcast->element, &count);
    if (rc != 0 || !coll_has_units(planning))
        return rc;
    *units = planning->planner.units;
    units->domain = calloc(units->count, sizeof *units->domain);
    take_pairs(planning, count, units, &at);
    while (at < units->count && rc == 0) {
        count = LEAST_ROOM;
        rc = coll_bcast(group, planning->in->broadcast->element, &count);
        if (rc == 0)
            take_pairs(planning, count, units, &at);
    }
    return rc;
}
