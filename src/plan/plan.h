/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Aggregator selection: which rank aggregates which file domain. This header has the strategies,
 * problem.h the problem, assess.h the cost of an assignment.
 *
 * Source: Topology-aware two-phase I/O (TATP): C, the bytes of each domain that each rank
 * accesses, and D, the hops between ranks, give W = D C, the hop-bytes of assigning domain j to
 * rank i; an assignment of minimum total hop-bytes is sought. doc/plan.md has the errata.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "plan/assess.h"
#include "plan/problem.h"
#include "topo/topo.h"

typedef struct plan_strategy plan_strategy;
struct plan_strategy {
    const char *name;
    int (*assign)(const plan_input *in, size_t *rank_of_domain);
    const char *note; /* one line for help texts */
    int by_blocks;    /* weighs `blocks`; incomplete requests then need the largest of those */
};

/* Closed by an entry whose name is NULL; the first is the default:
 *   tatp         minimum hop-bytes (plan_least_hop_bytes)
 *   latp_volume  the node that accesses most bytes of a domain, as far as each domain can have its
 *                first choice: linear assignment over the bytes on nodes. On the node, the rank
 *                that accesses most.
 *   latp_count   the same with contiguous blocks instead of bytes
 *   otp          the lowest rank of each node in turn, nodes in the order of their lowest rank,
 *                then the second lowest of each, and so on: two-phase I/O without knowledge of the
 *                network.
 * All respect per_node. -EINVAL: more domains than ranks, or than per_node allows, or a rank's node
 * is not one of the topology, or the shape of `blocks` is wrong; -ERANGE; -ENOMEM. */
extern const plan_strategy plan_strategies[];

/* The strategy of that name, or NULL. */
const plan_strategy *plan_find_strategy(const char *name);

/* An assignment of minimum hop-bytes: domains to nodes first, as though each had the best rank of
 * its node, then to the ranks of each node. Both steps are exact. Together they are the minimum
 * where no two domains of a node compete for a rank: always with per_node = 1. Where they compete,
 * an assignment in one step could save what one rank saves over another of its node. Stores neither
 * p x p nor p x a numbers. Errors as for strategies. */
int plan_least_hop_bytes(const plan_input *in, size_t *rank_of_domain);

/* Assigns the domains of one node to its ranks, so that the bytes that ranks access of their own
 * domains are maximal. The ranks are the rows rank[0 .. ranks - 1] of `requests`, or all rows where
 * rank is NULL; row_of_domain[d] becomes the row for domain[d], a column. Ties go to the lower rank
 * where there is one domain, else as the first of lap_solvers breaks them. -EINVAL: fewer ranks
 * than domains, or a row or column is out of range; -ENOMEM. */
int plan_choose_ranks(const matrix *requests, const size_t *rank, size_t ranks,
                      const size_t *domain, size_t domains, size_t *row_of_domain);

/* The smallest per_node that spreads `domains` evenly: ceil(domains / nodes), raised as far as
 * nodes with few ranks require; at least 1. ranks_on_node has `nodes` entries whose sum is at least
 * `domains`. */
size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains);

#endif
