/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan: the file domains of an accessed range, and the aggregator of each. Even or striped
 * domains are assigned first; fitted ones (fitted.h) replace them if these cost less. All that is
 * known of the accesses comes from a source: the ranks of a call, or a record of calls. Equal
 * answers give equal plans.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PLAN_PLANNER_H
#define PLAN_PLANNER_H

#include "plan/division.h"
#include "plan/pieces.h"
#include "plan/plan.h"
#include "plan/requests.h"

/* What is planned. The caller sets the first members, planner_start the others, which follow from
 * them; the same on all ranks that know the same. */
typedef struct planner {
    int64_t lo, hi;             /* accessed range, bytes [lo, hi), lo < hi */
    division_settings division; /* no more aggregators than ranks; capacity and nodes only where
                                   ranks_on_node is NULL */
    const plan_strategy *strategy;
    size_t nodes;
    const size_t *ranks_on_node; /* `nodes` entries; NULL if this rank does not know them */
    /* Only planner_make needs the rest. */
    const size_t *node_of_rank; /* of each rank, < nodes */
    const topo *topology;       /* of `nodes` nodes */

    size_t domains;  /* their number */
    size_t per_node; /* domains of a node at most; 0 if it is unknown */
    pieces units;    /* that fitted domains would be made of */
    bool may_fit;    /* fitted domains may replace the others */
} planner;

void planner_start(planner *p);

/* Domains of these units or, where units->unit is 0, even or striped ones. -ENOMEM. */
int planner_divide(const planner *p, const pieces *units, division *result);

/* Domains and their aggregators. Zeroed: none. */
typedef struct plan_draft {
    division_kind kind; /* even, striped or fitted; a rank that does not plan: striped is even */
    int64_t unit;       /* bytes of a unit of fitted domains, or of a stripe; 0: neither */
    pieces units;       /* of fitted domains; unit is 0: even or striped domains */
    division division;
    size_t *rank_of_domain;
    rows_matrices c; /* what the domains were assigned by */
    size_t per_node;
    const size_t *node_of_rank; /* as of the planner */
    const topo *topology;
    double hop_bytes;
    int64_t crossing_bytes; /* between nodes */
} plan_draft;

void plan_draft_release(plan_draft *draft);

/* The problem that was solved, which borrows from the draft. */
plan_input plan_draft_problem(const plan_draft *draft);

/* Hop-bytes, and bytes between nodes, of an assignment of its domains. Bytes that no node lists
 * (requests.h) count as those that cross or, where none does, cross by TOPO_OTHER_NODE hops.
 * -ERANGE: their sum. */
int plan_draft_assess(const plan_draft *draft, const size_t *rank_of_domain, double *hop_bytes,
                      int64_t *crossing_bytes);

/* What ranks access. Functions return 0 or an error, which ends the plan. */
typedef struct plan_source {
    /* C, for the division of a draft; requests, and with blocks those of nodes, may be incomplete
     * (plan.h). The planner releases it. */
    int (*sum_domains)(void *context, const plan_draft *draft, rows_matrices *c);
    /* Bytes of the nodes (columns) in each unit, once after the even domains if at all; without
     * rows: there are more than PIECES_MOST_ENTRIES, and domains stay even. */
    int (*sum_units)(void *context, const pieces *units, matrix *bytes);
    void *context;
} plan_source;

/* Part of the hop-bytes that fitted domains must save where they are not demanded: below it, larger
 * accesses to the file are worth more. */
#define PLANNER_LEAST_SAVING .05

/* even: the domains that fitted ones replace, or zeroed. Both are released by plan_draft_release.
 * Errors of the strategy and of the source. */
int planner_make(const planner *p, const plan_source *source, plan_draft *plan, plan_draft *even);

#endif
