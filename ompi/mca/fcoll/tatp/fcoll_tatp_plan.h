/* SPDX-License-Identifier: BSD-3-Clause */
/* File domains and their assignment to aggregators for one collective access, and when a later call
 * can reuse them. Rank 0 decides by src/plan; all ranks learn the result.
 *
 * Functions return OMPI_SUCCESS or an OMPI or MPI error code. */
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
#include "plan/division.h"
#include "plan/plan.h"

/* What a file was opened with, as far as plans depend on it; the same on all ranks. No padding: two
 * of them are compared by memcmp. */
typedef struct tatp_plan_settings {
    division_settings division; /* the number of aggregators is one that the storage targets allow;
                                   capacity is not set */
    division_cycles cycles;     /* parts are not set */
    const plan_strategy *strategy;
    const plan_objective_name *objective;
    const lap_solver *solver;
} tatp_plan_settings;

typedef struct tatp_plan tatp_plan;

tatp_plan *tatp_plan_new(void); /* NULL: no memory */
void tatp_plan_free(tatp_plan *plan);
/* Allocates what a rank needs to take part in any plan of so many ranks. Local. */
int tatp_plan_prepare(tatp_plan *plan, int ranks);
/* Releases the plan that was made, if any. */
void tatp_plan_reset(tatp_plan *plan);

typedef struct tatp_plan_input {
    const tatp_plan_settings *settings;
    tatp_comm *comm;
    const tatp_nodes *nodes;
    const access_list *accesses; /* this rank's, ordered */
    int64_t lo, hi;              /* accessed range over all ranks, bytes [lo, hi), lo < hi */
    bool all_entries;            /* rank 0 gets the whole of C (the same on all ranks) ... */
    bool keep_entries;           /* ... and keeps it (on rank 0), for tatp_plan_costs */
} tatp_plan_input;

/* Makes the plan, in place of the one that there is. rc: this rank's status so far; an error of any
 * rank is returned by all ranks alike, and then there is no plan. Collective. */
int tatp_plan_make(tatp_plan *plan, const tatp_plan_input *in, int rc);

/* What all ranks know of a plan; valid until it is reset. */
typedef struct tatp_plan_view {
    int64_t id;         /* the same on all ranks, never given twice by a rank 0 */
    int64_t lo, hi;     /* of the input */
    int64_t cycle_size; /* positions of a domain */
    int64_t num_cycles; /* of the largest domain */
    const file_domains *domains;
    const int *aggregator;     /* per domain, a rank */
    const domain_share *share; /* this rank's part of each domain that it accesses */
    size_t shares;
    bool aggregates; /* this rank owns domain `domain` ... */
    size_t domain;
    size_t contributors; /* ... which so many ranks access, itself included */
} tatp_plan_view;

tatp_plan_view tatp_plan_get(const tatp_plan *plan);

/* What rank 0 knows besides. */
typedef struct tatp_plan_costs {
    double hop_bytes, hop_bytes_otp;
    int64_t crossing_bytes; /* between nodes */
    division_kind domains;  /* what was used: even, stripe or fitted */
    int64_t unit;           /* of stripes or fitted domains, bytes; 0: even domains */
    size_t per_node;        /* domains that a node owns at most */
    /* Kept entries, ranks x domains; NULL: not kept. */
    const matrix *requests;      /* C, bytes */
    const matrix *even_requests; /* C of the even domains that fitted ones replaced */
    const matrix *blocks;        /* contiguous blocks, where the strategy assigns by them */
} tatp_plan_costs;

tatp_plan_costs tatp_plan_get_costs(const tatp_plan *plan);
void tatp_plan_release_entries(tatp_plan *plan);

/* ---- reuse (fcoll_tatp_schedule.c) ---- */

/* What a rank accesses in one call. */
typedef struct tatp_plan_access {
    uint64_t view;        /* number of the view */
    int64_t offset, used; /* where in the view it begins: byte `used` of the copy at `offset` */
    int64_t bytes;
    bool atomic;
    const access_list *layer; /* `layers` ordered lists, where they are known; else NULL */
    size_t layers;
} tatp_plan_access;

/* Whether this rank's access repeats the one that the plan was made for, at another place of the
 * file maybe. Local. */
bool tatp_plan_repeats(const tatp_plan *plan, const tatp_plan_access *access);

typedef struct tatp_plan_agreement {
    bool reuse;    /* the plan of the last call serves again ... */
    int64_t shift; /* ... so many bytes further on in the file */
    int64_t lo,
        hi; /* accessed range of the first layers over all ranks; hi is 0: no rank has data */
    int64_t layers; /* of the rank that has most */
} tatp_plan_agreement;

/* The first agreement of a call, in one reduction: reuse, range and errors. Layers of `access` have
 * to be known unless `repeats`. rc: this rank's status so far. Returns the largest error class over
 * all ranks. Collective. */
int tatp_plan_agree(const tatp_plan *plan, tatp_comm *comm, const tatp_plan_access *access,
                    bool repeats, int rc, tatp_plan_agreement *agreement);

/* Later calls may reuse the plan, which was made for this access; or they may not. Local. */
void tatp_plan_remember(tatp_plan *plan, const tatp_plan_access *access);
void tatp_plan_forbid_reuse(tatp_plan *plan);

#endif
