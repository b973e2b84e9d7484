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

/* ---- plan_broadcast.c ---- */

/* Rank 0 calls either of these. rc: as the others get it. They set the layout as coll_take_... do.
 * Return an error of the broadcast. Collective, with the functions below. */
int coll_put_units(const coll_planning *planning, const pieces *units);
int coll_put_aggregators(const coll_planning *planning, const plan_draft *draft, int rc,
                         domain_layout *layout);

/* What comes next. */
typedef struct coll_plan_head {
    int error;    /* of rank 0: nothing */
    int64_t id;   /* of the plan */
    int64_t unit; /* of the units of fitted domains, or 0: the aggregators */
} coll_plan_head;

/* Other ranks call these. Returns an error of the broadcast. */
int coll_take_head(const coll_planning *planning, coll_plan_head *head);
/* A run of units behind `run`, which is zeroed initially; false: there is none, or an error, which
 * the next head has, too. */
bool coll_take_run(const coll_planning *planning, const pieces *units, pieces_run *run);
/* Sets the aggregators of the layout, and what this rank is in it. */
int coll_take_aggregators(const coll_planning *planning, const file_domains *domains,
                          domain_layout *layout);

#endif
