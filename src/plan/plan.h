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

typedef enum plan_objective {
    PLAN_HOP_BYTES, /* the least sum of bytes times hops */
    PLAN_CONGESTION /* the least maximum load of a link, then hop-bytes */
} plan_objective;

/* Indexed by plan_objective, closed by an entry whose name is NULL; the first is the default. */
typedef struct plan_objective_name {
    const char *name;
    plan_objective objective;
    const char *note; /* one line for help texts */
} plan_objective_name;
extern const plan_objective_name plan_objectives[];

/* The objective of that name, or NULL. */
const plan_objective_name *plan_find_objective(const char *name);

typedef struct plan_input {
    const matrix *requests; /* C: requests[k][j] = bytes of domain j that rank k accesses; p x a */
    const size_t *node_of_rank; /* p entries, each < topology->nodes */
    const topo *topology;
    size_t per_node;          /* at most so many domains on one node; 0: no limit */
    const matrix *blocks;     /* contiguous blocks of domain j that rank k accesses, p x a; NULL:
                                 one for each entry of requests that is not 0 */
    plan_objective objective; /* of tatp */
    const matrix
        *node_bytes; /* requests summed over the ranks of each node, topology->nodes x a, for
                        `requests` that lack entries (see below); NULL: none is lacking */
    const matrix *node_blocks; /* the same of blocks or, without, of entries that are not 0 */
} plan_input;

/* With the sums of each node in node_bytes, `requests` need no more than the per_node largest
 * entries of each node and domain (all of them where per_node is 0), and plans cost what they cost
 * with all entries: where a domain is served by another rank of its node, one of its per_node best
 * ranks is free, since the node serves at most per_node - 1 domains more; moved there it costs the
 * same or less, and no other domain moves. A strategy by_blocks needs those with the most blocks,
 * in `requests` and in `blocks`, and node_blocks. An entry that is lacking is a rank that accesses
 * none of the domain itself: what is told of the hop-bytes of an assignment to that rank is too
 * high. */

typedef struct plan_strategy plan_strategy;
struct plan_strategy {
    const char *name;
    int (*assign)(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain);
    const char *note; /* one line for help texts */
    /* The same with what hop-bytes cannot be below; NULL where hop-bytes are not what is sought. */
    int (*assign_bounded)(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                          double *bound);
    int by_blocks; /* it weighs `blocks`, and where entries are lacking needs the largest of those
                    */
};

/* Closed by an entry whose name is NULL; the first is the default:
 *   tatp         least hop-bytes, or least congestion (plan_least_hop_bytes,
 *                plan_least_congestion)
 *   latp_volume  the node that accesses most bytes of a domain serves it, as far as each can have
 *                its first choice: linear assignment over the bytes on nodes. On the node it is
 *                the rank that accesses most.
 *   latp_count   the same with contiguous blocks in place of bytes
 *   otp          the lowest rank of each node in turn, nodes in the order of their lowest rank,
 *                then the second lowest of each, and so on: what two-phase I/O does without knowing
 *                the network; it ignores the solver.
 * All keep per_node. -EINVAL: more domains than ranks, or than per_node allows, or a rank's node is
 * not one of the topology, or the shape of `blocks` is wrong; -ERANGE; -ENOMEM. */
extern const plan_strategy plan_strategies[];

/* The strategy of that name, or NULL. */
const plan_strategy *plan_find_strategy(const char *name);

/* ---- least hop-bytes ---- */

/* An assignment of least hop-bytes and, where `bound` is not NULL, what no assignment can be below.
 *
 * Domains are first given to nodes, as though each had the best rank of its node, then to ranks on
 * each node. That is exact where no two domains of a node want the same rank: always with per_node
 * = 1; *bound is then the hop-bytes. Otherwise a problem of up to PLAN_DENSE_PAIRS ranks times
 * domains is solved as a whole, and beyond that the hop-bytes less *bound is how far from the least
 * they may be. Neither p x p nor p x a numbers are stored. Errors as for strategies. */
int plan_least_hop_bytes(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                         double *bound);

#define PLAN_DENSE_PAIRS ((size_t)1 << 22)

/* From there by moves and exchanges of domains to a lower maximum load of a link, in one direction,
 * and, at that load, fewer hop-bytes. A local search: never worse than least hop-bytes, not always
 * the least. Where domains times (nodes + vertices) are over PLAN_CONGESTION_PAIRS the assignment
 * of least hop-bytes stays as it is. Errors as for strategies. */
int plan_least_congestion(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain);

#define PLAN_CONGESTION_PAIRS ((size_t)1 << 26)

/* The second of these steps, on one node: its ranks for its domains, so that they hold the most of
 * what they serve. The node's ranks are the rows rank[0 .. ranks - 1] of `requests`, or where rank
 * is NULL all rows; row_of_domain[d] becomes the row for domain[d], a column. Ties go to the lower
 * rank where there is one domain, else as the solver has them. -EINVAL: fewer ranks than domains,
 * or a row or column is out of range; -ENOMEM. */
int plan_choose_ranks(const matrix *requests, const size_t *rank, size_t ranks,
                      const size_t *domain, size_t domains, const lap_solver *solver,
                      size_t *row_of_domain);

/* ---- what an assignment costs ---- */

typedef struct plan_report {
    double hop_bytes;
    int64_t crossing_bytes; /* between nodes; INT64_MAX where they are more */
    double
        max_link_bytes; /* of one cable in one direction, parallel cables sharing evenly, over the
                           topology's tree or, without, one link from each node to a switch */
} plan_report;

/* Bytes on the link above each vertex, up to its parent and down from it: the vertices of the
 * topology's tree or, without one, the nodes and a switch above them. The last one is the root: no
 * link. */
typedef struct plan_loads {
    size_t vertices;
    double *up, *down;
} plan_loads;

/* -EINVAL: a rank or a node is out of range; -ENOMEM. Release with plan_release_loads. */
int plan_load_links(const plan_input *in, const size_t *rank_of_domain, plan_loads *loads);
void plan_release_loads(plan_loads *loads);

/* All of them. -EINVAL: a rank or a node is out of range; -ENOMEM. */
int plan_assess(const plan_input *in, const size_t *rank_of_domain, plan_report *report);

/* Hop-bytes of an assignment, in O(nnz(C) + p). -EINVAL: a rank or a node is out of range. */
int plan_hop_bytes(const plan_input *in, const size_t *rank_of_domain, double *hop_bytes);

/* Bytes whose rank and aggregator are on different nodes; INT64_MAX where they are more.
 * Every rank of the assignment is less than p, every node is one of the topology. */
int64_t plan_crossing_bytes(const plan_input *in, const size_t *rank_of_domain);

/* W, column by column: workload[j * p + i] = hop-bytes of giving domain j to rank i.
 * C is summed over the ranks of a node first, and no p x p matrix is formed: O(nnz(C) +
 * (p + places * places) * a) time.
 * Exact while the sums stay below 2^53. -EINVAL: a rank's node is not one of the topology;
 * -ENOMEM. */
int plan_workload(const plan_input *in, double *workload);

/* The smallest per_node that spreads `domains` evenly: no node serves more than
 * ceil(domains / nodes), raised as far as nodes with few ranks make it necessary; at least 1.
 * ranks_on_node has `nodes` entries whose sum is at least `domains`. */
size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains);

#endif
