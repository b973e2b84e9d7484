/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit and property tests of the assignment of file domains to ranks, against a model
 * that knows the hops between all ranks and tries every assignment, or solves the whole problem. */
#include "collective/parameters.h"
#include "lap/lap.h"
#include "plan/plan.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "edges.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MAX_RANKS = 200, MAX_DOMAINS = 100, MAX_NODES = 160, FEW_RANKS = 40, FEW_DOMAINS = 20 };

/* What one rank or node has of each domain. */
typedef int64_t domain_row[MAX_DOMAINS];

/* An input with its memory, and the tables of the model. */
struct scene {
    plan_input input;
    size_t ranks, domains, nodes;
    domain_row bytes[MAX_RANKS], blocks[MAX_RANKS];
    uint16_t hops_of_nodes[MAX_NODES * MAX_NODES];
    size_t node_of_rank[MAX_RANKS];
    size_t parent[2 * MAX_NODES], width[2 * MAX_NODES];

    topo topology;
    matrix requests, blocks_of_ranks, node_bytes, node_blocks;
};

/* The tree is the scene's own. */
static void release_topology(struct scene *s)
{
    s->topology.tree = (topo_tree){0};
    topo_release(&s->topology);
}

/* An empty one, in place of the last. */
static struct scene *new_scene(size_t ranks, size_t domains, size_t nodes)
{
    static struct scene stage;
    struct scene *s = &stage;
    matrix *const made[] = {&s->requests, &s->blocks_of_ranks, &s->node_bytes, &s->node_blocks};
    for (size_t k = 0; k < LENGTH(made); k++)
        matrix_release(made[k]);
    release_topology(s);
    memset(s, 0, sizeof *s);
    s->ranks = ranks;
    s->domains = domains;
    s->nodes = nodes;
    return s;
}

/* Makes the input; `routed`: hops come from hops_of_nodes. */
static struct scene *finish(struct scene *s, bool routed)
{
    for (size_t i = 0; i < s->ranks; i++)
        for (size_t j = 0; j < s->domains; j++)
            s->blocks[i][j] = s->bytes[i][j] != 0;
    matrix_of_table(&s->requests, s->ranks, s->domains, s->bytes[0], MAX_DOMAINS);
    release_topology(s);
    topo_flat(&s->topology, s->nodes);
    if (routed)
        ck_assert_int_eq(topo_from_hops(&s->topology, s->nodes, s->hops_of_nodes), 0);
    s->input.requests = &s->requests;
    s->input.node_of_rank = s->node_of_rank;
    s->input.topology = &s->topology;
    return s;
}

/* Any hops, or those of a tree of random leaves; a shortcut goes one way only. */
static void draw_hops(struct scene *s, uint64_t *state)
{
    size_t leaf[MAX_NODES];
    bool any = pick(state, 0, 1), shortcut = pick(state, 0, 2) == 0;
    for (size_t n = 0; n < s->nodes; n++)
        leaf[n] = (size_t)pick(state, 0, (int64_t)s->nodes / 4);
    for (size_t k = 0; k < s->nodes * s->nodes; k++) {
        size_t from = leaf[k / s->nodes], to = leaf[k % s->nodes];
        uint16_t way = from == to ? 2 : from % 3 == to % 3 ? 4 : 6;
        s->hops_of_nodes[k] = any ? (uint16_t)pick(state, 1, 6) : way;
    }
    if (shortcut)
        s->hops_of_nodes[pick(state, 0, (int64_t)(s->nodes * s->nodes) - 1)] = 1;
}

enum pattern { SPARSE, BLOCKS, CROWD, EQUAL, MIXED, PATTERNS };

static int64_t draw_bytes(const struct scene *s, enum pattern pattern, int64_t largest, size_t i,
                          size_t j, uint64_t *state)
{
    size_t own = i * s->domains / s->ranks, apart = own > j ? own - j : j - own;
    switch (pattern) {
    case SPARSE: return pick(state, 0, 9) == 0 ? pick(state, 1, 100) : 0;
    case BLOCKS: return apart <= 2 ? pick(state, 0, 3) : 0;
    case CROWD: return i < s->ranks / 8 + 1 ? pick(state, 1, 1000) : pick(state, -20, 3) > 0;
    case EQUAL: return 4;
    default: return pick(state, 0, 2) ? pick(state, 0, largest) : 0;
    }
}

