/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One access pattern on one machine: ranks are placed, domains assigned, bytes followed over the
 * links. Functions end the program, with a message, where memory fails or there is nothing of a
 * name.
 */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H

#include "decomposition.h"
#include "machine.h"
#include "plan/planner.h"
#include "setmatch/setmatch.h"

typedef struct study {
    /* Set before study_begin. */
    machine machine;
    size_t nodes, per_node; /* of the job; aggregators on each */
    int64_t stripe;         /* of the file system, bytes; 0: not known */
    decomposition array;    /* released by study_end */

    topo topology;
    size_t aggregators;
    matrix view;
    matrix units;         /* ranks x units of fitted domains: bytes */
    rows_matrices even;   /* requests and blocks in even domains, once a plan needed them */
    size_t *node_of_rank; /* by study_place */
    double inside;        /* part of the view's weight within nodes */
} study;

typedef struct forecast {
    int64_t unit; /* of fitted domains, bytes; 0: the domains are not fitted */
    double hop_bytes;
    int64_t crossing_bytes; /* between nodes */
    double uplink_bytes; /* that go up from a switch, summed over all uplinks; as many come down */
    double busiest_node_bytes; /* of one node's link, the busier direction */
    double busiest_uplink_bytes;
    double link_seconds; /* the longest that any link is busy, all working at the same time */
    double copy_seconds; /* the longest that any aggregator is busy putting its domain together in
                            memory */
} forecast;

void study_begin(study *s);
void study_end(study *s);

/* By name. */
void study_place(study *s, const char *placement);

/* After node_of_rank was set in another way. */
void study_measure(study *s);

/* Of a write; a read moves the same the other way. By name of the strategy. */
forecast study_forecast(study *s, const char *strategy);

/* mpipp.c: MPIPP as the SetMatch paper describes it (Chen et al., ICS 2006): a random placement,
 * then repeatedly the best swap of two ranks (or of a rank and a free slot) until none reduces the
 * cut. O(slots^2) for each swap. A setmatch_method_fn. */
int mpipp_place(const setmatch_input *input, size_t *node_of_rank);

#endif
