/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan is made of, for the files of this module. */
#ifndef COLLECTIVE_PLAN_INTERNAL_H
#define COLLECTIVE_PLAN_INTERNAL_H

#include "collective/plan.h"

/* What a plan is made from; the same on all ranks but for the accesses. */
typedef struct coll_planning {
    const coll_plan_input *in;
    planner planner;
} coll_planning;

struct coll_plan {
    coll_decision decision;
    domain_layout layout;
};

/* ---- plan_requests.c ---- */

/* What decides on rank 0; elsewhere empty. */
typedef struct coll_gathered {
    rows_matrices c;    /* as far as a decision needs it */
    pieces_bytes units; /* of each node, with even domains that fitted ones may replace */
} coll_gathered;

/* Of the domains of a draft, of which this rank accesses the shares of the layout. rc: this rank's
 * status so far; an error of any rank becomes an error of rank 0. Collective. */
int coll_gather_requests(const coll_planning *planning, const plan_draft *draft,
                         const domain_layout *layout, int rc, coll_gathered *all);

/* ---- plan_broadcast.c ---- */

/* What a broadcast begins with. PLAN_UNIT is 0 where aggregators follow. */
enum { PLAN_ERROR, PLAN_ID, PLAN_UNIT, PLAN_ELEMENTS };

/* Only the first plan with so many domains needs more room than there is. rc: this rank's status so
 * far. Returns that or, where room is made, an error of any rank. Collective. */
int coll_make_room(const coll_planning *planning, int rc);
/* Whether all ranks have it. */
bool coll_has_room(const coll_planning *planning);

/* On rank 0: either of these, while the others call coll_take_broadcast. rc: as the others get it.
 * Return an error of the broadcast. Collective. */
int coll_put_units(const coll_planning *planning, const pieces *units);
int coll_put_aggregators(const coll_planning *planning, const plan_draft *draft, int rc);

/* On another rank. With units these are set, to be released; units->domain is NULL if there is no
 * memory. Returns an error of the broadcast. Collective. */
int coll_take_broadcast(const coll_planning *planning, pieces *units);
/* Whether the last broadcast was one of units. */
bool coll_has_units(const coll_planning *planning);

#endif