/* Ranks in order on their nodes or anywhere. Sums of the model are exact. */
static struct scene *draw_scene(uint64_t *state, int64_t ranks, int64_t domains, int64_t nodes)
{
    struct scene *s = new_scene((size_t)ranks, (size_t)domains, (size_t)nodes);
    s->input.per_node = (size_t)pick(state, 0, 3);
    int64_t most = ranks > FEW_RANKS ? 1 << 26 : INT64_C(1) << 38;
    int64_t largest = (int64_t[]){5, 1000000, most}[pick(state, 0, 2)];
    bool in_order = pick(state, 0, 1);
    enum pattern pattern = (enum pattern)pick(state, 0, PATTERNS - 1);
    for (size_t i = 0; i < s->ranks; i++) {
        size_t any = (size_t)pick(state, 0, nodes - 1);
        s->node_of_rank[i] = in_order ? i * s->nodes / s->ranks : any;
        for (size_t j = 0; j < s->domains; j++)
            s->bytes[i][j] = draw_bytes(s, pattern, largest, i, j, state);
    }
    draw_hops(s, state);
    return finish(s, pick(state, 0, 1));
}

static struct scene *random_scene(uint64_t seed, int64_t most_ranks, int64_t most_domains)
{
    uint64_t state = seed;
    int64_t ranks = pick(&state, 1, most_ranks);
    int64_t domains = pick(&state, 0, ranks < most_domains ? ranks : most_domains);
    return draw_scene(&state, ranks, domains,
                      pick(&state, 1, ranks < MAX_NODES ? ranks : MAX_NODES));
}

/* ---- what a scene can have besides ---- */

/* Nodes under a few switches under one more. */
static void grow_tree(struct scene *s, uint64_t seed)
{
    uint64_t state = seed + 77;
    size_t switches = (size_t)pick(&state, 1, 3), root = s->nodes + switches;
    int wide = (int)pick(&state, 1, 3);
    for (size_t v = 0; v <= root; v++) {
        s->parent[v] = v < s->nodes ? s->nodes + (size_t)pick(&state, 0, (int64_t)switches) : root;
        s->width[v] = (size_t)pick(&state, 1, wide);
    }
    if (pick(&state, 0, 3))
        s->topology.tree = (topo_tree){root + 1, s->parent, s->width};
}

static void sum_nodes(const struct scene *s, const domain_row *of_ranks, matrix *sums)
{
    matrix by_rank = {0};
    matrix_of_table(&by_rank, s->ranks, s->domains, of_ranks[0], MAX_DOMAINS);
    matrix_release(sums);
    ck_assert_int_eq(matrix_sum_rows(sums, &by_rank, s->node_of_rank, s->nodes), 0);
    matrix_release(&by_rank);
}

/* Lets the plan know how many blocks there are. */
static void count_blocks(struct scene *s)
{
    matrix_of_table(&s->blocks_of_ranks, s->ranks, s->domains, s->blocks[0], MAX_DOMAINS);
    s->input.blocks = &s->blocks_of_ranks;
}

/* In place of all entries, those that are among the `most` largest of `held` (bytes or blocks) of
 * each node and domain, and sums. */
static void keep_largest(struct scene *s, const domain_row *held, size_t most)
{
    domain_row kept[MAX_RANKS];
    sum_nodes(s, s->bytes, &s->node_bytes);
    sum_nodes(s, s->blocks, &s->node_blocks);
    memcpy(kept, held, sizeof kept);
    keep_largest_of_table(kept[0], MAX_DOMAINS, s->domains, s->node_of_rank, s->ranks, most);
    for (size_t i = 0; i < s->ranks; i++) {
        for (size_t j = 0; j < s->domains; j++) {
            kept[i][j] = kept[i][j] != 0 ? s->bytes[i][j] : 0;
            s->blocks[i][j] = kept[i][j] != 0 ? s->blocks[i][j] : 0;
        }
    }
    matrix_of_table(&s->requests, s->ranks, s->domains, kept[0], MAX_DOMAINS);
    s->input.node_bytes = &s->node_bytes;
    s->input.node_blocks = &s->node_blocks;
}

/* As many as a node can serve. */
static void keep_enough(struct scene *s, const domain_row *held)
{
    keep_largest(s, held, s->input.per_node > 0 ? s->input.per_node : s->domains);
}

/* ---- the model ---- */

static double model_hops(const struct scene *s, size_t from, size_t to)
{
    size_t n = s->node_of_rank[from], m = s->node_of_rank[to];
    double between = s->topology.places > 0 ? s->hops_of_nodes[n * s->nodes + m] : 2.0;
    return from == to ? 0.0 : n == m ? 1.0 : between;
}

