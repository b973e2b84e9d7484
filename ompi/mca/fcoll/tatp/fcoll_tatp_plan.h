/* SPDX-License-Identifier: BSD-3-Clause */
/* File domains and their assignment to aggregators for one collective access. Rank 0 decides by
 * src/plan; all ranks learn the result.
 *
 * Functions return 0 or an error (fcoll_tatp_error.h). */
#ifndef MCA_FCOLL_TATP_PLAN_H
#define MCA_FCOLL_TATP_PLAN_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"

#include "access/access.h"
#include "access/domain.h"
#include "matrix/matrix.h"
#include "plan/aggregation.h"
#include "plan/division.h"
#include "plan/plan.h"

/* What a file was opened with, as far as plans depend on it; the same on all ranks. No padding: two
 * of them are compared by memcmp. */
typedef struct tatp_plan_settings {
    division_settings division; /* the number of aggregators is one that the storage targets allow;
                                   capacity is not set */
    division_cycles cycles;     /* parts and message are not set */
    const plan_strategy *strategy;
    int64_t write_aggregation, read_aggregation; /* an aggregation_choice */
} tatp_plan_settings;

/* One plan, or none. */
typedef struct tatp_plan tatp_plan;

/* The plans of a file, by slot. All ranks have the same plans in the same slots. */
#define TATP_PLANS 8
typedef struct tatp_plans tatp_plans;

tatp_plans *tatp_plans_new(void); /* NULL: no memory */
void tatp_plans_free(tatp_plans *plans);
/* Allocates what a rank needs to take part in any plan of `ranks` ranks, always as many. Local. */
int tatp_plans_prepare(tatp_plans *plans, int ranks);
tatp_plan *tatp_plans_at(tatp_plans *plans, size_t slot);
/* Releases the plan in a slot, if any. */
void tatp_plans_reset(tatp_plans *plans, size_t slot);
/* Bytes that the plan in a slot keeps, as far as they grow with the number of runs. */
int64_t tatp_plans_bytes(const tatp_plans *plans, size_t slot);

typedef struct tatp_plan_input {
    const tatp_plan_settings *settings;
    coll_group *group;
    const tatp_nodes *nodes;
    const access_list *accesses; /* this rank's, ordered */
    int64_t lo, hi;              /* accessed range over all ranks, bytes [lo, hi), lo < hi */
    bool all_entries;            /* rank 0 gets the whole of C (the same on all ranks) ... */
    bool keep_entries;           /* ... and keeps it (on rank 0), for tatp_plan_costs */
} tatp_plan_input;

/* Makes a plan in place of the one in the slot. rc: this rank's status so far; an error of any rank
 * is returned by all ranks alike, and then there is no plan. Collective. */
int tatp_plans_make(tatp_plans *plans, size_t slot, const tatp_plan_input *in, int rc);

/* What all ranks know of a plan; valid until it is reset. */
typedef struct tatp_plan_view {
    int64_t id;           /* the same on all ranks, never given twice by a rank 0 */
    int64_t lo, hi;       /* of the input */
    int64_t period;       /* bytes: the plan suits an access that is moved by a multiple of this */
    int64_t cycle_size;   /* positions of a domain */
    int64_t num_cycles;   /* of the largest domain */
    int64_t message_size; /* bytes at most */
    const file_domains *domains;
    const int *aggregator;     /* per domain, a rank */
    const domain_share *share; /* this rank's part of each domain that it accesses */
    size_t shares;
    bool aggregates; /* this rank owns domain `domain` ... */
    size_t domain;
    size_t contributors; /* number of ranks that access it, itself included */
} tatp_plan_view;

tatp_plan_view tatp_plan_get(const tatp_plan *plan);

/* What rank 0 knows besides. */
typedef struct tatp_plan_costs {
    double hop_bytes, hop_bytes_otp;
    int64_t crossing_bytes; /* between nodes */
    double apart_hop_bytes; /* as if all ranks of a node were one hop apart, which fitted domains
                               are compared with */
    division_kind domains;  /* what was used: even, stripe or fitted */
    int64_t unit;           /* of stripes or fitted domains, bytes; 0: even domains */
    size_t per_node;        /* domains that a node owns at most */
    /* Kept entries, ranks x domains; NULL: not kept. */
    const matrix *requests;      /* C, bytes */
    const matrix *savings;       /* what domains save on ranks (plan_input.savings); NULL also: no
                                    more than their own bytes */
    const matrix *even_requests; /* the same of the even domains that fitted ones replaced */
    const matrix *even_savings;
    const matrix *blocks; /* contiguous blocks, where the strategy assigns by them */
} tatp_plan_costs;

tatp_plan_costs tatp_plan_get_costs(const tatp_plan *plan);
void tatp_plan_release_entries(tatp_plan *plan);

#endif
