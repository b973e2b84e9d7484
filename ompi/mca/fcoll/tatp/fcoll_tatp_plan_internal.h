/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan is made of, for the files of this module. */
#ifndef MCA_FCOLL_TATP_PLAN_INTERNAL_H
#define MCA_FCOLL_TATP_PLAN_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"

#include "plan/division.h"
#include "plan/pieces.h"
#include "plan/rows.h"

/* A broadcast for domains that may be fitted has room for this number of elements: then the units
 * of most programs need no further one. */
#define TATP_PLAN_PIECE 1024

/* What a draft is made from; the same on all ranks but for the accesses. */
typedef struct tatp_planning {
    const tatp_plan_input *in;
    division_settings division;
    size_t domains;     /* their number */
    pieces pieces;      /* units of fitted domains */
    bool may_fit;       /* the even domains may be replaced by fitted ones */
    int64_t *broadcast; /* of the plan */
} tatp_planning;

/* What a broadcast begins with. The aggregator of each domain follows and the number of ranks that
 * access each; or, with a unit, the fitted domains, which replace the draft. */
enum { PLAN_ERROR, PLAN_ID, PLAN_UNIT, PLAN_ELEMENTS };

/* File domains and their assignment. Even domains are drafted first, fitted ones if these may pay;
 * the better draft becomes the plan. */
typedef struct tatp_draft {
    pieces units; /* of fitted domains; unit is 0: even or striped domains */
    division division;
    domain_share *share; /* this rank's */
    int *aggregator;     /* per domain */
    int64_t parts;       /* see division_cycles */
    tatp_plan_view view; /* without domains, whose address changes with that of the draft */
    /* On rank 0. */
    tatp_plan_costs costs;            /* without the matrices */
    matrix requests, savings, blocks; /* if they are kept */
} tatp_draft;

/* Fitted domains that are better than those of a draft. */
typedef struct tatp_fit {
    pieces units; /* unit is 0: none */
    int error;    /* of this rank alone, which the caller agrees on */
} tatp_fit;

struct tatp_plan {
    tatp_draft draft;
    matrix even_requests, even_savings; /* rank 0 */
};

struct tatp_plans {
    int64_t *broadcast; /* buffer, which holds any broadcast of the file's ranks */
    tatp_plan plan[TATP_PLANS];
};

/* ---- fcoll_tatp_plan_requests.c ---- */

/* What decides on rank 0; elsewhere empty. */
typedef struct tatp_gathered {
    rows c;             /* as far as a decision needs it */
    pieces_bytes units; /* of each node, in the units of domains that may be fitted */
} tatp_gathered;

/* rc: this rank's status so far; an error of any rank becomes an error of rank 0. Collective. */
int tatp_gather_requests(const tatp_planning *planning, const tatp_draft *draft, int rc,
                         tatp_gathered *all);
void tatp_gathered_release(tatp_gathered *all);

/* ---- fcoll_tatp_plan_fitted.c ---- */

/* On rank 0: the units of fitted domains, for aggregators on the nodes of `aggregator`, those of
 * the even domains; unit is 0 if they do not pay. */
int tatp_fit_units(const tatp_planning *planning, const int64_t *aggregator,
                   const tatp_plan_costs *even, const pieces_bytes *all, pieces *units);
/* Puts as many as there is room for behind the head of the broadcast, from unit *at on. Returns the
 * elements of both. */
int tatp_put_units(const tatp_planning *planning, const pieces *units, size_t *at);
/* Takes the units from a broadcast of `count` elements, and from those that follow where they need
 * more. Collective. */
int tatp_take_units(const tatp_planning *planning, int count, tatp_fit *fit);

#endif