static double model_workload(const struct scene *s, size_t rank, size_t domain)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->ranks; k++)
        sum += model_hops(s, rank, k) * (double)s->bytes[k][domain];
    return sum;
}

static double model_hop_bytes(const struct scene *s, const size_t *rank_of_domain)
{
    double sum = 0.0;
    for (size_t j = 0; j < s->domains; j++)
        sum += model_workload(s, rank_of_domain[j], j);
    return sum;
}

/* Bytes from one node to another go up through v where only the first is below v, and down where
 * only the other one is. Without a tree each node is below itself. */
static bool model_is_below(const struct scene *s, size_t node, size_t v)
{
    while (s->topology.tree.vertices > 0 && node != v && s->parent[node] != node)
        node = s->parent[node];
    return node == v;
}

static bool model_is_way(const struct scene *s, size_t from, size_t to, size_t v, bool up)
{
    bool starts = model_is_below(s, from, v), ends = model_is_below(s, to, v);
    return starts != ends && starts == up;
}

static double model_load(const struct scene *s, const size_t *rank_of_domain, size_t v, bool up)
{
    double sum = 0.0;
    for (size_t j = 0; j < s->domains; j++)
        for (size_t k = 0, to = s->node_of_rank[rank_of_domain[j]]; k < s->ranks; k++)
            sum += model_is_way(s, s->node_of_rank[k], to, v, up) ? (double)s->bytes[k][j] : 0.0;
    return sum;
}

static double model_most(const struct scene *s, const size_t *rank_of_domain)
{
    double most = 0.0;
    size_t links = s->topology.tree.vertices > 0 ? s->topology.tree.vertices - 1 : s->nodes;
    for (size_t v = 0; v < links; v++) {
        double cables = s->topology.tree.vertices > 0 ? (double)s->width[v] : 1.0;
        most = fmax(most, model_load(s, rank_of_domain, v, true) / cables);
        most = fmax(most, model_load(s, rank_of_domain, v, false) / cables);
    }
    return most;
}

static bool model_allows(const struct scene *s, const size_t *rank_of_domain)
{
    size_t taken[MAX_RANKS] = {0}, load[MAX_NODES] = {0};
    for (size_t j = 0; j < s->domains; j++) {
        size_t rank = rank_of_domain[j];
        if (rank >= s->ranks || taken[rank]++ > 0 ||
            (load[s->node_of_rank[rank]]++ >= s->input.per_node && s->input.per_node > 0))
            return false;
    }
    return true;
}

/* Counts through all assignments, from that of all domains to rank 0. */
static bool model_count_up(const struct scene *s, size_t *rank_of_domain)
{
    size_t j = 0;
    while (j < s->domains && ++rank_of_domain[j] == s->ranks)
        rank_of_domain[j++] = 0;
    return j < s->domains;
}

/* The least hop-bytes; INFINITY if nothing is allowed. */
static double model_least(const struct scene *s)
{
    size_t tried[MAX_DOMAINS] = {0};
    double least = INFINITY;
    do
        if (model_allows(s, tried))
            least = fmin(least, model_hop_bytes(s, tried));
    while (model_count_up(s, tried));
    return least;
}

static double model_best(const struct scene *s, size_t node, size_t domain)
{
    double best = INFINITY;
    for (size_t rank = 0; rank < s->ranks; rank++)
        if (s->node_of_rank[rank] == node)
            best = fmin(best, model_workload(s, rank, domain));
    return best;
}

/* As though each domain had the best rank of its node. */
static double model_relaxed(const struct scene *s, const size_t *rank_of_domain)
{
    double sum = 0.0;
    for (size_t j = 0; j < s->domains; j++)
        sum += model_best(s, s->node_of_rank[rank_of_domain[j]], j);
    return sum;
}

/* The least of it, by the assignment problem over all ranks and domains, in which a node has as
 * many ranks as it may serve domains; INFINITY if nothing is allowed. */
static double model_least_relaxed(const struct scene *s)
{
    static double cost[MAX_RANKS * MAX_DOMAINS];
    static size_t row[MAX_DOMAINS];
    lap_problem problem = {.rows = s->ranks, .cols = s->domains, .cost = cost};
    lap_solution solution = {.row_of_col = row};
    for (size_t k = 0; k < s->nodes * s->domains; k++) {
        size_t n = k / s->domains, j = k % s->domains, served = 0;
        double best = model_best(s, n, j);
        for (size_t i = 0; i < s->ranks; i++)
            if (s->node_of_rank[i] == n)
                cost[j * s->ranks + i] =
                    served++ < s->input.per_node || s->input.per_node == 0 ? best : INFINITY;
    }
    return lap_jv(&problem, &solution) == 0 ? solution.total : INFINITY;
}

