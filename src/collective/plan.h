/* SPDX-License-Identifier: BSD-3-Clause */
/* File domains and their assignment to aggregators for one collective access. Rank 0 decides by
 * src/plan; all ranks learn the result.
 *
 * Functions return 0 or an error. */
#ifndef COLLECTIVE_PLAN_H
#define COLLECTIVE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/aggregation.h"
#include "collective/group.h"
#include "collective/nodes.h"

#include "access/access.h"
#include "access/cut.h"
#include "plan/planner.h"

/* What a file was opened with, as far as plans depend on it; the same on all ranks. No padding: two
 * of them are compared by memcmp. */
typedef struct coll_plan_settings {
    division_settings division; /* the number of aggregators is one that the storage targets allow;
                                   capacity is not set */
    division_cycles cycles;     /* parts and message are not set */
    const plan_strategy *strategy;
    int64_t write_aggregation, read_aggregation; /* an aggregation_choice */
} coll_plan_settings;

/* One plan; zeroed: none. What rank 0 has decided, of whose draft other ranks have the division. */
typedef struct coll_plan {
    plan_draft draft;     /* c: where entries are kept */
    matrix even_requests; /* kept C of the even domains that fitted ones replaced; else empty */
    double hop_bytes_otp; /* of even domains */
    domain_layout layout; /* its domains cover the range of the input */
} coll_plan;

/* Releases the plan, if any. */
void coll_plan_reset(coll_plan *plan);
/* Bytes that it keeps, as far as they grow with the number of runs. */
int64_t coll_plan_bytes(const coll_plan *plan);

/* A rank takes part in the broadcast of a plan by it. The units of most programs fit into one
 * message. */
enum { COLL_STREAM_ELEMENTS = 1024 };
typedef struct coll_stream {
    int64_t element[COLL_STREAM_ELEMENTS];
    size_t at, count; /* taken, and all of the present message */
    int rc;           /* of the broadcasts */
} coll_stream;

/* What rank 0 is to know of a plan. */
typedef struct coll_wishes {
    bool all_entries;  /* the whole of C; the same on all ranks */
    bool keep_entries; /* after the plan was made */
} coll_wishes;

typedef struct coll_plan_input {
    const coll_plan_settings *settings;
    coll_group *group;
    const coll_nodes *nodes;
    const access_list *accesses; /* this rank's, ordered */
    int64_t lo, hi;              /* accessed range over all ranks, bytes [lo, hi), lo < hi */
    bool widens;                 /* the layout has a margin if domains are striped */
    int64_t piece;               /* of a layout */
    coll_stream *stream;
    coll_wishes wishes;
} coll_plan_input;

/* Makes a plan instead of the present one. rc: this rank's status so far; an error of any rank
 * is returned by all ranks alike, and then there is no plan. Collective. */
int coll_plan_make(coll_plan *plan, const coll_plan_input *in, int rc);

void coll_plan_release_entries(coll_plan *plan);

#endif
