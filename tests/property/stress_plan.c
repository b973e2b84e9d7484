/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of the plans: random ranks on random nodes, each plan against the assignment
 * problem over the whole matrix D C, which is formed here in the plain way. A failure prints the
 * command that replays it. */
#include "plan/plan.h"
#include "plan/steps.h"

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

/* An input with its memory, and the whole matrices. */
struct instance {
    plan_input input;
    size_t ranks, domains, nodes;
    int64_t bytes[MAX_RANKS][MAX_DOMAINS];
    size_t node_of_rank[MAX_RANKS];
    bool flat;
    double hops[MAX_NODES * MAX_NODES];
    double distance[MAX_RANKS][MAX_RANKS];

    matrix requests, of_nodes;
    topo topology;
    size_t row_start[MAX_RANKS + 1], node_start[MAX_NODES + 1], ranks_on_node[MAX_NODES];
    size_t col[MAX_PAIRS], node_col[MAX_PAIRS];
    int64_t value[MAX_PAIRS], node_value[MAX_PAIRS];

    matrix few,
        blocks_of_nodes; /* the largest entries of each node and domain; ranks that access it */
    size_t few_start[MAX_RANKS + 1], few_col[MAX_PAIRS];
    int64_t few_value[MAX_PAIRS], node_blocks[MAX_PAIRS];

    double whole[MAX_PAIRS]; /* D C, or what nodes cost; domain by domain */
    size_t rank_of_domain[MAX_DOMAINS], node_of_domain[MAX_DOMAINS];
};

static const char *tool;

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

static void compress(struct instance *in)
{
    size_t nnz = 0;
    for (size_t i = 0; i < in->ranks; i++) {
        for (size_t j = 0; j < in->domains; j++) {
            if (in->bytes[i][j] != 0) {
                in->col[nnz] = j;
                in->value[nnz++] = in->bytes[i][j];
            }
        }
        in->row_start[i + 1] = nnz;
    }
    in->requests = (matrix){in->ranks, in->domains, in->row_start, in->col, in->value};
}

static void sum_nodes(struct instance *in)
{
    size_t nnz = 0;
    memset(in->ranks_on_node, 0, sizeof in->ranks_on_node);
    for (size_t n = 0; n < in->nodes; n++) {
        for (size_t j = 0; j < in->domains; j++) {
            int64_t sum = 0, blocks = 0;
            for (size_t i = 0; i < in->ranks; i++) {
                int64_t bytes = in->node_of_rank[i] == n ? in->bytes[i][j] : 0;
                sum += bytes;
                blocks += bytes != 0;
            }
            if (sum > 0) {
                in->node_col[nnz] = j;
                in->node_blocks[nnz] = blocks;
                in->node_value[nnz++] = sum;
            }
        }
        in->node_start[n + 1] = nnz;
    }
    for (size_t i = 0; i < in->ranks; i++)
        in->ranks_on_node[in->node_of_rank[i]]++;
    in->of_nodes = (matrix){in->nodes, in->domains, in->node_start, in->node_col, in->node_value};
    in->blocks_of_nodes =
        (matrix){in->nodes, in->domains, in->node_start, in->node_col, in->node_blocks};
}

static bool is_among_largest(const struct instance *in, size_t i, size_t j, size_t most)
{
    size_t larger = 0;
    for (size_t k = 0; k < in->ranks; k++) {
        bool before =
            in->bytes[k][j] > in->bytes[i][j] || (in->bytes[k][j] == in->bytes[i][j] && k < i);
        larger += before && in->node_of_rank[k] == in->node_of_rank[i];
    }
    return larger < most;
}

/* As many entries as a node can serve domains. */
static void keep_largest(struct instance *in)
{
    size_t nnz = 0, most = in->input.per_node > 0 ? in->input.per_node : in->domains;
    for (size_t i = 0; i < in->ranks; i++) {
        for (size_t j = 0; j < in->domains; j++) {
            if (in->bytes[i][j] != 0 && is_among_largest(in, i, j, most)) {
                in->few_col[nnz] = j;
                in->few_value[nnz++] = in->bytes[i][j];
            }
        }
        in->few_start[i + 1] = nnz;
    }
    in->few = (matrix){in->ranks, in->domains, in->few_start, in->few_col, in->few_value};
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
    compress(in);
    sum_nodes(in);
    in->input = (plan_input){.requests = &in->requests,
                             .node_of_rank = in->node_of_rank,
                             .topology = &in->topology,
                             .per_node = (size_t)pick(&state, 0, kind->most_per_node)};
    keep_largest(in);
    return rc;
}