static bool model_has_nodes_of(const struct scene *s, const size_t *tried, const size_t *rank)
{
    for (size_t j = 0; j < s->domains; j++)
        if (s->node_of_rank[tried[j]] != s->node_of_rank[rank[j]])
            return false;
    return true;
}

/* Whether other nodes would cost less as though each domain had the best rank of its node, or other
 * ranks of the same nodes. */
static bool model_can_step(const struct scene *s, const size_t *rank_of_domain)
{
    size_t tried[MAX_DOMAINS] = {0};
    double relaxed = model_relaxed(s, rank_of_domain);
    double hop_bytes = model_hop_bytes(s, rank_of_domain);
    do {
        if (model_allows(s, tried) &&
            (model_relaxed(s, tried) < relaxed || (model_has_nodes_of(s, tried, rank_of_domain) &&
                                                   model_hop_bytes(s, tried) < hop_bytes)))
            return true;
    } while (model_count_up(s, tried));
    return false;
}

static int assign(const struct scene *s, const char *strategy, size_t *rank_of_domain)
{
    return plan_find_strategy(strategy)->assign(&s->input, rank_of_domain);
}

/* ---- the worked example of the TATP paper, section 4, with its errata mended ---- */

static struct scene *worked_example(void)
{
    static const int64_t bytes[6][3] = {{3, 1, 0}, {1, 3, 0}, {4, 0, 0},
                                        {0, 0, 4}, {0, 4, 0}, {0, 0, 4}};
    static const uint16_t hops[9] = {0, 2, 4, 2, 0, 4, 4, 4, 0};
    struct scene *s = new_scene(6, 3, 3);
    memcpy(s->hops_of_nodes, hops, sizeof hops);
    for (size_t i = 0; i < 6; i++) {
        s->node_of_rank[i] = i / 2;
        memcpy(s->bytes[i], bytes[i], sizeof bytes[i]);
    }
    return finish(s, true);
}

/* Nodes 0 and 1 are under one switch, node 2 is under another. In one direction the load is the
 * same for the default, the paper's answer and the best. */
START_TEST(worked_example_answers)
{
    static const struct {
        const char *name, *strategy;
        size_t per_node, rank[3];
        plan_report report;
    } answers[] = {
        {"the least", "tatp", 0, {2, 4, 3}, {40, 4 + 4 + 4, 8}},
        /* P2 and P4 would leave the third domain to the first node: 8 + 16 + 24 */
        {"one domain on each node", "tatp", 1, {0, 4, 3}, {9 + 16 + 16, 4 + 4 + 4, 4}},
        {"the default", "otp", 0, {0, 2, 4}, {53, 4 + 8 + 4, 8}},
        {"not the best, as the paper prints it", NULL, 0, {2, 0, 3}, {43, 4 + 4 + 4, 8}},
    };
    size_t parent[] = {3, 3, 4, 5, 5, 5}, width[] = {1, 1, 1, 1, 1, 1}, rank[3];
    for (size_t k = 0; k < LENGTH(answers); k++) {
        const char *name = answers[k].name;
        struct scene *s = worked_example();
        plan_report report;
        s->topology.tree = (topo_tree){6, parent, width};
        s->input.per_node = answers[k].per_node;
        if (answers[k].strategy != NULL) {
            ck_assert_msg(assign(s, answers[k].strategy, rank) == 0, "%s", name);
            ck_assert_msg(memcmp(rank, answers[k].rank, sizeof rank) == 0, "%s", name);
        }
        ck_assert_msg(plan_assess(&s->input, answers[k].rank, &report) == 0, "%s", name);
        ck_assert_msg(memcmp(&report, &answers[k].report, sizeof report) == 0, "%s", name);
    }
}
END_TEST

/* ---- assessment ---- */

#define TELL "seed %llu", (unsigned long long)seed

/* Bytes of a rank that the plan knows only as a part of the node's. */
static double model_unknown(const struct scene *s, size_t rank, size_t domain)
{
    return (double)(s->bytes[rank][domain] - matrix_get(&s->requests, rank, domain));
}

