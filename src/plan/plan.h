/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Aggregator selection: which rank aggregates which file domain.
 *
 * Source: Topology-aware two-phase I/O (TATP): C, the bytes of each domain that each rank
 * accesses, and D, the hops between ranks, give W = D C, the hop-bytes of assigning domain j to
 * rank i; an assignment of minimum total hop-bytes is sought. doc/papers.md has the errata.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "matrix/matrix.h"
#include "topo/topo.h"

/* ---- the problem ---- */

typedef struct plan_input {
    const matrix *requests; /* C, p x a: requests[k][j] = bytes of domain j that rank k accesses */
    const size_t *node_of_rank; /* p entries, each < topology->nodes */
    const topo *topology;
    size_t per_node;           /* maximum number of domains on one node; 0: no limit */
    const matrix *blocks;      /* contiguous blocks of domain j that rank k accesses, p x a; NULL: 1
                                  for each entry of requests that is not 0 */
    const matrix *node_bytes;  /* requests summed over the ranks of each node, topology->nodes x a;
                                  NULL if `requests` are complete (see below) */
    const matrix *node_blocks; /* the same of blocks or, without, of entries that are not 0 */
    const unsigned char *nearness; /* of each rank, how near it is to the network, more is nearer:
                                     of ranks of a node that cost a domain the same, tatp takes
                                     the nearest. NULL if all are alike */
} plan_input;

/* Incomplete requests. With the sums of each node in node_bytes, `requests` need only the
 * per_node largest entries of each node and domain (all where per_node is 0), and plans have
 * the cost that they have with all entries: if a domain is assigned to another rank of its node,
 * one of the per_node best ranks is free, since the node owns at most per_node - 1 other domains.
 * Moved there, the domain costs the same or less, and no other domain moves. A strategy with
 * by_blocks needs the entries with the most blocks, in `requests` and in `blocks`, and node_blocks.
 * A missing entry counts as a rank that accesses none of the domain: the hop-bytes reported for an
 * assignment to that rank are too high. */

/* ---- strategies ---- */

typedef struct plan_strategy plan_strategy;
struct plan_strategy {
    const char *name;
    int (*assign)(const plan_input *in, size_t *rank_of_domain);
    const char *note; /* one line for help texts */
    int by_blocks;    /* weighs `blocks`; incomplete requests then need the largest of those */
};

/* Closed by an entry whose name is NULL; the first is the default:
 *   tatp         few hop-bytes (plan_least_hop_bytes)
 *   latp_volume  the node that accesses most bytes of a domain, as far as each domain can have its
 *                first choice: the most bytes on nodes in all. On the node, the rank that accesses
 *                most.
 *   latp_count   the same with contiguous blocks instead of bytes
 *   otp          the lowest rank of each node in turn, nodes in the order of their lowest rank,
 *                then the second lowest of each, and so on: two-phase I/O without knowledge of the
 *                network.
 * All respect per_node. -EINVAL: more domains than ranks, or than per_node allows; -ERANGE: a sum
 * that the strategy needs; -ENOMEM. */
extern const plan_strategy plan_strategies[];

/* The strategy of that name, or NULL. */
const plan_strategy *plan_find_strategy(const char *name);

/* Domains to nodes first, as though each had the best rank of its node, then to the ranks of each
 * node: each step with the least hop-bytes, but for rounding beyond what lap.h states. Together
 * they have the minimum where no two domains of a node compete for a rank: always with per_node =
 * 1. Stores no p x p numbers, and of a node at a time its ranks x its domains. Errors as for
 * strategies. */
int plan_least_hop_bytes(const plan_input *in, size_t *rank_of_domain);

/* The smallest per_node that spreads `domains` evenly: ceil(domains / nodes), raised as far as
 * nodes with few ranks require; at least 1. ranks_on_node has `nodes` entries whose sum is at least
 * `domains`. */
size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains);

/* ---- the cost of an assignment ---- */

typedef struct plan_report {
    double hop_bytes;
    int64_t crossing_bytes; /* between nodes; INT64_MAX on overflow */
    double max_link_bytes;  /* of one cable in one direction, parallel cables sharing evenly, over
                               the topology's tree or, without one, over one link from each node to
                               a switch */
} plan_report;

/* All costs of an assignment. -ENOMEM. */
int plan_assess(const plan_input *in, const size_t *rank_of_domain, plan_report *report);

/* Hop-bytes of an assignment, in O(nnz(C) + p + a log a). */
double plan_hop_bytes(const plan_input *in, const size_t *rank_of_domain);

/* Bytes whose rank and aggregator are on different nodes; INT64_MAX on overflow. */
int64_t plan_crossing_bytes(const plan_input *in, const size_t *rank_of_domain);

/* Bytes on the link above each vertex, up to its parent and down from it. The vertices are those of
 * the topology's tree or, without one, the nodes and a switch above them. The last one is the root
 * and has no link. */
typedef struct plan_loads {
    size_t vertices;
    double *up, *down;
} plan_loads;

/* -ENOMEM. Release with plan_release_loads. */
int plan_load_links(const plan_input *in, const size_t *rank_of_domain, plan_loads *loads);
void plan_release_loads(plan_loads *loads);

/* W, column by column: workload[j * p + i] = hop-bytes of assigning domain j to rank i. Sums C over
 * the ranks of a node first and forms no p x p matrix: O(nnz(C) + (p + nodes + classes * classes) *
 * a) time. Exact while the sums stay below 2^53. -ERANGE; -ENOMEM. */
int plan_workload(const plan_input *in, double *workload);

#endif
