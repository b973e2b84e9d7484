/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rank serves which file domain.
 *
 * Source: Topology-aware two-phase I/O (TATP): C, the bytes of each domain that each rank
 * accesses, and D, the hops between ranks, give W = D C, the hop-bytes of giving domain j to
 * rank i; the assignment of least total hop-bytes serves the file. doc/plan.md has the errata.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "lap/lap.h"
#include "matrix/matrix.h"
#include "topo/topo.h"

typedef struct plan_input {
    const matrix *requests;     /* C: requests[k][j] = bytes of domain j that rank k accesses; p x a */
    const size_t *node_of_rank; /* p entries, each < topology->nodes */
    const topo *topology;
    size_t per_node;            /* at most so many domains on one node; 0: no limit */
} plan_input;

typedef struct plan_strategy plan_strategy;
struct plan_strategy {
    const char *name;
    int (*assign)(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain);
    const char *note; /* one line for help texts */
};

/* Closed by an entry whose name is NULL; the first is the default:
 *   tatp  least hop-bytes (linear assignment over W, within per_node)
 *   otp   the lowest rank of each node in turn, nodes in the order of their lowest rank, then the
 *         second lowest of each, and so on: what two-phase I/O does without knowing the network;
 *         it ignores the solver, and keeps per_node too.
 * -EINVAL: more domains than ranks, or than per_node allows, or a rank's node is not one of
 * the topology; -ERANGE; -ENOMEM. */
extern const plan_strategy plan_strategies[];

/* The strategy of that name, or NULL. */
const plan_strategy *plan_find_strategy(const char *name);

/* W, column by column: workload[j * p + i] = hop-bytes of giving domain j to rank i.
 * C is summed over the ranks of a node first, and no p x p matrix is formed: O(nnz(C) +
 * (p + nodes) * a) time with a flat topology; with hops also `nodes` for every node and domain
 * with bytes in common.
 * Exact while the sums stay below 2^53. -EINVAL: a rank's node is not one of the topology;
 * -ENOMEM. */
int plan_workload(const plan_input *in, double *workload);

/* Hop-bytes of an assignment, in O(nnz(C) + p). -EINVAL: a rank or a node is out of range. */
int plan_hop_bytes(const plan_input *in, const size_t *rank_of_domain, double *hop_bytes);

/* Bytes whose rank and aggregator are on different nodes; INT64_MAX where they are more.
 * Every rank of the assignment is less than p, every node is one of the topology. */
int64_t plan_crossing_bytes(const plan_input *in, const size_t *rank_of_domain);

/* The smallest per_node that spreads `domains` evenly: no node serves more than
 * ceil(domains / nodes), raised as far as nodes with few ranks make it necessary; at least 1.
 * ranks_on_node has `nodes` entries whose sum is at least `domains`. */
size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains);

#endif