static void check_workload(const struct scene *s, uint64_t seed)
{
    static double workload[MAX_DOMAINS * MAX_RANKS];
    ck_assert_msg(plan_workload(&s->input, workload) == 0, TELL);
    for (size_t j = 0; j < s->domains; j++)
        for (size_t i = 0; i < s->ranks; i++)
            ck_assert_msg(workload[j * s->ranks + i] ==
                              model_workload(s, i, j) + model_unknown(s, i, j),
                          TELL);
}

static void check_report(const struct scene *s, const size_t *rank, uint64_t seed)
{
    plan_report report;
    double shuffle = 0.0;
    int64_t crossing = 0;
    for (size_t j = 0; j < s->domains; j++) {
        size_t node = s->node_of_rank[rank[j]];
        shuffle += model_workload(s, rank[j], j) + model_unknown(s, rank[j], j);
        for (size_t k = 0; k < s->ranks; k++)
            crossing += s->node_of_rank[k] != node ? s->bytes[k][j] : 0;
    }
    ck_assert_msg(plan_assess(&s->input, rank, &report) == 0, TELL);
    ck_assert_msg(report.hop_bytes == shuffle, TELL);
    ck_assert_msg(report.crossing_bytes == crossing, TELL);
    ck_assert_msg(report.max_link_bytes == model_most(s, rank), TELL);
}

static void check_loads(const struct scene *s, const size_t *rank, uint64_t seed)
{
    size_t tree = s->topology.tree.vertices;
    plan_loads loads;
    ck_assert_msg(plan_load_links(&s->input, rank, &loads) == 0, TELL);
    ck_assert_msg(loads.vertices == (tree > 0 ? tree : s->nodes + 1), TELL);
    for (size_t v = 0; v < loads.vertices; v++) {
        ck_assert_msg(loads.up[v] == model_load(s, rank, v, true), TELL);
        ck_assert_msg(loads.down[v] == model_load(s, rank, v, false), TELL);
    }
    plan_release_loads(&loads);
    ck_assert_ptr_null(loads.up);
}

START_TEST(assessment)
{
    for_random_seeds (seed, 1200) {
        struct scene *s = random_scene(seed, FEW_RANKS, FEW_DOMAINS);
        uint64_t state = seed + 1000;
        size_t rank[MAX_DOMAINS];
        for (size_t j = 0; j < s->domains; j++)
            rank[j] = (size_t)pick(&state, 0, (int64_t)s->ranks - 1);
        if (seed % 2 == 0)
            grow_tree(s, seed);
        if (seed % 3 == 2) /* however few */
            keep_largest(s, s->bytes, (size_t)pick(&state, 0, 3));
        check_workload(s, seed);
        check_report(s, rank, seed);
        check_loads(s, rank, seed);
    }
}
END_TEST

/* ---- tatp ---- */

/* With all entries, and with the largest entries. */
START_TEST(tatp_is_least)
{
    for_random_seeds (seed, 5000) {
        struct scene *s = random_scene(seed, 7, 4);
        size_t rank[MAX_DOMAINS] = {MAX_RANKS};
        double least = model_least(s);
        if (seed % 3 == 2)
            keep_enough(s, s->bytes);
        int rc = plan_least_hop_bytes(&s->input, rank);
        ck_assert_msg(rc == (isinf(least) ? -EINVAL : 0), TELL);
        if (rc != 0) {
            ck_assert_msg(rank[0] == MAX_RANKS, TELL);
            continue;
        }
        ck_assert_msg(model_allows(s, rank) && !model_can_step(s, rank), TELL);
        ck_assert_msg(s->input.per_node != 1 || model_hop_bytes(s, rank) == least, TELL);
        ck_assert_msg(plan_hop_bytes(&s->input, rank) == model_hop_bytes(s, rank), TELL);
    }
}
END_TEST

enum { STRATEGIES = 4 };

/* Of many ranks: nodes cost the least as though each domain had the best rank of its node, which it
 * has where nodes have one domain at most. By the largest entries each strategy's answer costs the
 * same, and all but otp's are told so. */
