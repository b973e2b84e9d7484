/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan is made of, for the files of this module. */
#ifndef MCA_FCOLL_TATP_PLAN_INTERNAL_H
#define MCA_FCOLL_TATP_PLAN_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"

#include "plan/division.h"
#include "plan/pieces.h"
#include "plan/rows.h"

/* Elements of one piece of a long broadcast. */
#define TATP_PLAN_PIECE 1024

/* What a draft is made from; the same on all ranks but for the accesses. */
typedef struct tatp_planning {
    const tatp_plan_input *in;
    division_settings division;
    size_t domains;     /* their number */
    pieces smallest;    /* units of fitted domains */
    int64_t *broadcast; /* of the plan */
} tatp_planning;

/* File domains and their assignment. Even domains are drafted first, fitted ones if these may pay;
 * the better draft becomes the plan. */
typedef struct tatp_draft {
    pieces units; /* of fitted domains; unit is 0: even or striped domains */
    division division;
    domain_share *share; /* this rank's */
    int *aggregator;     /* per domain */
    int64_t parts;       /* see division_cycles */
    bool may_fit;        /* fitted domains may have fewer hop-bytes */
    tatp_plan_view view; /* without domains, whose address changes with that of the draft */
    /* On rank 0. */
    tatp_plan_costs costs;   /* without the matrices */
    matrix requests, blocks; /* if they are kept */
} tatp_draft;

struct tatp_plan {
    tatp_draft draft;
    matrix even_requests; /* rank 0 */
};

struct tatp_plans {
    int64_t *broadcast; /* buffer, which holds any broadcast of `ranks` ranks */
    int ranks;
    tatp_plan plan[TATP_PLANS];
};

/* ---- fcoll_tatp_plan_requests.c ---- */

/* C on rank 0, as far as a decision needs it; elsewhere empty. rc: this rank's status so far; an
 * error of any rank becomes an error of rank 0. Collective. */
int tatp_gather_requests(const tatp_planning *planning, const tatp_draft *draft, int rc, rows *c);

/* ---- fcoll_tatp_plan_fitted.c ---- */

/* The units of fitted domains, for aggregators on the nodes of those of the even draft; unit is 0
 * if they do not pay. Returns an error on all ranks alike. *local is an error of this rank alone,
 * which the caller agrees on. Collective. */
int tatp_fit_units(const tatp_planning *planning, const tatp_draft *even, pieces *units,
                   int *local);

#endif
