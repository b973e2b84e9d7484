/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of the plans: random ranks on random nodes, each plan against the assignment
 * problem over the whole matrix D C, which is formed here in the plain way. */
#include "lap/lap.h"
#include "plan/plan.h"

#include "../unit/edges.h"
#include "../unit/seeded.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 400, MAX_DOMAINS = 120, MAX_NODES = 130, MAX_PAIRS = MAX_RANKS * MAX_DOMAINS };

enum network { FLAT, TREE, SHORTCUT, ANY_HOPS };
enum pattern { SPARSE, BLOCKS, CROWD, EQUAL, FULL, HEAVY };

struct kind {
    const char *name;
    enum network network;
    enum pattern pattern;
    int64_t most_per_node;
};

/* per_node is from 0 (no limit) to most_per_node. */
static const struct kind kinds[] = {
    {"flat, sparse", FLAT, SPARSE, 4},
    {"flat, blocks", FLAT, BLOCKS, 4},
    {"flat, crowd", FLAT, CROWD, 1},
    {"flat, all equal", FLAT, EQUAL, 3},
    {"flat, heavy tail", FLAT, HEAVY, 8},
    {"tree, sparse", TREE, SPARSE, 4},
    {"tree, blocks", TREE, BLOCKS, 4},
    {"tree, crowd", TREE, CROWD, 2},
    {"tree, all equal", TREE, EQUAL, 3},
    {"tree, full", TREE, FULL, 2},
    {"tree, heavy tail", TREE, HEAVY, 8},
    {"tree with a shortcut, sparse", SHORTCUT, SPARSE, 3},
    {"tree with a shortcut, crowd", SHORTCUT, CROWD, 2},
    {"any hops, sparse", ANY_HOPS, SPARSE, 3},
    {"any hops, crowd", ANY_HOPS, CROWD, 2},
    {"any hops, full", ANY_HOPS, FULL, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef int64_t domain_row[MAX_DOMAINS];

/* An input with its memory, and the whole matrices. */
struct instance {
    plan_input input;
    plan_input few; /* the same by sums and the largest entries of each node and domain */
    size_t ranks, domains, nodes;
    domain_row bytes[MAX_RANKS];
    size_t node_of_rank[MAX_RANKS];
    bool flat;
    double hops[MAX_NODES * MAX_NODES];

    topo topology;
    matrix requests, largest, bytes_of_nodes, blocks_of_nodes;

    double whole[MAX_PAIRS]; /* D C, or what nodes cost; domain by domain */
    size_t rank_of_domain[MAX_DOMAINS];
};

/* ---- instances ---- */

/* A tree of random leaves; some have one node. A shortcut goes one way only. */
static int draw_hops(struct instance *in, enum network network, uint64_t *state)
{
    size_t leaf[MAX_NODES], pod[MAX_NODES];
    for (size_t n = 0; n < in->nodes; n++) {
        leaf[n] = (size_t)pick(state, 0, (int64_t)in->nodes / 4);
        pod[n] = leaf[n] % 3;
    }
    for (size_t n = 0; n < in->nodes; n++) {
        for (size_t m = 0; m < in->nodes; m++) {
            double way = leaf[n] == leaf[m] ? 2 : pod[n] == pod[m] ? 4 : 6;
            in->hops[n * in->nodes + m] = network == ANY_HOPS ? (double)pick(state, 1, 9) : way;
        }
    }
    if (network == SHORTCUT)
        in->hops[(size_t)pick(state, 0, (int64_t)(in->nodes * in->nodes) - 1)] = 1;
    for (size_t n = 0; n < in->nodes; n++)
        in->hops[n * in->nodes + n] = 0;
    topo_release(&in->topology);
    topo_flat(&in->topology, in->nodes);
    in->flat = network == FLAT;
    return in->flat ? 0 : topo_from_hops(&in->topology, in->nodes, in->hops);
}

static int64_t draw_bytes(const struct instance *in, enum pattern pattern, size_t i, size_t j,
                          uint64_t *state)
{
    size_t own = i * in->domains / in->ranks, apart = own > j ? own - j : j - own;
    switch (pattern) {
    case SPARSE: return pick(state, 0, 9) == 0 ? pick(state, 1, 100) : 0;
    case BLOCKS: return apart <= 2 ? pick(state, 0, 3) : 0;
    case CROWD: return i < in->ranks / 8 + 1 ? pick(state, 1, 1000) : pick(state, -20, 3) > 0;
    case EQUAL: return 4;
    case HEAVY: return pick(state, 0, 3) == 0 ? (int64_t)1 << pick(state, 0, 26) : 0;
    case FULL:
    default: return pick(state, 0, 1000000);
    }
}

static int sum_nodes(const struct instance *in, const domain_row *of_ranks, matrix *sums)
{
    matrix by_rank = {0};
    matrix_of_table(&by_rank, in->ranks, in->domains, of_ranks[0], MAX_DOMAINS);
    matrix_release(sums);
    int rc = matrix_sum_rows(sums, &by_rank, in->node_of_rank, in->nodes);
    matrix_release(&by_rank);
    return rc;
}

/* As many entries as a node can serve domains. */
static int keep_largest(struct instance *in)
{
    static domain_row kept[MAX_RANKS], blocks[MAX_RANKS];
    size_t most = in->input.per_node > 0 ? in->input.per_node : in->domains;
    memcpy(kept, in->bytes, sizeof kept);
    keep_largest_of_table(kept[0], MAX_DOMAINS, in->domains, in->node_of_rank, in->ranks, most);
    matrix_of_table(&in->largest, in->ranks, in->domains, kept[0], MAX_DOMAINS);
    for (size_t i = 0; i < in->ranks; i++)
        for (size_t j = 0; j < in->domains; j++)
            blocks[i][j] = in->bytes[i][j] != 0;
    in->few = in->input;
    in->few.requests = &in->largest;
    in->few.node_bytes = &in->bytes_of_nodes;
    in->few.node_blocks = &in->blocks_of_nodes;
    int rc = sum_nodes(in, in->bytes, &in->bytes_of_nodes);
    return rc == 0 ? sum_nodes(in, blocks, &in->blocks_of_nodes) : rc;
}

static void release_instance(struct instance *in)
{
    topo_release(&in->topology);
    matrix_release(&in->requests);
    matrix_release(&in->largest);
    matrix_release(&in->bytes_of_nodes);
    matrix_release(&in->blocks_of_nodes);
}

/* Ranks in order on their nodes or anywhere; some nodes may have none. */
static int make_instance(struct instance *in, const struct kind *kind, uint64_t seed)
{
    uint64_t state = seed;
    in->ranks = (size_t)pick(&state, 1, pick(&state, 0, 1) ? MAX_RANKS : 40);
    in->nodes = (size_t)pick(&state, 1, in->ranks < MAX_NODES ? (int64_t)in->ranks : MAX_NODES);
    in->domains =
        (size_t)pick(&state, 0, in->ranks < MAX_DOMAINS ? (int64_t)in->ranks : MAX_DOMAINS);
    bool in_order = pick(&state, 0, 1);
    int rc = draw_hops(in, kind->network, &state);
    for (size_t i = 0; i < in->ranks; i++) {
        size_t any = (size_t)pick(&state, 0, (int64_t)in->nodes - 1);
        in->node_of_rank[i] = in_order ? i * in->nodes / in->ranks : any;
        for (size_t j = 0; j < in->domains; j++)
            in->bytes[i][j] = draw_bytes(in, kind->pattern, i, j, &state);
    }
    matrix_of_table(&in->requests, in->ranks, in->domains, in->bytes[0], MAX_DOMAINS);
    in->input = (plan_input){.requests = &in->requests,
                             .node_of_rank = in->node_of_rank,
                             .topology = &in->topology,
                             .per_node = (size_t)pick(&state, 0, kind->most_per_node)};
    return rc == 0 ? keep_largest(in) : rc;
}

/* ---- the whole matrix ---- */

static double count_hops(const struct instance *in, size_t i, size_t k)
{
    size_t n = in->node_of_rank[i], m = in->node_of_rank[k];
    double between = in->flat ? 2.0 : in->hops[n * in->nodes + m];
    return i == k ? 0.0 : n == m ? 1.0 : between;
}

static void multiply(struct instance *in)
{
    memset(in->whole, 0, sizeof in->whole);
    for (size_t i = 0; i < in->ranks; i++) {
        for (size_t k = 0; k < in->ranks; k++) {
            double hops = count_hops(in, i, k);
            for (size_t j = 0; j < in->domains; j++)
                in->whole[j * in->ranks + i] += hops * (double)in->bytes[k][j];
        }
    }
}

/* Each rank as good as the best one of its node. */
static void favour_nodes(struct instance *in)
{
    double best[MAX_NODES];
    for (size_t j = 0; j < in->domains; j++) {
        double *whole = in->whole + j * in->ranks;
        for (size_t n = 0; n < in->nodes; n++)
            best[n] = INFINITY;
        for (size_t i = 0; i < in->ranks; i++)
            best[in->node_of_rank[i]] = fmin(best[in->node_of_rank[i]], whole[i]);
        for (size_t i = 0; i < in->ranks; i++)
            whole[i] = best[in->node_of_rank[i]];
    }
}

/* As many ranks of a node as it may serve domains. */
static void limit_nodes(struct instance *in)
{
    size_t met[MAX_NODES] = {0};
    for (size_t i = 0; i < in->ranks && in->input.per_node > 0; i++)
        if (met[in->node_of_rank[i]]++ >= in->input.per_node)
            for (size_t j = 0; j < in->domains; j++)
                in->whole[j * in->ranks + i] = INFINITY;
}

static int solve_whole(const struct instance *in, double *total)
{
    static size_t row[MAX_DOMAINS];
    lap_problem problem = {.rows = in->ranks, .cols = in->domains, .cost = in->whole};
    lap_solution solution = {.row_of_col = row};
    int rc = lap_jv(&problem, &solution);
    *total = solution.total;
    return rc;
}

/* ---- checks ---- */

static bool is_allowed(const struct instance *in)
{
    size_t taken[MAX_RANKS] = {0}, load[MAX_NODES] = {0};
    for (size_t j = 0; j < in->domains; j++) {
        size_t rank = in->rank_of_domain[j];
        if (rank >= in->ranks || taken[rank]++ > 0 ||
            (load[in->node_of_rank[rank]]++ >= in->input.per_node && in->input.per_node > 0))
            return false;
    }
    return true;
}

static double cost_of_ranks(const struct instance *in)
{
    double sum = 0.0;
    for (size_t j = 0; j < in->domains; j++)
        sum += in->whole[j * in->ranks + in->rank_of_domain[j]];
    return sum;
}

/* The two steps: the nodes cost the least of all, as though each domain had the best rank of its
 * node, which it has where nodes have one domain at most. */
static const char *check_steps(struct instance *in)
{
    double least = 0.0, cost = 0.0, cost_of_nodes = 0.0;
    int rc = plan_least_hop_bytes(&in->input, in->rank_of_domain);
    multiply(in);
    if (rc == 0 && !is_allowed(in))
        return "not allowed";
    if (rc == 0)
        cost = cost_of_ranks(in);
    favour_nodes(in);
    if (rc == 0)
        cost_of_nodes = cost_of_ranks(in);
    limit_nodes(in);
    int expected = solve_whole(in, &least);
    if (expected == LAP_INFEASIBLE || rc != 0)
        return expected == LAP_INFEASIBLE && rc < 0 ? NULL : "feasible";
    return cost_of_nodes != least                     ? "not the least nodes"
           : in->input.per_node == 1 && cost != least ? "not the least"
                                                      : NULL;
}

/* Each strategy by all entries and by the largest: both answers cost the same. */
static const char *check_largest(struct instance *in)
{
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++) {
        size_t other[MAX_DOMAINS];
        plan_report by_all, by_few, told;
        int expected = s->assign(&in->input, in->rank_of_domain);
        int rc = s->assign(&in->few, other);
        if (rc != 0 || expected != 0)
            return rc == expected ? NULL : "largest entries: feasible";
        if (plan_assess(&in->input, in->rank_of_domain, &by_all) != 0 ||
            plan_assess(&in->input, other, &by_few) != 0 ||
            plan_assess(&in->few, other, &told) != 0)
            return "largest entries: assessment";
        if (by_few.hop_bytes != by_all.hop_bytes)
            return "largest entries: another cost";
        if (told.crossing_bytes != by_few.crossing_bytes ||
            told.max_link_bytes != by_few.max_link_bytes ||
            (strcmp(s->name, "otp") != 0 && told.hop_bytes != by_few.hop_bytes))
            return "largest entries: another assessment";
    }
    return NULL;
}

static const char *name_of(int kind)
{
    return kinds[kind].name;
}

static const char *check_instance(int kind, uint64_t seed)
{
    static struct instance in;
    const char *fault = NULL;
    if (make_instance(&in, &kinds[kind], seed) != 0)
        return "cannot be made";
    fault = check_steps(&in);
    if (fault == NULL)
        fault = check_largest(&in);
    release_instance(&in);
    return fault;
}

int main(int argc, char **argv)
{
    static const struct property property = {
        "Plans for random ranks, and compares with the whole problem.", 240, KINDS, name_of,
        check_instance};
    return check_property(argc, argv, &property);
}