START_TEST(many_ranks)
{
    for_random_seeds (seed, 2000) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        static size_t by_all[STRATEGIES][MAX_DOMAINS], rank[MAX_DOMAINS];
        double least = model_least_relaxed(s);
        int expected[STRATEGIES], rc = plan_least_hop_bytes(&s->input, rank);
        ck_assert_msg(rc == (isinf(least) ? -EINVAL : 0), TELL);
        if (rc == 0) {
            ck_assert_msg(model_allows(s, rank) && model_relaxed(s, rank) == least, TELL);
            ck_assert_msg(s->input.per_node != 1 || model_hop_bytes(s, rank) == least, TELL);
        }
        for (int k = 0; k < STRATEGIES; k++)
            expected[k] = plan_strategies[k].assign(&s->input, by_all[k]);
        keep_enough(s, s->bytes);
        for (int k = 0; k < STRATEGIES; k++) {
            ck_assert_msg(plan_strategies[k].assign(&s->input, rank) == expected[k], TELL);
            if (expected[k] != 0)
                continue;
            double hop_bytes = model_hop_bytes(s, rank);
            ck_assert_msg(hop_bytes == model_hop_bytes(s, by_all[k]), TELL);
            double told = plan_hop_bytes(&s->input, rank);
            ck_assert_msg(told == hop_bytes || strcmp(plan_strategies[k].name, "otp") == 0, TELL);
        }
    }
}
END_TEST

/* ---- near the network ---- */

/* No move, of a domain that the rank accesses, would get nearer at the same cost. */
static void check_nearest(const struct scene *s, const size_t *rank, const unsigned char *nearness,
                          uint64_t seed)
{
    const matrix *saved = s->input.requests;
    for (size_t j = 0; j < s->domains; j++) {
        for (size_t r = 0; r < s->ranks; r++) {
            bool owns = false;
            for (size_t k = 0; k < s->domains; k++)
                owns = owns || rank[k] == r;
            bool better = !owns && nearness[r] > nearness[rank[j]] && matrix_get(saved, r, j) > 0 &&
                          s->node_of_rank[r] == s->node_of_rank[rank[j]] &&
                          matrix_get(saved, r, j) == matrix_get(saved, rank[j], j);
            ck_assert_msg(!better, TELL);
        }
    }
}

START_TEST(network_costs_nothing)
{
    for_random_seeds (seed, 1000) {
        struct scene *s = random_scene(seed, FEW_RANKS, FEW_DOMAINS);
        size_t before[MAX_DOMAINS], after[MAX_DOMAINS];
        unsigned char nearness[MAX_RANKS];
        uint64_t state = seed + 9;
        for (size_t r = 0; r < s->ranks; r++)
            nearness[r] = (unsigned char)pick(&state, 0, 3);
        if (assign(s, "tatp", before) != 0)
            continue;
        s->input.nearness = nearness;
        ck_assert_msg(assign(s, "tatp", after) == 0, TELL);
        ck_assert_msg(model_allows(s, after), TELL);
        ck_assert_msg(model_hop_bytes(s, after) == model_hop_bytes(s, before), TELL);
        for (size_t j = 0; j < s->domains; j++) {
            ck_assert_msg(after[j] == before[j] || nearness[after[j]] > nearness[before[j]], TELL);
            ck_assert_msg(s->node_of_rank[after[j]] == s->node_of_rank[before[j]], TELL);
        }
        check_nearest(s, after, nearness, seed);
    }
}
END_TEST

/* ---- latp and otp ---- */

static int64_t model_held(const struct scene *s, const domain_row *held,
                          const size_t *rank_of_domain)
{
    int64_t sum = 0;
    for (size_t j = 0; j < s->domains; j++)
        for (size_t k = 0, node = s->node_of_rank[rank_of_domain[j]]; k < s->ranks; k++)
            sum += s->node_of_rank[k] == node ? held[k][j] : 0;
    return sum;
}

/* -1 if nothing is allowed. */
static int64_t model_most_held(const struct scene *s, const domain_row *held)
{
    size_t tried[MAX_DOMAINS] = {0};
    int64_t most = -1;
    do {
        int64_t sum = model_allows(s, tried) ? model_held(s, held, tried) : -1;
        most = sum > most ? sum : most;
    } while (model_count_up(s, tried));
    return most;
}

static int64_t model_own(const struct scene *s, const domain_row *held,
                         const size_t *rank_of_domain)
{
    int64_t sum = 0;
    for (size_t j = 0; j < s->domains; j++)
        sum += held[rank_of_domain[j]][j];
    return sum;
}

/* The most that ranks can hold of their own domains, each of which stays on its node. */
static int64_t model_most_own(const struct scene *s, const domain_row *held,
                              const size_t *rank_of_domain)
{
    size_t tried[MAX_DOMAINS] = {0};
    int64_t most = -1;
    do {
        bool stays = model_allows(s, tried);
        for (size_t j = 0; j < s->domains; j++)
            stays = stays && s->node_of_rank[tried[j]] == s->node_of_rank[rank_of_domain[j]];
        int64_t own = stays ? model_own(s, held, tried) : -1;
        most = own > most ? own : most;
    } while (model_count_up(s, tried));
    return most;
}

