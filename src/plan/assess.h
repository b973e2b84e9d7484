/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Aggregator selection: the cost of an assignment. Conventions: plan.h.
 */
#ifndef PLAN_ASSESS_H
#define PLAN_ASSESS_H

#include "plan/problem.h"

typedef struct plan_report {
    double hop_bytes;
    int64_t crossing_bytes; /* between nodes; INT64_MAX on overflow */
    double max_link_bytes;  /* of one cable in one direction, parallel cables sharing evenly, over
                               the topology's tree or, without one, over one link from each node to
                               a switch */
} plan_report;

/* All costs of an assignment. -EINVAL: a rank or a node is out of range; -ENOMEM. */
int plan_assess(const plan_input *in, const size_t *rank_of_domain, plan_report *report);

/* Hop-bytes of an assignment, in O(nnz(C) + p). -EINVAL: a rank or a node is out of range. */
int plan_hop_bytes(const plan_input *in, const size_t *rank_of_domain, double *hop_bytes);

/* Bytes whose rank and aggregator are on different nodes; INT64_MAX on overflow. Every rank of the
 * assignment is less than p, every node is one of the topology. */
int64_t plan_crossing_bytes(const plan_input *in, const size_t *rank_of_domain);

/* Bytes on the link above each vertex, up to its parent and down from it. The vertices are those of
 * the topology's tree or, without one, the nodes and a switch above them. The last one is the root
 * and has no link. */
typedef struct plan_loads {
    size_t vertices;
    double *up, *down;
} plan_loads;

/* -EINVAL: a rank or a node is out of range; -ENOMEM. Release with plan_release_loads. */
int plan_load_links(const plan_input *in, const size_t *rank_of_domain, plan_loads *loads);
void plan_release_loads(plan_loads *loads);

/* W, column by column: workload[j * p + i] = hop-bytes of assigning domain j to rank i. Sums C over
 * the ranks of a node first and forms no p x p matrix: O(nnz(C) + (p + classes * classes) * a)
 * time. Exact while the sums stay below 2^53. -EINVAL: a rank's node is out of range; -ERANGE;
 * -ENOMEM. */
int plan_workload(const plan_input *in, double *workload);

#endif
