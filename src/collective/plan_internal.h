/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan is made of, for the files of this module. */
#ifndef COLLECTIVE_PLAN_INTERNAL_H
#define COLLECTIVE_PLAN_INTERNAL_H

#include "collective/plan.h"

#include "plan/division.h"
#include "plan/pieces.h"
#include "plan/rows.h"

/* A broadcast for domains that may be fitted has room for this number of elements: then the units
 * of most programs need no further one. */
#define COLL_PLAN_PIECE 1024

/* What a draft is made from; the same on all ranks but for the accesses. */
typedef struct coll_planning {
    const coll_plan_input *in;
    division_settings division;
    size_t domains; /* their number */
    pieces pieces;  /* units of fitted domains */
    bool may_fit;   /* the even domains may be replaced by fitted ones */
} coll_planning;

/* What a broadcast begins with. The aggregator of each domain follows and the number of ranks that
 * access each; or, with a unit, the fitted domains, which replace the draft. */
enum { PLAN_ERROR, PLAN_ID, PLAN_UNIT, PLAN_ELEMENTS };

/* File domains and their assignment. Even domains are drafted first, fitted ones if these may pay;
 * the better draft becomes the plan. */
typedef struct coll_draft {
    pieces units; /* of fitted domains; unit is 0: even or striped domains */
    division division;
    int64_t parts;        /* see division_cycles */
    domain_layout layout; /* complete in a plan only */
    /* On rank 0. */
    coll_plan_costs costs;   /* without the matrices */
    matrix requests, blocks; /* if they are kept */
} coll_draft;

/* Fitted domains that are better than those of a draft. */
typedef struct coll_fit {
    pieces units; /* unit is 0: none */
    int error;    /* of this rank alone, which the caller agrees on */
} coll_fit;

struct coll_plan {
    coll_draft draft;
    matrix even_requests; /* rank 0 */
};

/* ---- plan_requests.c ---- */

/* What decides on rank 0; elsewhere empty. */
typedef struct coll_gathered {
    rows c;             /* as far as a decision needs it */
    pieces_bytes units; /* of each node, in the units of domains that may be fitted */
} coll_gathered;

/* rc: this rank's status so far; an error of any rank becomes an error of rank 0. Collective. */
int coll_gather_requests(const coll_planning *planning, const coll_draft *draft, int rc,
                         coll_gathered *all);
void coll_gathered_release(coll_gathered *all);

/* ---- plan_fitted.c ---- */

/* On rank 0: the units of fitted domains, for aggregators on the nodes of `aggregator`, those of
 * the even domains; unit is 0 if they do not pay. */
int coll_fit_units(const coll_planning *planning, const int64_t *aggregator,
                   const coll_plan_costs *even, const pieces_bytes *all, pieces *units);
/* Puts as many as there is room for behind the head of the broadcast, from unit *at on. Returns the
 * elements of both. */
int coll_put_units(const coll_planning *planning, const pieces *units, size_t *at);
/* Takes the units from a broadcast of `count` elements, and from those that follow where they need
 * more. Collective. */
int coll_take_units(const coll_planning *planning, int count, coll_fit *fit);

#endif