/* The nodes, and then their ranks, hold the most that they can, within the limits: of bytes, of
 * entries, of blocks; and the same with the largest of these. */
START_TEST(latp_holds_most)
{
    for_random_seeds (seed, 1800) {
        struct scene *s = random_scene(seed, 7, 4);
        uint64_t state = seed + 3;
        size_t rank[MAX_DOMAINS] = {MAX_RANKS};
        domain_row held[MAX_RANKS];
        for (size_t i = 0; i < s->ranks; i++)
            for (size_t j = 0; j < s->domains; j++)
                s->blocks[i][j] *= seed % 3 == 2 ? pick(&state, 0, 4) : 1;
        memcpy(held, seed % 3 == 0 ? s->bytes : s->blocks, sizeof held);
        int64_t most = model_most_held(s, held);
        if (seed / 2 % 2 == 0)
            keep_enough(s, held);
        if (seed % 3 == 2)
            count_blocks(s);
        int rc = assign(s, seed % 3 == 0 ? "latp_volume" : "latp_count", rank);
        ck_assert_msg(rc == (most < 0 ? -EINVAL : 0), TELL);
        if (rc != 0) {
            ck_assert_msg(rank[0] == MAX_RANKS, TELL);
            continue;
        }
        ck_assert_msg(model_allows(s, rank) && model_held(s, held, rank) == most, TELL);
        if (seed % 3 != 1) /* without blocks, ranks of a node are chosen by bytes */
            ck_assert_msg(model_own(s, held, rank) == model_most_own(s, held, rank), TELL);
    }
}
END_TEST

/* The rank of this turn on the node of rank `first`: s->ranks if `first` is not the lowest one
 * there, or if there are not so many. */
static size_t model_turn(const struct scene *s, size_t first, size_t turn)
{
    size_t lower = 0;
    for (size_t i = 0; i < s->ranks; i++) {
        if (s->node_of_rank[i] != s->node_of_rank[first])
            continue;
        if (i < first)
            return s->ranks;
        if (lower++ == turn)
            return i;
    }
    return s->ranks;
}

/* The default as its description has it. Returns how many domains get a rank. */
static size_t model_otp(const struct scene *s, size_t *rank_of_domain)
{
    size_t given = 0, turns = s->input.per_node > 0 ? s->input.per_node : s->ranks;
    for (size_t turn = 0; turn < turns; turn++) {
        for (size_t first = 0; first < s->ranks && given < s->domains; first++) {
            size_t rank = model_turn(s, first, turn);
            if (rank < s->ranks)
                rank_of_domain[given++] = rank;
        }
    }
    return given;
}

START_TEST(otp_takes_turns)
{
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, FEW_RANKS, FEW_DOMAINS);
        size_t rank[MAX_DOMAINS] = {MAX_RANKS}, expected[MAX_DOMAINS];
        size_t given = model_otp(s, expected);
        int rc = assign(s, "otp", rank);
        ck_assert_msg(rc == (given < s->domains ? -EINVAL : 0), TELL);
        ck_assert_msg(rc == 0 ? memcmp(rank, expected, s->domains * sizeof rank[0]) == 0
                              : rank[0] == MAX_RANKS,
                      TELL);
    }
}
END_TEST

/* ---- unusable and extreme input ---- */

static const unsigned char example_nearness[6] = {0, 1, 2, 3, 2, 1};

/* The example with all that an input can have. */
static struct scene *equipped_example(void)
{
    struct scene *s = worked_example();
    keep_largest(s, s->bytes, 2);
    count_blocks(s);
    s->input.nearness = example_nearness;
    return s;
}

START_TEST(more_domains_than_ranks)
{
    size_t rank[7] = {70, 71, 72, 73, 74, 75, 76};
    struct scene *s = worked_example();
    s->requests.cols = 7; /* more than ranks */
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++)
        ck_assert_msg(assign(s, p->name, rank) == -EINVAL, "%s", p->name);
    ck_assert_uint_eq(rank[0], 70);
}
END_TEST