/* ---- the whole matrix ---- */

static void measure(struct instance *in)
{
    for (size_t i = 0; i < in->ranks; i++) {
        for (size_t k = 0; k < in->ranks; k++) {
            size_t n = in->node_of_rank[i], m = in->node_of_rank[k];
            double between = in->flat ? 2.0 : in->hops[n * in->nodes + m];
            in->distance[i][k] = i == k ? 0.0 : n == m ? 1.0 : between;
        }
    }
}

static void multiply(struct instance *in)
{
    measure(in);
    for (size_t j = 0; j < in->domains; j++) {
        for (size_t i = 0; i < in->ranks; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < in->ranks; k++)
                sum += in->distance[i][k] * (double)in->bytes[k][j];
            in->whole[j * in->ranks + i] = sum;
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

static int solve_whole(const struct instance *in, double *total)
{
    static size_t row[MAX_DOMAINS];
    lap_problem problem = {.rows = in->ranks,
                           .cols = in->domains,
                           .cost = in->whole,
                           .group = in->input.per_node > 0 ? in->node_of_rank : NULL,
                           .groups = in->nodes,
                           .group_capacity = in->input.per_node};
    lap_solution solution = {.row_of_col = row};
    int rc = lap_jv(&problem, &solution);
    *total = solution.total;
    return rc;
}

/* ---- checks ---- */

static bool complain(const struct kind *kind, uint64_t seed, const char *what)
{
    printf("# %s: %s --kind='%s' --seed=%" PRIu64 " --instances=1\n", what, tool, kind->name, seed);
    return false;
}

static bool is_allowed(const struct instance *in, const size_t *node_of_domain)
{
    size_t load[MAX_NODES] = {0};
    for (size_t j = 0; j < in->domains; j++) {
        size_t n = node_of_domain[j];
        if (n >= in->nodes || ++load[n] > in->ranks_on_node[n] ||
            (in->input.per_node > 0 && load[n] > in->input.per_node))
            return false;
    }
    return true;
}

static bool no_rank_twice(const struct instance *in)
{
    bool taken[MAX_RANKS] = {false};
    for (size_t j = 0; j < in->domains; j++) {
        size_t rank = in->rank_of_domain[j];
        if (rank >= in->ranks || taken[rank])
            return false;
        taken[rank] = true;
    }
    return true;
}

static const char *check_ranks(struct instance *in, const lap_solver *solver)
{
    double least = 0.0, bound = 0.0, sum = 0.0;
    multiply(in);
    int expected = solve_whole(in, &least);
    int rc = plan_least_hop_bytes(&in->input, solver, in->rank_of_domain, &bound);
    if (expected == LAP_INFEASIBLE || rc != 0)
        return expected == LAP_INFEASIBLE && rc < 0 ? NULL : "feasible";
    for (size_t j = 0; j < in->domains; j++) {
        if (in->rank_of_domain[j] >= in->ranks)
            return "no such rank";
        in->node_of_domain[j] = in->node_of_rank[in->rank_of_domain[j]];
        sum += in->whole[j * in->ranks + in->rank_of_domain[j]];
    }
    if (!no_rank_twice(in) || !is_allowed(in, in->node_of_domain))
        return "not allowed";
    return sum != least ? "not the least" : bound != least ? "wrong bound" : NULL;
}

/* The two steps alone: their total is the least over all choices of nodes. */
static const char *check_steps(struct instance *in, const lap_solver *solver)
{
    double least = 0.0, hop_bytes = 0.0;
    struct held held = held_bytes(&in->input);
    struct costs costs;
    struct node_proof proof;
    favour_nodes(in);
    int expected = solve_whole(in, &least);
    int rc = costs_init(&costs, &in->input, &held);
    if (rc == 0)
        rc = assign_in_two_steps(&costs, in->input.requests, solver, in->rank_of_domain, &proof);
    costs_release(&costs);
    if (expected == LAP_INFEASIBLE || rc != 0)
        return expected == LAP_INFEASIBLE && rc < 0 ? NULL : "steps: feasible";
    for (size_t j = 0; j < in->domains; j++)
        in->node_of_domain[j] = in->node_of_rank[in->rank_of_domain[j]];
    if (!no_rank_twice(in) || !is_allowed(in, in->node_of_domain))
        return "steps: not allowed";
    rc = plan_hop_bytes(&in->input, in->rank_of_domain, &hop_bytes);
    return rc != 0 || hop_bytes < proof.total ? "steps: below the bound"
           : proof.total != least             ? "steps: wrong bound"
                                              : NULL;
}

/* Domains to ranks at once, also where the two steps would do, with nothing excluded. */
static const char *check_at_once(struct instance *in, const lap_solver *solver)
{
    double least = 0.0, total = 0.0, hop_bytes = 0.0;
    struct held held = held_bytes(&in->input);
    struct costs costs;
    struct node_proof proof;
    multiply(in);
    int expected = solve_whole(in, &least);
    int rc = costs_init(&costs, &in->input, &held);
    if (rc == 0)
        rc = choose_nodes(&costs, in->node_of_domain, &proof);
    if (rc == 0)
        rc = choose_ranks(&costs, &in->input, solver, &proof, INFINITY, in->rank_of_domain, &total);
    costs_release(&costs);
    if (expected == LAP_INFEASIBLE || rc != 0)
        return expected == LAP_INFEASIBLE && rc < 0 ? NULL : "at once: feasible";
    for (size_t j = 0; j < in->domains; j++)
        in->node_of_domain[j] = in->node_of_rank[in->rank_of_domain[j]];
    if (!no_rank_twice(in) || !is_allowed(in, in->node_of_domain))
        return "at once: not allowed";
    rc = plan_hop_bytes(&in->input, in->rank_of_domain, &hop_bytes);
    return rc != 0 || hop_bytes != least || total != least ? "at once: not the least" : NULL;
}

/* Each strategy by all entries and by the largest: both answers cost the same. */
static const char *check_largest(struct instance *in, const lap_solver *solver)
{
    plan_input few = in->input;
    few.requests = &in->few;
    few.node_bytes = &in->of_nodes;
    few.node_blocks = &in->blocks_of_nodes;
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++) {
        size_t other[MAX_DOMAINS];
        plan_report by_all, by_few, told;
        int expected = s->assign(&in->input, solver, in->rank_of_domain);
        int rc = s->assign(&few, solver, other);
        if (rc != 0 || expected != 0)
            return rc == expected ? NULL : "largest entries: feasible";
        if (plan_assess(&in->input, in->rank_of_domain, &by_all) != 0 ||
            plan_assess(&in->input, other, &by_few) != 0 || plan_assess(&few, other, &told) != 0)
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

static bool check_instance(struct instance *in, const struct kind *kind, uint64_t seed)
{
    size_t solvers = 0;
    while (lap_solvers[solvers].name != NULL)
        solvers++;
    const lap_solver *solver = &lap_solvers[seed % 2 == 0 ? 0 : seed / 2 % solvers];
    const char *fault = check_ranks(in, solver);
    if (fault == NULL)
        fault = check_steps(in, solver);
    if (fault == NULL)
        fault = check_at_once(in, solver);
    if (fault == NULL)
        fault = check_largest(in, solver);
    return fault == NULL || complain(kind, seed, fault);
}

/* ---- the command ---- */

static bool check_kind(struct instance *in, const struct kind *kind, uint64_t seed, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        if (make_instance(in, kind, seed + k) != 0)
            return complain(kind, seed + k, "cannot be made");
        if (!check_instance(in, kind, seed + k))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = read_options(
        argc, argv, 240, "Plans for random ranks, and compares with the whole problem.");
    struct instance *in = calloc(1, sizeof *in);
    int number = 0, failed = in == NULL;
    tool = argv[0];
    uint64_t each =
        options.kind != NULL ? options.instances : (options.instances + KINDS - 1) / KINDS;
    for (int k = 0; k < KINDS && in != NULL; k++) {
        if (options.kind != NULL && strcmp(options.kind, kinds[k].name) != 0)
            continue;
        bool good = check_kind(in, &kinds[k], options.seed, each);
        printf("%sok %d - %s: %" PRIu64 " instances\n", good ? "" : "not ", ++number, kinds[k].name,
               each);
        failed += !good;
    }
    printf("1..%d\n", number);
    if (in != NULL)
        topo_release(&in->topology);
    free(in);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