START_TEST(crossing_bytes_saturate)
{
    const size_t elsewhere[3] = {4, 0, 0};
    struct scene *s = worked_example();
    s->bytes[0][0] = s->bytes[1][0] = INT64_MAX;
    finish(s, true);
    ck_assert(plan_crossing_bytes(&s->input, elsewhere) == INT64_MAX);
}
END_TEST

/* ---- names, the even spread, memory ---- */

/* Values of the component's parameters are indices in these tables. */
START_TEST(strategies_by_name)
{
    const parameter_description *of = parameter_table;
    for (size_t k = 0; k <= PARAMETER_MOST_NAMES && plan_strategies[k].name != NULL; k++) {
        ck_assert_str_eq(of[PARAMETER_STRATEGY].names[k], plan_strategies[k].name);
        ck_assert_ptr_eq(plan_find_strategy(plan_strategies[k].name), &plan_strategies[k]);
        ck_assert_ptr_nonnull(plan_strategies[k].note);
    }
    ck_assert(plan_find_strategy("TATP") == NULL && plan_find_strategy("") == NULL &&
              plan_find_strategy(NULL) == NULL);
    for (enum parameter i = 0; i < PARAMETERS; i++) {
        int64_t value;
        ck_assert(of[i].initial == NULL || parameter_parse(i, of[i].initial, &value));
    }
}
END_TEST

START_TEST(even_spread)
{
    for_random_seeds (seed, 2000) {
        uint64_t state = seed;
        size_t ranks_on_node[5], ranks = 0, nodes = (size_t)pick(&state, 0, 5);
        for (size_t n = 0; n < nodes; n++)
            ranks += ranks_on_node[n] = (size_t)pick(&state, 0, 8);
        size_t domains = (size_t)pick(&state, 0, (int64_t)ranks), least = 0, capacity = 0;
        while (least == 0 || capacity < domains || least * nodes < domains) {
            capacity = 0;
            least++;
            for (size_t n = 0; n < nodes; n++)
                capacity += ranks_on_node[n] < least ? ranks_on_node[n] : least;
        }
        ck_assert_msg(plan_even_per_node(ranks_on_node, nodes, domains) == least, TELL);
    }
    /* More domains than ranks break the contract, yet must not go on for ever. */
    ck_assert_uint_ge(plan_even_per_node((size_t[]){2, 3}, 2, 9), 3);
}
END_TEST

/* Two domains on a node want one rank, so that domains are assigned to ranks at once. */
static struct scene *conflicting_example(void)
{
    struct scene *s = worked_example();
    s->bytes[2][0] = s->bytes[2][1] = s->bytes[2][2] = 100;
    return finish(s, true);
}

enum { CALLS = 1 + STRATEGIES };

/* A call sets the answer when it succeeds. */
static int make_call(struct scene *s, int number, size_t *answer)
{
    static const size_t rank[3] = {2, 4, 3};
    plan_report report;
    if (number > 0)
        return plan_strategies[number - 1].assign(&s->input, answer);
    int rc = plan_assess(&s->input, rank, &report);
    answer[0] = rc == 0 ? 0 : answer[0];
    return rc;
}

/* Each call fails wherever memory may be short, and writes nothing then. */
START_TEST(out_of_memory)
{
    struct scene *(*const example[])(void) = {worked_example, equipped_example,
                                              conflicting_example};
    for (int k = 0; k < CALLS * (int)LENGTH(example); k++) {
        bool failed = true;
        for (long nth = 0; failed; nth++) {
            struct scene *s = example[k / CALLS]();
            size_t answer[3] = {7, 8, 9};
            fail_allocation(nth);
            int rc = make_call(s, k % CALLS, answer);
            stop_failing();
            failed = allocations.failed;
            ck_assert_msg(allocations.live == 0, "call %d, allocation %ld", k % CALLS, nth);
            ck_assert_msg(rc == (failed ? -ENOMEM : 0), "call %d: %d", k % CALLS, rc);
            ck_assert(!failed || (answer[0] == 7 && answer[1] == 8 && answer[2] == 9));
            ck_assert_msg(nth < 400, "more allocations than there can be");
        }
    }
}
END_TEST

int main(void)
{
    return run_tests("plan", ONCE(assessment), ONCE(tatp_is_least), ONCE(many_ranks),
                     ONCE(network_costs_nothing), ONCE(latp_holds_most), ONCE(otp_takes_turns),
                     ONCE(worked_example_answers), ONCE(more_domains_than_ranks),
                     ONCE(crossing_bytes_saturate), ONCE(strategies_by_name), ONCE(even_spread),
                     ONCE(out_of_memory));
}
