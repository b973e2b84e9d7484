/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit and property tests of the assignment of file domains to ranks, against a model
 * that forms the whole p x p distance matrix and tries every assignment. */
#include "plan/congestion.h"
#include "plan/plan.h"
#include "topo/local.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MAX_RANKS = 40, MAX_DOMAINS = 20, MAX_NODES = 20 };

/* An input with its memory, and the dense matrices of the model. */
struct scene {
    plan_input input;
    size_t ranks, domains, nodes;
    int64_t bytes[MAX_RANKS][MAX_DOMAINS];
    double distance[MAX_RANKS][MAX_RANKS];
    double hops_of_nodes[MAX_NODES * MAX_NODES];
    size_t node_of_rank[MAX_RANKS];
    size_t place_of_node[MAX_NODES];
    uint16_t between[MAX_NODES * MAX_NODES];

    size_t parent[2 * MAX_NODES], width[2 * MAX_NODES];

    int64_t stored[MAX_NODES][MAX_DOMAINS]; /* on the storage servers of each node */
    matrix storage;

    matrix requests;
    topo topology;
    size_t row_start[MAX_RANKS + 1];
    size_t col[MAX_RANKS * MAX_DOMAINS];
    int64_t value[MAX_RANKS * MAX_DOMAINS];
};

static struct scene stage;

/* Compresses the dense matrices; `routed`: hops come from hops_of_nodes. */
static struct scene *finish(struct scene *s, int routed)
{
    size_t nnz = 0;
    for (size_t i = 0; i < s->ranks; i++) {
        s->row_start[i] = nnz;
        for (size_t j = 0; j < s->domains; j++) {
            if (s->bytes[i][j] != 0) {
                s->col[nnz] = j;
                s->value[nnz++] = s->bytes[i][j];
            }
        }
    }
    s->row_start[s->ranks] = nnz;
    for (size_t i = 0; i < s->ranks; i++) {
        for (size_t k = 0; k < s->ranks; k++) {
            size_t n = s->node_of_rank[i], m = s->node_of_rank[k];
            double between = routed ? s->hops_of_nodes[n * s->nodes + m] : 2.0;
            s->distance[i][k] = i == k ? 0.0 : n == m ? 1.0 : between;
        }
    }
    s->requests = (matrix){s->ranks, s->domains, s->row_start, s->col, s->value};
    for (size_t n = 0; n < s->nodes * s->nodes; n++) {
        s->place_of_node[n % s->nodes] = n % s->nodes;
        s->between[n] = (uint16_t)s->hops_of_nodes[n];
    }
    s->topology = (topo){.nodes = s->nodes,
                         .places = routed ? s->nodes : 0,
                         .place_of_node = s->place_of_node,
                         .between = s->between};
    s->input.requests = &s->requests;
    s->input.node_of_rank = s->node_of_rank;
    s->input.topology = &s->topology;
    return s;
}

static struct scene *random_scene(uint64_t seed, size_t most_ranks, size_t most_domains)
{
    uint64_t state = seed;
    struct scene *s = &stage;
    memset(s, 0, sizeof *s);
    s->ranks = (size_t)pick(&state, 1, (int64_t)most_ranks);
    s->domains =
        (size_t)pick(&state, 0, (int64_t)(s->ranks < most_domains ? s->ranks : most_domains));
    s->nodes = (size_t)pick(&state, 1, s->ranks < MAX_NODES ? (int64_t)s->ranks : MAX_NODES);
    s->input.per_node = (size_t)pick(&state, 0, 3);
    int64_t largest = pick(&state, 0, 1) ? 5 : 1000000;
    for (size_t i = 0; i < s->ranks; i++) {
        s->node_of_rank[i] = (size_t)pick(&state, 0, (int64_t)s->nodes - 1);
        for (size_t j = 0; j < s->domains; j++)
            s->bytes[i][j] = pick(&state, 0, 2) ? pick(&state, 0, largest) : 0;
    }
    for (size_t k = 0; k < s->nodes * s->nodes; k++)
        s->hops_of_nodes[k] = (double)pick(&state, 1, 6);
    return finish(s, (int)pick(&state, 0, 1));
}

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

/* ---- the model ---- */

static double model_shuffle(const struct scene *s, size_t rank, size_t domain)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->ranks; k++)
        sum += s->distance[rank][k] * (double)s->bytes[k][domain];
    return sum;
}

static double model_storage(const struct scene *s, size_t rank, size_t domain)
{
    double sum = 0.0;
    for (size_t n = 0, from = s->node_of_rank[rank]; n < s->nodes; n++) {
        double other = s->topology.places > 0 ? s->hops_of_nodes[from * s->nodes + n] : 2.0;
        sum += (n == from ? 1.0 : other) * (double)s->stored[n][domain];
    }
    return sum;
}

static double model_workload(const struct scene *s, size_t rank, size_t domain)
{
    return model_shuffle(s, rank, domain) +
           (double)s->input.storage_weight * model_storage(s, rank, domain);
}

static double model_hop_bytes(const struct scene *s, const size_t *rank_of_domain)
{
    double sum = 0.0;
    for (size_t j = 0; j < s->domains; j++)
        sum += model_workload(s, rank_of_domain[j], j);
    return sum;
}

static int model_allows(const struct scene *s, const size_t *rank_of_domain, size_t domains)
{
    size_t taken[MAX_RANKS] = {0}, load[MAX_NODES] = {0};
    for (size_t j = 0; j < domains; j++) {
        size_t rank = rank_of_domain[j];
        if (rank >= s->ranks || taken[rank]++ > 0 ||
            (load[s->node_of_rank[rank]]++ >= s->input.per_node && s->input.per_node > 0))
            return 0;
    }
    return 1;
}

/* The least hop-bytes over all assignments that begin with the first `domain` choices. */
static double model_least(const struct scene *s, size_t *rank_of_domain, size_t domain)
{
    double least = INFINITY;
    if (domain == s->domains)
        return model_hop_bytes(s, rank_of_domain);
    for (size_t rank = 0; rank < s->ranks; rank++) {
        rank_of_domain[domain] = rank;
        if (model_allows(s, rank_of_domain, domain + 1))
            least = fmin(least, model_least(s, rank_of_domain, domain + 1));
    }
    return least;
}

/* Bytes from rank k to the rank of a domain go up through v where only k is below v, and down where
 * only the other one is. */
static int model_is_below(const struct scene *s, size_t node, size_t v)
{
    while (node != v && s->parent[node] != node)
        node = s->parent[node];
    return node == v;
}

static double model_load(const struct scene *s, const size_t *rank_of_domain, size_t v, int up)
{
    double sum = 0.0;
    for (size_t j = 0; j < s->domains; j++) {
        for (size_t k = 0; k < s->ranks; k++) {
            size_t from = s->node_of_rank[k], to = s->node_of_rank[rank_of_domain[j]];
            int starts = s->topology.tree.vertices > 0 ? model_is_below(s, from, v) : from == v;
            int ends = s->topology.tree.vertices > 0 ? model_is_below(s, to, v) : to == v;
            sum += starts != ends && starts == up ? (double)s->bytes[k][j] : 0.0;
        }
    }
    return sum;
}

static double model_most(const struct scene *s, const size_t *rank_of_domain)
{
    double most = 0.0;
    size_t links = s->topology.tree.vertices > 0 ? s->topology.tree.vertices - 1 : s->nodes;
    for (size_t v = 0; v < links; v++) {
        double cables = s->topology.tree.vertices > 0 ? (double)s->width[v] : 1.0;
        most = fmax(most, model_load(s, rank_of_domain, v, 1) / cables);
        most = fmax(most, model_load(s, rank_of_domain, v, 0) / cables);
    }
    return most;
}

/* The least maximum load over all assignments that begin with the first `domain` choices, and the
 * least hop-bytes of those that have it. */
static void model_least_most(const struct scene *s, size_t *rank_of_domain, size_t domain,
                             double *most, double *hop_bytes)
{
    if (domain == s->domains) {
        double tried = model_most(s, rank_of_domain), bytes = model_hop_bytes(s, rank_of_domain);
        if (tried < *most || (tried == *most && bytes < *hop_bytes)) {
            *most = tried;
            *hop_bytes = bytes;
        }
        return;
    }
    for (size_t rank = 0; rank < s->ranks; rank++) {
        rank_of_domain[domain] = rank;
        if (model_allows(s, rank_of_domain, domain + 1))
            model_least_most(s, rank_of_domain, domain + 1, most, hop_bytes);
    }
}

static int assign(const struct scene *s, const char *strategy, size_t *rank_of_domain)
{
    return plan_find_strategy(strategy)->assign(&s->input, lap_find_solver("jv"), rank_of_domain);
}

/* ---- the worked example of the TATP paper, section 4, with its errata mended ---- */

static struct scene *worked_example(void)
{
    static const int64_t bytes[6][3] = {{3, 1, 0}, {1, 3, 0}, {4, 0, 0},
                                        {0, 0, 4}, {0, 4, 0}, {0, 0, 4}};
    static const double hops[9] = {0, 2, 4, 2, 0, 4, 4, 4, 0};
    struct scene *s = &stage;
    memset(s, 0, sizeof *s);
    s->ranks = 6;
    s->domains = 3;
    s->nodes = 3;
    memcpy(s->hops_of_nodes, hops, sizeof hops);
    for (size_t i = 0; i < 6; i++) {
        s->node_of_rank[i] = i / 2;
        memcpy(s->bytes[i], bytes[i], sizeof bytes[i]);
    }
    return finish(s, 1);
}

START_TEST(worked_example_workload)
{
    static const double expected[3][6] = {
        {9, 11, 8, 12, 32, 32}, {19, 17, 24, 24, 16, 20}, {24, 24, 20, 16, 20, 16}};
    struct scene *s = worked_example();
    double workload[3][6];
    ck_assert_int_eq(plan_workload(&s->input, &workload[0][0]), 0);
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; i < 6; i++)
            ck_assert_double_eq(workload[j][i], expected[j][i]);
}
END_TEST

START_TEST(worked_example_least)
{
    struct scene *s = worked_example();
    size_t rank[3];
    double hop_bytes;
    ck_assert_int_eq(assign(s, "tatp", rank), 0);
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), 0);
    ck_assert_double_eq(hop_bytes, 40);
    ck_assert_uint_eq(rank[0], 2);
    ck_assert_uint_eq(rank[1], 4);
    ck_assert(rank[2] == 3 || rank[2] == 5);
    ck_assert_int_eq(plan_crossing_bytes(&s->input, rank), 4 + 4 + 4);
}
END_TEST

/* One domain on each node: P2 and P4 would leave the third domain to the first node
 * (8 + 16 + 24); P0, P4 and P3 cost 9 + 16 + 16. */
START_TEST(worked_example_one_per_node)
{
    struct scene *s = worked_example();
    size_t rank[3];
    double hop_bytes;
    s->input.per_node = 1;
    ck_assert_int_eq(assign(s, "tatp", rank), 0);
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), 0);
    ck_assert_double_eq(hop_bytes, 41);
    ck_assert_uint_eq(rank[0], 0);
    ck_assert_uint_eq(rank[1], 4);
    ck_assert_uint_eq(rank[2], 3);
}
END_TEST

START_TEST(worked_example_default)
{
    struct scene *s = worked_example();
    size_t rank[3];
    double hop_bytes;
    ck_assert_int_eq(assign(s, "otp", rank), 0);
    ck_assert_uint_eq(rank[0], 0);
    ck_assert_uint_eq(rank[1], 2);
    ck_assert_uint_eq(rank[2], 4);
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), 0);
    ck_assert_double_eq(hop_bytes, 53);
    ck_assert_int_eq(plan_crossing_bytes(&s->input, rank), 4 + 8 + 4);
}
END_TEST

/* The answer that the paper prints is not the best. */
START_TEST(worked_example_of_the_paper)
{
    struct scene *s = worked_example();
    const size_t rank[3] = {2, 0, 3};
    double hop_bytes;
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), 0);
    ck_assert_double_eq(hop_bytes, 43);
}
END_TEST

/* Nodes 0 and 1 under one switch, node 2 under another. In one direction the load is the same for
 * the default, the paper's answer and the best. */
START_TEST(worked_example_loads)
{
    static const size_t answers[3][3] = {{0, 2, 4}, {2, 0, 3}, {2, 4, 3}};
    size_t parent[] = {3, 3, 4, 5, 5, 5}, width[] = {1, 1, 1, 1, 1, 1};
    for (size_t k = 0; k < 3; k++) {
        struct scene *s = worked_example();
        plan_report report;
        s->topology.tree = (topo_tree){6, parent, width};
        ck_assert_int_eq(plan_assess(&s->input, answers[k], &report), 0);
        ck_assert_double_eq(report.max_link_bytes, 8);
    }
}
END_TEST

/* By the lowest ranks: four bytes go from n0 to n1 and back, and as many between n1 and n2. */
START_TEST(worked_example_links)
{
    static const size_t rank[3] = {0, 2, 4};
    static const double moved[6] = {4, 8, 4, 4, 4, 0};
    size_t parent[] = {3, 3, 4, 5, 5, 5}, width[] = {1, 1, 1, 1, 1, 1};
    for (int tree = 0; tree < 2; tree++) {
        struct scene *s = worked_example();
        plan_loads loads;
        if (tree)
            s->topology.tree = (topo_tree){6, parent, width};
        ck_assert_int_eq(plan_load_links(&s->input, rank, &loads), 0);
        ck_assert_uint_eq(loads.vertices, tree ? 6 : 4);
        for (size_t v = 0; v < loads.vertices; v++) {
            double expected = v == loads.vertices - 1 ? 0 : moved[v];
            ck_assert_double_eq(loads.up[v], expected);
            ck_assert_double_eq(loads.down[v], expected);
        }
        plan_release_loads(&loads);
        ck_assert_ptr_null(loads.up);
    }
}
END_TEST

/* ---- random scenes ---- */

#define TELL "seed %llu", (unsigned long long)seed

START_TEST(workload_is_the_product)
{
    static double workload[MAX_RANKS * MAX_DOMAINS];
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        ck_assert_int_eq(plan_workload(&s->input, workload), 0);
        for (size_t j = 0; j < s->domains; j++)
            for (size_t i = 0; i < s->ranks; i++)
                ck_assert_msg(workload[j * s->ranks + i] == model_workload(s, i, j), TELL);
    }
}
END_TEST

START_TEST(hop_bytes_and_crossing_bytes)
{
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        uint64_t state = seed + 1000;
        size_t rank[MAX_DOMAINS];
        double hop_bytes;
        int64_t crossing = 0;
        for (size_t j = 0; j < s->domains; j++) {
            rank[j] = (size_t)pick(&state, 0, (int64_t)s->ranks - 1);
            for (size_t k = 0; k < s->ranks; k++)
                crossing += s->node_of_rank[k] != s->node_of_rank[rank[j]] ? s->bytes[k][j] : 0;
        }
        ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), 0);
        ck_assert_msg(hop_bytes == model_hop_bytes(s, rank), TELL);
        ck_assert_msg(plan_crossing_bytes(&s->input, rank) == crossing, TELL);
    }
}
END_TEST

START_TEST(tatp_is_least)
{
    for_random_seeds (seed, 1000) {
        struct scene *s = random_scene(seed, 7, 4);
        size_t rank[MAX_DOMAINS], tried[MAX_DOMAINS];
        double least = model_least(s, tried, 0);
        int rc = assign(s, "tatp", rank);
        if (isinf(least)) {
            ck_assert_msg(rc == -EINVAL, TELL);
            continue;
        }
        ck_assert_msg(rc == 0, TELL);
        ck_assert_msg(model_allows(s, rank, s->domains), TELL);
        ck_assert_msg(model_hop_bytes(s, rank) == least, TELL);
    }
}
END_TEST

/* ---- distances inside nodes, and bytes to other nodes ---- */

struct surroundings {
    topo_level level[MAX_RANKS][MAX_RANKS];
    matrix savings, node_bytes;
};

/* What the bytes of all ranks of its node save on each rank. */
static void find_savings(struct scene *s, struct surroundings *around)
{
    matrix_builder savings = {.rows = s->ranks, .cols = s->domains};
    matrix_builder node_bytes = {.rows = s->nodes, .cols = s->domains};
    for (size_t k = 0; k < s->ranks; k++) {
        size_t n = s->node_of_rank[k];
        for (size_t j = 0; j < s->domains; j++) {
            int64_t bytes = s->bytes[k][j];
            ck_assert_int_eq(matrix_builder_add(&node_bytes, n, j, bytes), 0);
            for (size_t i = 0; i < s->ranks; i++) {
                int steps = i == k ? TOPO_STEPS : topo_level_saves(around->level[i][k]);
                if (s->node_of_rank[i] == n)
                    ck_assert_int_eq(matrix_builder_add(&savings, i, j, bytes * steps), 0);
            }
        }
    }
    ck_assert_int_eq(matrix_builder_finish(&savings, &around->savings), 0);
    ck_assert_int_eq(matrix_builder_finish(&node_bytes, &around->node_bytes), 0);
    matrix_builder_clear(&savings);
    matrix_builder_clear(&node_bytes);
    s->input.savings = &around->savings;
    s->input.node_bytes = &around->node_bytes;
}

/* Any levels, not only those of a tree. The model gets their distances, and the plan what they
 * save. */
static struct surroundings *surround(struct scene *s, uint64_t seed)
{
    static struct surroundings around;
    uint64_t state = seed + 5;
    for (size_t i = 0; i < s->ranks; i++) {
        for (size_t k = 0; k < i; k++) {
            topo_level level = (topo_level)pick(&state, 0, TOPO_LEVELS - 1);
            around.level[i][k] = around.level[k][i] = level;
            if (s->node_of_rank[i] == s->node_of_rank[k])
                s->distance[i][k] = s->distance[k][i] = topo_level_hops(level);
        }
    }
    find_savings(s, &around);
    return &around;
}

/* Bytes on storage servers, of any nodes: also of those without ranks. */
static void add_storage(struct scene *s, uint64_t seed)
{
    uint64_t state = seed + 11;
    matrix_builder builder = {.rows = s->nodes, .cols = s->domains};
    int64_t largest = pick(&state, 0, 1) ? 5 : 1000000;
    for (size_t n = 0; n < s->nodes; n++) {
        for (size_t j = 0; j < s->domains; j++) {
            s->stored[n][j] = pick(&state, 0, 2) ? 0 : pick(&state, 0, largest);
            ck_assert_int_eq(matrix_builder_add(&builder, n, j, s->stored[n][j]), 0);
        }
    }
    ck_assert_int_eq(matrix_builder_finish(&builder, &s->storage), 0);
    matrix_builder_clear(&builder);
    s->input.storage = &s->storage;
    s->input.storage_weight = pick(&state, 1, 3);
}

static void release_surroundings(struct surroundings *around)
{
    matrix_release(&around->savings);
    matrix_release(&around->node_bytes);
}

START_TEST(tatp_is_least_inside_nodes)
{
    for_random_seeds (seed, 1000) {
        struct scene *s = random_scene(seed, 7, 4);
        struct surroundings *around = surround(s, seed);
        size_t rank[MAX_DOMAINS], tried[MAX_DOMAINS];
        double least = model_least(s, tried, 0), hop_bytes;
        int rc = assign(s, "tatp", rank);
        if (isinf(least)) {
            ck_assert_msg(rc == -EINVAL, TELL);
        } else {
            ck_assert_msg(rc == 0, TELL);
            ck_assert_msg(model_allows(s, rank, s->domains), TELL);
            ck_assert_msg(model_hop_bytes(s, rank) == least, TELL);
            ck_assert_msg(plan_hop_bytes(&s->input, rank, &hop_bytes) == 0, TELL);
            ck_assert_msg(hop_bytes == least, TELL);
        }
        release_surroundings(around);
    }
}
END_TEST

START_TEST(tatp_is_least_with_storage)
{
    for_random_seeds (seed, 2000) {
        struct scene *s = random_scene(seed, 7, 4);
        struct surroundings *around = seed % 2 != 0 ? surround(s, seed) : NULL;
        size_t rank[MAX_DOMAINS], tried[MAX_DOMAINS];
        add_storage(s, seed);
        double least = model_least(s, tried, 0), bound;
        int rc = plan_least_hop_bytes(&s->input, lap_find_solver("jv"), rank, &bound);
        if (isinf(least)) {
            ck_assert_msg(rc == -EINVAL, TELL);
        } else {
            ck_assert_msg(rc == 0, TELL);
            ck_assert_msg(model_allows(s, rank, s->domains), TELL);
            ck_assert_msg(model_hop_bytes(s, rank) == least, TELL);
            ck_assert_msg(bound == least, TELL);
        }
        matrix_release(&s->storage);
        if (around != NULL)
            release_surroundings(around);
    }
}
END_TEST

/* Bytes go from the aggregator's node up, and down to that of the server. */
static void check_storage_loads(const struct scene *s, const size_t *rank, uint64_t seed)
{
    plan_loads loads;
    ck_assert_msg(plan_load_storage(&s->input, rank, &loads) == 0, TELL);
    for (size_t n = 0; n < s->nodes; n++) {
        double up = 0.0, down = 0.0;
        for (size_t j = 0; j < s->domains; j++)
            for (size_t m = 0; m < s->nodes; m++) {
                size_t owner = s->node_of_rank[rank[j]];
                up += owner == n && m != n ? (double)s->stored[m][j] : 0.0;
                down += owner != n && m == n ? (double)s->stored[m][j] : 0.0;
            }
        ck_assert_msg(loads.up[n] == up && loads.down[n] == down, TELL);
    }
    plan_release_loads(&loads);
}

/* Both sums are kept apart, whatever the weight. */
START_TEST(assessment_with_storage)
{
    static double workload[MAX_RANKS * MAX_DOMAINS];
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        uint64_t state = seed + 1000;
        size_t rank[MAX_DOMAINS];
        double shuffle = 0.0, storage = 0.0;
        int64_t crossing = 0;
        plan_report report, alone;
        for (size_t j = 0; j < s->domains; j++)
            rank[j] = (size_t)pick(&state, 0, (int64_t)s->ranks - 1);
        ck_assert_msg(plan_assess(&s->input, rank, &alone) == 0, TELL);
        ck_assert_msg(alone.storage_hop_bytes == 0.0 && alone.storage_crossing_bytes == 0, TELL);
        plan_loads none;
        ck_assert_msg(plan_load_storage(&s->input, rank, &none) == -EINVAL, TELL);
        add_storage(s, seed);
        for (size_t j = 0; j < s->domains; j++) {
            shuffle += model_shuffle(s, rank[j], j);
            storage += model_storage(s, rank[j], j);
            for (size_t n = 0; n < s->nodes; n++)
                crossing += n != s->node_of_rank[rank[j]] ? s->stored[n][j] : 0;
        }
        ck_assert_msg(plan_assess(&s->input, rank, &report) == 0, TELL);
        ck_assert_msg(report.hop_bytes == shuffle, TELL);
        ck_assert_msg(report.storage_hop_bytes == storage, TELL);
        ck_assert_msg(report.storage_crossing_bytes == crossing, TELL);
        ck_assert_msg(report.crossing_bytes == alone.crossing_bytes, TELL);
        ck_assert_msg(report.max_link_bytes == alone.max_link_bytes, TELL);
        check_storage_loads(s, rank, seed);
        ck_assert_msg(plan_workload(&s->input, workload) == 0, TELL);
        for (size_t j = 0; j < s->domains; j++)
            for (size_t i = 0; i < s->ranks; i++)
                ck_assert_msg(workload[j * s->ranks + i] == model_workload(s, i, j), TELL);
        matrix_release(&s->storage);
    }
}
END_TEST

/* Weight 0, and servers of which nothing is known, are the same as no servers; so are servers for
 * all that does not minimise hop-bytes. */
START_TEST(storage_without_effect)
{
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        size_t rank[MAX_DOMAINS], same[MAX_DOMAINS];
        for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
            int rc = assign(s, p->name, rank);
            add_storage(s, seed);
            s->input.storage_weight = strcmp(p->name, "tatp") == 0 ? 0 : 3;
            ck_assert_msg(assign(s, p->name, same) == rc, TELL);
            ck_assert_msg(rc != 0 || memcmp(rank, same, s->domains * sizeof *rank) == 0, TELL);
            matrix_release(&s->storage);
            s->input.storage = NULL;
        }
    }
}
END_TEST

START_TEST(unusable_storage)
{
    struct scene *s = worked_example();
    size_t rank[3];
    add_storage(s, 1);
    s->input.storage_weight = -1;
    ck_assert_int_eq(assign(s, "tatp", rank), -EINVAL);
    s->input.storage_weight = INT64_MAX;
    ck_assert_int_eq(assign(s, "tatp", rank), -ERANGE);
    s->input.storage_weight = 1;
    s->storage.rows--;
    ck_assert_int_eq(assign(s, "tatp", rank), -EINVAL);
    s->storage.rows++;
    matrix_release(&s->storage);
}
END_TEST

START_TEST(workload_inside_nodes)
{
    for_random_seeds (seed, 300) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        struct surroundings *around = surround(s, seed);
        double workload[MAX_DOMAINS * MAX_RANKS];
        ck_assert_msg(plan_workload(&s->input, workload) == 0, TELL);
        for (size_t j = 0; j < s->domains; j++)
            for (size_t i = 0; i < s->ranks; i++)
                ck_assert_msg(workload[j * s->ranks + i] == model_workload(s, i, j), TELL);
        release_surroundings(around);
    }
}
END_TEST

START_TEST(savings_of_unrelated_ranks)
{
    for_random_seeds (seed, 300) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        static struct surroundings around;
        size_t rank[MAX_DOMAINS], same[MAX_DOMAINS];
        for (size_t i = 0; i < s->ranks; i++)
            for (size_t k = 0; k < s->ranks; k++)
                around.level[i][k] = TOPO_SAME_MACHINE;
        int rc = assign(s, "tatp", rank);
        find_savings(s, &around);
        ck_assert_msg(assign(s, "tatp", same) == rc, TELL);
        ck_assert_msg(rc != 0 || memcmp(rank, same, s->domains * sizeof *rank) == 0, TELL);
        release_surroundings(&around);
    }
}
END_TEST

START_TEST(unusable_savings)
{
    struct scene *s = worked_example();
    struct surroundings *around = surround(s, 7);
    const size_t rank[MAX_DOMAINS] = {0};
    double hop_bytes;
    s->input.node_bytes = NULL;
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), -EINVAL);
    s->input.node_bytes = &around->node_bytes;
    around->savings.rows--;
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), -EINVAL);
    around->savings.rows++;
    release_surroundings(around);
}
END_TEST

/* The default as its description has it: rounds over the nodes by their lowest rank. */
static size_t model_otp(const struct scene *s, size_t *rank_of_domain)
{
    size_t given = 0;
    int served[MAX_RANKS] = {0};
    for (size_t round = 0; s->input.per_node == 0 || round < s->input.per_node; round++) {
        size_t before = given;
        int seen[MAX_NODES] = {0};
        size_t order[MAX_NODES], nodes = 0;
        for (size_t i = 0; i < s->ranks; i++)
            if (!seen[s->node_of_rank[i]]++)
                order[nodes++] = s->node_of_rank[i];
        for (size_t n = 0; n < nodes; n++) {
            size_t i = 0;
            while (i < s->ranks && (s->node_of_rank[i] != order[n] || served[i]))
                i++;
            if (i < s->ranks && given < s->domains) {
                served[i] = 1;
                rank_of_domain[given++] = i;
            }
        }
        if (given == before)
            break;
    }
    return given;
}

START_TEST(otp_takes_turns)
{
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        size_t rank[MAX_DOMAINS], expected[MAX_DOMAINS];
        size_t given = model_otp(s, expected);
        int rc = assign(s, "otp", rank);
        ck_assert_msg(rc == (given < s->domains ? -EINVAL : 0), TELL);
        ck_assert_msg(rc != 0 || memcmp(rank, expected, s->domains * sizeof rank[0]) == 0, TELL);
    }
}
END_TEST

/* A lower bound by another way than the assignment itself. */
static int find_bound(const struct scene *s, double most, double *bound)
{
    struct held held = held_bytes(&s->input);
    struct costs costs;
    double total[MAX_DOMAINS] = {0.0};
    struct link_problem p = {
        .topology = &s->topology,
        .costs = &costs,
        .vertices = count_vertices(&s->topology),
        .nodes = s->nodes,
        .domains = s->domains,
        .total = total,
    };
    for (size_t j = 0; j < s->domains; j++)
        for (size_t i = 0; i < s->ranks; i++)
            total[j] += (double)s->bytes[i][j];
    int rc = costs_init(&costs, &s->input, &held);
    if (rc == 0)
        rc = bound_congestion(&p, lap_solvers, most, bound);
    costs_release(&costs);
    return rc;
}

/* The least load in all, and the least hop-bytes with it unless two domains want one rank. */
START_TEST(congestion_is_least)
{
    enum { CASES = 400 };
    size_t tried = 0, missed = 0;
    double bounds = 0.0;
    for_random_seeds (seed, CASES) {
        struct scene *s = random_scene(seed, 7, 4);
        size_t rank[MAX_DOMAINS], least[MAX_DOMAINS], scratch[MAX_DOMAINS];
        double most = INFINITY, hop_bytes = INFINITY, bound = -1.0, other = 0.0;
        grow_tree(s, seed);
        model_least_most(s, scratch, 0, &most, &hop_bytes);
        if (isinf(most))
            continue;
        ck_assert_msg(assign(s, "tatp", least) == 0, TELL);
        ck_assert_msg(plan_least_congestion(&s->input, lap_solvers, rank, &bound) == 0, TELL);
        ck_assert_msg(model_allows(s, rank, s->domains), TELL);
        ck_assert_msg(model_most(s, rank) == most && bound == most, TELL);
        ck_assert_msg(model_hop_bytes(s, rank) >= model_hop_bytes(s, least), TELL);
        ck_assert_msg(most == 0.0 || find_bound(s, model_most(s, least), &other) == 0, TELL);
        ck_assert_msg(other <= most, TELL);
        tried++;
        missed += model_hop_bytes(s, rank) != hop_bytes;
        bounds += most > 0.0 ? other / most : 1.0;
    }
    ck_assert_uint_gt(tried, random_cases(CASES) / 2);
    if (random_cases(CASES) < CASES)
        return;
    ck_assert_msg(missed <= tried / 40, "missed %zu of %zu", missed, tried);
    ck_assert_msg(bounds >= 0.8 * (double)tried, "bounds are %f", bounds / (double)tried);
}
END_TEST

static int model_is_better(const struct scene *s, const size_t *rank, double most, double hop_bytes)
{
    double tried = model_most(s, rank);
    return model_allows(s, rank, s->domains) &&
           (tried < most || (tried == most && model_hop_bytes(s, rank) < hop_bytes));
}

/* No domain can move, and no two change places, for a lower load or fewer hop-bytes. */
static int model_can_improve(const struct scene *s, size_t *rank)
{
    double most = model_most(s, rank), hop_bytes = model_hop_bytes(s, rank);
    int better = 0;
    for (size_t j = 0; j < s->domains && !better; j++) {
        size_t old = rank[j];
        for (rank[j] = 0; rank[j] < s->ranks && !better; rank[j]++)
            better = model_is_better(s, rank, most, hop_bytes);
        rank[j] = old;
        for (size_t k = 0; k < j && !better; k++) {
            rank[j] = rank[k];
            rank[k] = old;
            better = model_is_better(s, rank, most, hop_bytes);
            rank[k] = rank[j];
            rank[j] = old;
        }
    }
    return better;
}

/* More domains than are assigned by subsets, on nodes of one rank each, so that a node's best rank
 * is the one it has. */
START_TEST(congestion_stays_put)
{
    for_random_seeds (seed, 50) {
        struct scene *s;
        uint64_t state = seed;
        size_t rank[MAX_DOMAINS];
        double bound = -1.0;
        do
            s = random_scene(next_random(&state), MAX_NODES, MAX_DOMAINS);
        while (s->domains <= 16);
        int routed = s->topology.places > 0;
        s->nodes = s->ranks;
        for (size_t i = 0; i < s->ranks; i++) {
            s->node_of_rank[i] = i;
            for (size_t n = 0; n < s->nodes; n++)
                s->hops_of_nodes[i * s->nodes + n] = (double)(1 + (i * n + seed) % 5);
        }
        finish(s, routed);
        grow_tree(s, seed);
        s->input.objective = PLAN_CONGESTION;
        ck_assert_msg(assign(s, "tatp", rank) == 0, TELL);
        ck_assert_msg(!model_can_improve(s, rank), TELL);
        ck_assert_msg(plan_least_congestion(&s->input, lap_solvers, rank, &bound) == 0, TELL);
        ck_assert_msg(bound > 0.0 && bound <= model_most(s, rank), TELL);
    }
}
END_TEST

START_TEST(assessment)
{
    for_random_seeds (seed, 200) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        uint64_t state = seed + 1000;
        size_t rank[MAX_DOMAINS];
        plan_report report;
        grow_tree(s, seed);
        for (size_t j = 0; j < s->domains; j++)
            rank[j] = (size_t)pick(&state, 0, (int64_t)s->ranks - 1);
        ck_assert_int_eq(plan_assess(&s->input, rank, &report), 0);
        ck_assert_msg(report.hop_bytes == model_hop_bytes(s, rank), TELL);
        ck_assert_msg(report.crossing_bytes == plan_crossing_bytes(&s->input, rank), TELL);
        ck_assert_msg(report.max_link_bytes == model_most(s, rank), TELL);
    }
}
END_TEST

START_TEST(bound_of_small_problems)
{
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, 12, 8);
        const lap_solver *solver = &lap_solvers[seed % 5];
        size_t rank[MAX_DOMAINS];
        double bound = -1.0;
        int rc = plan_least_hop_bytes(&s->input, solver, rank, &bound);
        ck_assert_msg(rc == 0 || rc == -EINVAL, TELL);
        ck_assert_msg(bound == (rc == 0 ? model_hop_bytes(s, rank) : -1.0), TELL);
    }
}
END_TEST

/* ---- latp ---- */

static int64_t model_held(const struct scene *s, int64_t held[MAX_RANKS][MAX_DOMAINS], size_t node,
                          size_t domain)
{
    int64_t sum = 0;
    for (size_t k = 0; k < s->ranks; k++)
        sum += s->node_of_rank[k] == node ? held[k][domain] : 0;
    return sum;
}

static int64_t model_most_held(const struct scene *s, int64_t held[MAX_RANKS][MAX_DOMAINS],
                               size_t *rank_of_domain, size_t domain, int64_t sum)
{
    int64_t most = -1;
    if (domain == s->domains)
        return sum;
    for (size_t rank = 0; rank < s->ranks; rank++) {
        rank_of_domain[domain] = rank;
        if (model_allows(s, rank_of_domain, domain + 1)) {
            int64_t here = model_held(s, held, s->node_of_rank[rank], domain);
            int64_t found = model_most_held(s, held, rank_of_domain, domain + 1, sum + here);
            most = found > most ? found : most;
        }
    }
    return most;
}

/* Runs a strategy: its nodes hold the most that they can of `held`, within the limits. */
static void check_latp(const struct scene *s, const char *strategy,
                       int64_t held[MAX_RANKS][MAX_DOMAINS], uint64_t seed)
{
    size_t rank[MAX_DOMAINS], tried[MAX_DOMAINS];
    int64_t sum = 0, most = model_most_held(s, held, tried, 0, 0);
    int rc = assign(s, strategy, rank);
    ck_assert_msg(rc == (most < 0 ? -EINVAL : 0), TELL);
    for (size_t j = 0; j < s->domains && rc == 0; j++)
        sum += model_held(s, held, s->node_of_rank[rank[j]], j);
    ck_assert_msg(rc != 0 || (model_allows(s, rank, s->domains) && sum == most), TELL);
}

START_TEST(latp_holds_most)
{
    static int64_t blocks[MAX_RANKS][MAX_DOMAINS];
    for_random_seeds (seed, 300) {
        struct scene *s = random_scene(seed, 7, 4);
        size_t row_start[MAX_RANKS + 1] = {0}, nnz = 0;
        size_t col[MAX_RANKS * MAX_DOMAINS];
        int64_t value[MAX_RANKS * MAX_DOMAINS];
        check_latp(s, "latp_volume", s->bytes, seed);
        for (size_t i = 0; i < s->ranks; i++)
            for (size_t j = 0; j < s->domains; j++)
                blocks[i][j] = s->bytes[i][j] != 0;
        check_latp(s, "latp_count", blocks, seed);
        for (size_t i = 0; i < s->ranks; i++) {
            for (size_t j = 0; j < s->domains; j++) {
                blocks[i][j] = (int64_t)((seed + 7 * i + 3 * j) % 5);
                col[nnz] = j;
                value[nnz++] = blocks[i][j];
            }
            row_start[i + 1] = nnz;
        }
        matrix counted = {s->ranks, s->domains, row_start, col, value};
        s->input.blocks = &counted;
        check_latp(s, "latp_count", blocks, seed);
    }
}
END_TEST

/* Two nodes: one has fewer bytes of the domain in more blocks. */
START_TEST(latp_volume_and_count)
{
    struct scene *s = &stage;
    memset(s, 0, sizeof *s);
    s->ranks = 4;
    s->domains = 1;
    s->nodes = 2;
    const int64_t bytes[] = {10, 90, 40, 50};
    for (size_t i = 0; i < 4; i++) {
        s->node_of_rank[i] = i / 2;
        s->bytes[i][0] = bytes[i];
    }
    finish(s, 0);
    int64_t count[] = {1, 2, 8, 3};
    matrix blocks = s->requests;
    blocks.value = count;
    size_t rank;
    ck_assert_int_eq(assign(s, "latp_volume", &rank), 0);
    ck_assert_uint_eq(rank, 1);
    s->input.blocks = &blocks;
    ck_assert_int_eq(assign(s, "latp_count", &rank), 0);
    ck_assert_uint_eq(rank, 2);
    blocks.cols = 2;
    ck_assert_int_eq(assign(s, "latp_count", &rank), -EINVAL);
}
END_TEST

/* ---- the largest entries, and sums ---- */

/* What a scene's input has in place of all entries. */
struct largest {
    matrix requests, blocks, node_bytes, node_blocks;
    size_t row_start[MAX_RANKS + 1], node_start[MAX_NODES + 1];
    size_t col[MAX_RANKS * MAX_DOMAINS], node_col[MAX_NODES * MAX_DOMAINS];
    int64_t value[MAX_RANKS * MAX_DOMAINS], count[MAX_RANKS * MAX_DOMAINS];
    int64_t bytes_sum[MAX_NODES * MAX_DOMAINS], blocks_sum[MAX_NODES * MAX_DOMAINS];
};

static struct largest part;

typedef int64_t held_by_rank[MAX_RANKS][MAX_DOMAINS];

static int is_among_largest(const struct scene *s, held_by_rank held, size_t rank, size_t domain,
                            size_t most)
{
    size_t larger = 0;
    for (size_t k = 0; k < s->ranks; k++) {
        int64_t here = held[k][domain], own = held[rank][domain];
        larger += s->node_of_rank[k] == s->node_of_rank[rank] &&
                  (here > own || (here == own && k < rank));
    }
    return larger < most;
}

static void sum_scene(const struct scene *s, held_by_rank blocks)
{
    size_t nnz = 0;
    for (size_t n = 0; n < s->nodes; n++) {
        part.node_start[n] = nnz;
        for (size_t j = 0; j < s->domains; j++) {
            part.bytes_sum[nnz] = part.blocks_sum[nnz] = 0;
            for (size_t k = 0; k < s->ranks; k++) {
                part.bytes_sum[nnz] += s->node_of_rank[k] == n ? s->bytes[k][j] : 0;
                part.blocks_sum[nnz] += s->node_of_rank[k] == n ? blocks[k][j] : 0;
            }
            part.node_col[nnz] = j;
            nnz += part.blocks_sum[nnz] > 0;
        }
    }
    part.node_start[s->nodes] = nnz;
}

/* Leaves a scene's input the entries that are among the `most` largest of `held` of each node and
 * domain, and sums. */
static void keep_largest_of(struct scene *s, held_by_rank held, held_by_rank blocks, size_t most)
{
    size_t nnz = 0;
    for (size_t i = 0; i < s->ranks; i++) {
        part.row_start[i] = nnz;
        for (size_t j = 0; j < s->domains; j++) {
            if (s->bytes[i][j] != 0 && is_among_largest(s, held, i, j, most)) {
                part.col[nnz] = j;
                part.count[nnz] = blocks[i][j];
                part.value[nnz++] = s->bytes[i][j];
            }
        }
    }
    part.row_start[s->ranks] = nnz;
    sum_scene(s, blocks);
    part.requests = (matrix){s->ranks, s->domains, part.row_start, part.col, part.value};
    part.blocks = (matrix){s->ranks, s->domains, part.row_start, part.col, part.count};
    part.node_bytes =
        (matrix){s->nodes, s->domains, part.node_start, part.node_col, part.bytes_sum};
    part.node_blocks =
        (matrix){s->nodes, s->domains, part.node_start, part.node_col, part.blocks_sum};
    s->input.requests = &part.requests;
    s->input.node_bytes = &part.node_bytes;
    s->input.node_blocks = &part.node_blocks;
}

/* One block for each rank and domain that it accesses. */
static void single_blocks(const struct scene *s, held_by_rank blocks)
{
    for (size_t i = 0; i < s->ranks; i++)
        for (size_t j = 0; j < s->domains; j++)
            blocks[i][j] = s->bytes[i][j] != 0;
}

static void keep_largest(struct scene *s, size_t most)
{
    static held_by_rank blocks;
    single_blocks(s, blocks);
    keep_largest_of(s, s->bytes, blocks, most);
}

/* As many as a node can serve. */
static size_t enough_entries(const struct scene *s)
{
    return s->input.per_node > 0 ? s->input.per_node : s->domains;
}

START_TEST(largest_entries_are_enough)
{
    for_random_seeds (seed, 1000) {
        struct scene *s = random_scene(seed, 7, 4);
        size_t rank[MAX_DOMAINS], tried[MAX_DOMAINS];
        double least = model_least(s, tried, 0), bound = -1.0, reported = -1.0;
        keep_largest(s, enough_entries(s));
        int rc = plan_least_hop_bytes(&s->input, &lap_solvers[seed % 5], rank, &bound);
        ck_assert_msg(rc == (isinf(least) ? -EINVAL : 0), TELL);
        if (rc == 0) {
            ck_assert_msg(model_allows(s, rank, s->domains), TELL);
            ck_assert_msg(model_hop_bytes(s, rank) == least && bound == least, TELL);
            ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &reported), 0);
            ck_assert_msg(reported == least, TELL);
        }
    }
}
END_TEST

START_TEST(latp_by_largest_entries)
{
    static held_by_rank blocks;
    for_random_seeds (seed, 300) {
        struct scene *s = random_scene(seed, 7, 4);
        keep_largest(s, enough_entries(s));
        check_latp(s, "latp_volume", s->bytes, seed);
        single_blocks(s, blocks);
        check_latp(s, "latp_count", blocks, seed);
        for (size_t i = 0; i < s->ranks; i++)
            for (size_t j = 0; j < s->domains; j++)
                blocks[i][j] *= 1 + (int64_t)((seed + 7 * i + 3 * j) % 5);
        keep_largest_of(s, blocks, blocks, enough_entries(s));
        s->input.blocks = &part.blocks;
        check_latp(s, "latp_count", blocks, seed);
    }
}
END_TEST

START_TEST(congestion_by_largest_entries)
{
    for_random_seeds (seed, 200) {
        struct scene *s = random_scene(seed, 7, 4);
        size_t rank[MAX_DOMAINS], least[MAX_DOMAINS];
        grow_tree(s, seed);
        if (assign(s, "tatp", least) != 0)
            continue;
        keep_largest(s, enough_entries(s));
        s->input.objective = PLAN_CONGESTION;
        ck_assert_msg(assign(s, "tatp", rank) == 0, TELL);
        ck_assert_msg(model_allows(s, rank, s->domains), TELL);
        ck_assert_msg(model_most(s, rank) <= model_most(s, least), TELL);
    }
}
END_TEST

/* However few entries there are, only the own bytes of ranks without one are not known. */
START_TEST(assessment_by_sums)
{
    static double workload[MAX_RANKS * MAX_DOMAINS];
    for_random_seeds (seed, 400) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        uint64_t state = seed + 1000;
        size_t rank[MAX_DOMAINS];
        double unknown = 0.0;
        plan_report report;
        grow_tree(s, seed);
        keep_largest(s, (size_t)pick(&state, 0, 3));
        ck_assert_int_eq(plan_workload(&s->input, workload), 0);
        for (size_t j = 0; j < s->domains; j++) {
            rank[j] = (size_t)pick(&state, 0, (int64_t)s->ranks - 1);
            int64_t own = s->bytes[rank[j]][j] - matrix_get(&part.requests, rank[j], j);
            ck_assert_msg(workload[j * s->ranks + rank[j]] ==
                              model_workload(s, rank[j], j) + (double)own,
                          TELL);
            unknown += (double)own;
        }
        ck_assert_int_eq(plan_assess(&s->input, rank, &report), 0);
        ck_assert_msg(report.hop_bytes == model_hop_bytes(s, rank) + unknown, TELL);
        ck_assert_msg(report.max_link_bytes == model_most(s, rank), TELL);
        s->input.node_bytes = NULL;
        s->input.requests = &s->requests;
        ck_assert_msg(report.crossing_bytes == plan_crossing_bytes(&s->input, rank), TELL);
    }
}
END_TEST

START_TEST(sums_of_another_shape)
{
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
        matrix *const sums[] = {&part.node_bytes, &part.node_blocks};
        for (size_t k = 0; k < 4; k++) {
            struct scene *s = worked_example();
            size_t rank[3] = {7, 8, 9};
            double hop_bytes = -1.0;
            keep_largest(s, 2);
            *(k < 2 ? &sums[k]->rows : &sums[k - 2]->cols) = 2;
            ck_assert_int_eq(assign(s, p->name, rank), -EINVAL);
            ck_assert_uint_eq(rank[0], 7);
            ck_assert_int_eq(plan_hop_bytes(&s->input, (size_t[]){0, 1, 2}, &hop_bytes), -EINVAL);
        }
    }
}
END_TEST

/* ---- the two steps ---- */

static double model_most_of_ranks(const struct scene *s, const size_t *domain, size_t domains,
                                  size_t *tried, size_t d)
{
    double most = -1.0;
    if (d == domains) {
        double sum = 0.0;
        for (size_t k = 0; k < domains; k++)
            sum += (double)s->bytes[tried[k]][domain[k]];
        return sum;
    }
    for (tried[d] = 0; tried[d] < s->ranks; tried[d]++) {
        size_t k = 0;
        while (tried[k] != tried[d])
            k++;
        most = k == d ? fmax(most, model_most_of_ranks(s, domain, domains, tried, d + 1)) : most;
    }
    return most;
}

START_TEST(ranks_of_a_node)
{
    for_random_seeds (seed, 300) {
        struct scene *s = random_scene(seed, 6, 6);
        const size_t domain[] = {5, 0, 2, 4};
        size_t row[4] = {9, 9, 9, 9}, tried[4], domains = seed % 5;
        for (size_t d = 0; d < domains; d++)
            domains = domain[d] >= s->domains ? d : domains;
        int rc = plan_choose_ranks(&s->requests, NULL, s->ranks, domain, domains, lap_solvers, row);
        ck_assert_msg(rc == (domains > s->ranks ? -EINVAL : 0), TELL);
        double sum = 0.0;
        for (size_t d = 0; d < domains && rc == 0; d++) {
            ck_assert_msg(row[d] < s->ranks, TELL);
            sum += (double)s->bytes[row[d]][domain[d]];
            for (size_t k = 0; k < d; k++)
                ck_assert_msg(row[k] != row[d], TELL);
        }
        ck_assert_msg(rc != 0 || sum == model_most_of_ranks(s, domain, domains, tried, 0), TELL);
    }
}
END_TEST

/* ---- near the network ---- */

/* What the domain saves on the rank, as the plan knows it. */
static int64_t saved_on(const struct scene *s, size_t rank, size_t domain)
{
    const plan_input *in = &s->input;
    return matrix_get(in->savings != NULL ? in->savings : in->requests, rank, domain);
}

/* No move, of a domain that the rank accesses, would get nearer at the same cost. */
static void check_nearest(const struct scene *s, const size_t *rank, const unsigned char *network,
                          uint64_t seed)
{
    for (size_t j = 0; j < s->domains; j++) {
        for (size_t r = 0; r < s->ranks; r++) {
            bool owns = false;
            for (size_t k = 0; k < s->domains; k++)
                owns = owns || rank[k] == r;
            bool better = !owns && network[r] > network[rank[j]] && saved_on(s, r, j) > 0 &&
                          s->node_of_rank[r] == s->node_of_rank[rank[j]] &&
                          saved_on(s, r, j) == saved_on(s, rank[j], j);
            ck_assert_msg(!better, TELL);
        }
    }
}

START_TEST(network_costs_nothing)
{
    for_random_seeds (seed, 1000) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        struct surroundings *around = seed % 2 ? surround(s, seed) : NULL;
        size_t before[MAX_DOMAINS], after[MAX_DOMAINS];
        unsigned char network[MAX_RANKS];
        uint64_t state = seed + 9;
        for (size_t r = 0; r < s->ranks; r++)
            network[r] = (unsigned char)pick(&state, 0, 3);
        if (assign(s, "tatp", before) == 0) {
            s->input.network = network;
            ck_assert_msg(assign(s, "tatp", after) == 0, TELL);
            ck_assert_msg(model_allows(s, after, s->domains), TELL);
            ck_assert_msg(model_hop_bytes(s, after) == model_hop_bytes(s, before), TELL);
            for (size_t j = 0; j < s->domains; j++) {
                ck_assert_msg(network[after[j]] >= network[before[j]], TELL);
                ck_assert_msg(s->node_of_rank[after[j]] == s->node_of_rank[before[j]], TELL);
            }
            check_nearest(s, after, network, seed);
        }
        if (around != NULL)
            release_surroundings(around);
    }
}
END_TEST

/* Four ranks on two nodes access as much of both domains. */
START_TEST(network_decides_among_equals)
{
    struct scene *s = &stage;
    memset(s, 0, sizeof *s);
    s->ranks = 4;
    s->domains = s->nodes = 2;
    s->input.per_node = 1;
    for (size_t r = 0; r < 4; r++) {
        s->node_of_rank[r] = r / 2;
        s->bytes[r][0] = s->bytes[r][1] = 8;
    }
    finish(s, 0);
    static const unsigned char network[] = {0, 3, 1, 1};
    size_t rank[2];
    s->input.network = network;
    ck_assert_int_eq(assign(s, "tatp", rank), 0);
    ck_assert_uint_eq(rank[0] < 2 ? rank[0] : rank[1], 1);
    ck_assert_uint_eq(rank[0] < 2 ? rank[1] : rank[0], 2);
    s->bytes[0][0] = 9;
    finish(s, 0);
    ck_assert_int_eq(assign(s, "tatp", rank), 0);
    ck_assert_uint_eq(rank[0], 0);
    ck_assert_uint_eq(rank[1], 2);
}
END_TEST

START_TEST(ranks_by_number)
{
    struct scene *s = worked_example();
    const size_t ranks[] = {5, 3, 1}, domain[] = {1, 2}, wrong[] = {1, 6}, column[] = {3};
    size_t row[3] = {9, 9, 9};
    ck_assert_int_eq(plan_choose_ranks(&s->requests, wrong, 2, domain, 1, lap_solvers, row),
                     -EINVAL);
    ck_assert_int_eq(plan_choose_ranks(&s->requests, ranks, 3, column, 1, lap_solvers, row),
                     -EINVAL);
    ck_assert_int_eq(plan_choose_ranks(&s->requests, ranks, 1, domain, 2, lap_solvers, row),
                     -EINVAL);
    ck_assert_uint_eq(row[0], 9);
    ck_assert_int_eq(plan_choose_ranks(&s->requests, ranks, 3, domain, 2, lap_solvers, row), 0);
    ck_assert_uint_eq(row[0], 1);
    ck_assert(row[1] == 5 || row[1] == 3);
    ck_assert_int_eq(plan_choose_ranks(&s->requests, ranks, 3, domain + 1, 1, lap_solvers, row), 0);
    ck_assert_uint_eq(row[0], 5);
}
END_TEST

/* ---- single cases ---- */

START_TEST(too_many_domains)
{
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
        struct scene *s = worked_example();
        size_t rank[7] = {70, 71, 72, 73, 74, 75, 76};
        s->requests.cols = 7;
        ck_assert_int_eq(assign(s, p->name, rank), -EINVAL);
        s = worked_example();
        s->requests.cols = 4;
        s->input.per_node = 1;
        ck_assert_int_eq(assign(s, p->name, rank), -EINVAL);
        s->input.per_node = 2;
        ck_assert_uint_eq(rank[0], 70);
        ck_assert_int_eq(assign(s, p->name, rank), 0);
    }
}
END_TEST

START_TEST(node_out_of_range)
{
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
        struct scene *s = worked_example();
        size_t rank[3] = {7, 8, 9};
        double workload[18], hop_bytes = -1.0;
        const size_t good[3] = {0, 1, 2};
        s->node_of_rank[5] = 3;
        ck_assert_int_eq(assign(s, p->name, rank), -EINVAL);
        ck_assert_uint_eq(rank[0], 7);
        ck_assert_int_eq(plan_workload(&s->input, workload), -EINVAL);
        ck_assert_int_eq(plan_hop_bytes(&s->input, good, &hop_bytes), -EINVAL);
        ck_assert_double_eq(hop_bytes, -1.0);
    }
}
END_TEST

START_TEST(rank_out_of_range)
{
    struct scene *s = worked_example();
    const size_t rank[3] = {0, 6, 2};
    double hop_bytes = -1.0;
    plan_loads loads = {.vertices = 77};
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), -EINVAL);
    ck_assert_double_eq(hop_bytes, -1.0);
    ck_assert_int_eq(plan_load_links(&s->input, rank, &loads), -EINVAL);
    ck_assert_uint_eq(loads.vertices, 77);
}
END_TEST

/* The example summed by node: each domain is on two of them. */
static size_t example_start[] = {0, 2, 4, 6}, example_col[] = {0, 1, 0, 2, 1, 2};

START_TEST(crossing_bytes_saturate)
{
    struct scene *s = worked_example();
    const size_t rank[3] = {4, 0, 0};
    s->bytes[0][0] = s->bytes[1][0] = INT64_MAX;
    finish(s, 1);
    ck_assert(plan_crossing_bytes(&s->input, rank) == INT64_MAX);
    int64_t sum[] = {INT64_MAX, 4, 4, 4, 4, INT64_MAX};
    matrix node_bytes = {3, 3, example_start, example_col, sum};
    s->input.node_bytes = &node_bytes;
    const size_t elsewhere[3] = {2, 0, 0};
    ck_assert(plan_crossing_bytes(&s->input, elsewhere) == INT64_MAX);
}
END_TEST

START_TEST(nothing_accessed)
{
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
        struct scene *s = worked_example();
        size_t rank[3];
        memset(s->bytes, 0, sizeof s->bytes);
        finish(s, 0);
        ck_assert_int_eq(assign(s, p->name, rank), 0);
        ck_assert(model_allows(s, rank, 3));
        s->requests.cols = 0;
        ck_assert_int_eq(assign(s, p->name, rank), 0);
    }
}
END_TEST

START_TEST(strategies_by_name)
{
    ck_assert_str_eq(plan_strategies[0].name, "tatp");
    ck_assert_str_eq(plan_strategies[1].name, "latp_volume");
    ck_assert_str_eq(plan_strategies[2].name, "latp_count");
    ck_assert_str_eq(plan_strategies[3].name, "otp");
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
        ck_assert_ptr_eq(plan_find_strategy(p->name), p);
        ck_assert_ptr_nonnull(p->note);
    }
    ck_assert_ptr_null(plan_find_strategy("TATP"));
    ck_assert_ptr_null(plan_find_strategy(""));
    ck_assert_ptr_null(plan_find_strategy(NULL));
}
END_TEST

struct spread {
    size_t nodes, ranks_on_node[4], domains, expected;
};

static const struct spread spreads[] = {
    {1, {4}, 4, 4},          {2, {2, 2}, 3, 2},       {3, {4, 4, 4}, 3, 1},
    {3, {4, 4, 4}, 4, 2},    {3, {4, 4, 4}, 12, 4},   {3, {1, 4, 4}, 6, 3},
    {3, {1, 1, 4}, 6, 4},    {4, {1, 1, 1, 9}, 4, 1}, {4, {1, 1, 1, 9}, 5, 2},
    {4, {0, 0, 8, 8}, 4, 2}, {4, {0, 0, 0, 8}, 1, 1}, {4, {0, 0, 0, 8}, 8, 8},
    {2, {3, 3}, 0, 1},       {0, {0}, 0, 1},
};
enum { SPREADS = sizeof spreads / sizeof spreads[0] };

START_TEST(even_spread)
{
    const struct spread *e = &spreads[_i];
    ck_assert_uint_eq(plan_even_per_node(e->ranks_on_node, e->nodes, e->domains), e->expected);
}
END_TEST

/* More domains than ranks breaks the contract, yet must not go on for ever. */
START_TEST(spread_of_too_many)
{
    const size_t ranks[] = {2, 3};
    ck_assert_uint_ge(plan_even_per_node(ranks, 2, 9), 3);
}
END_TEST

/* Each call fails wherever memory may be short, and writes nothing then. */
typedef int (*call)(struct scene *s, size_t *answer);

static int call_assess(struct scene *s, size_t *answer)
{
    const size_t rank[3] = {2, 4, 3};
    plan_report report;
    int rc = plan_assess(&s->input, rank, &report);
    answer[0] = rc == 0 ? 0 : answer[0];
    return rc;
}

static int call_loads(struct scene *s, size_t *answer)
{
    const size_t rank[3] = {2, 4, 3};
    plan_loads loads;
    int rc = plan_load_links(&s->input, rank, &loads);
    if (rc == 0) {
        answer[0] = loads.vertices;
        plan_release_loads(&loads);
    }
    return rc;
}

static int call_ranks(struct scene *s, size_t *answer)
{
    const size_t domain[] = {0, 1, 2};
    return plan_choose_ranks(&s->requests, NULL, 6, domain, 3, lap_solvers, answer);
}

static int call_network(struct scene *s, size_t *answer)
{
    static const unsigned char network[6] = {0, 1, 2, 3, 2, 1};
    s->input.network = network;
    return assign(s, "tatp", answer);
}

static int call_congestion(struct scene *s, size_t *answer)
{
    double bound;
    return plan_least_congestion(&s->input, lap_solvers, answer, &bound);
}

static int call_bound(struct scene *s, size_t *answer)
{
    double bound;
    int rc = find_bound(s, 1.0, &bound); /* a few rounds */
    answer[0] = rc == 0 ? 0 : answer[0];
    return rc;
}

static int call_volume(struct scene *s, size_t *answer)
{
    return assign(s, "latp_volume", answer);
}

static int call_otp(struct scene *s, size_t *answer)
{
    return assign(s, "otp", answer);
}

/* Two domains on a node want one rank, so that domains are assigned to ranks at once. */
static int call_conflict(struct scene *s, size_t *answer)
{
    s->bytes[2][0] = s->bytes[2][1] = s->bytes[2][2] = 100;
    finish(s, 1);
    return assign(s, "tatp", answer);
}

static int call_largest(struct scene *s, size_t *answer)
{
    keep_largest(s, 2);
    return assign(s, "tatp", answer);
}

static int call_storage(struct scene *s, size_t *answer)
{
    static const int64_t value[] = {5};
    static const size_t row_start[] = {0, 1, 1, 1}, col[] = {1};
    s->storage = (matrix){3, 3, (size_t *)(uintptr_t)row_start, (size_t *)(uintptr_t)col,
                          (int64_t *)(uintptr_t)value};
    s->input.storage = &s->storage;
    s->input.storage_weight = 1;
    return assign(s, "tatp", answer);
}

static const call calls[] = {call_assess,     call_loads,   call_ranks,  call_network,
                             call_congestion, call_bound,   call_volume, call_otp,
                             call_conflict,   call_largest, call_storage};
enum { CALLS = sizeof calls / sizeof calls[0] };

START_TEST(out_of_memory)
{
    bool failed = true;
    for (long nth = 0; failed; nth++) {
        struct scene *s = worked_example();
        size_t answer[3] = {7, 8, 9};
        fail_allocation(nth);
        int rc = calls[_i](s, answer);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(allocations.live, 0);
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        ck_assert(!failed || (answer[0] == 7 && answer[1] == 8 && answer[2] == 9));
        ck_assert_msg(nth < 400, "more allocations than there can be");
    }
}
END_TEST

static Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *example = tcase_create("worked example");
    tcase_add_test(example, worked_example_workload);
    tcase_add_test(example, worked_example_least);
    tcase_add_test(example, worked_example_one_per_node);
    tcase_add_test(example, worked_example_default);
    tcase_add_test(example, worked_example_of_the_paper);
    tcase_add_test(example, worked_example_loads);
    tcase_add_test(example, worked_example_links);
    suite_add_tcase(suite, example);

    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 60);
    tcase_add_test(random, workload_is_the_product);
    tcase_add_test(random, hop_bytes_and_crossing_bytes);
    tcase_add_test(random, tatp_is_least);
    tcase_add_test(random, tatp_is_least_inside_nodes);
    tcase_add_test(random, tatp_is_least_with_storage);
    tcase_add_test(random, assessment_with_storage);
    tcase_add_test(random, storage_without_effect);
    tcase_add_test(random, unusable_storage);
    tcase_add_test(random, workload_inside_nodes);
    tcase_add_test(random, savings_of_unrelated_ranks);
    tcase_add_test(random, unusable_savings);
    tcase_add_test(random, bound_of_small_problems);
    tcase_add_test(random, congestion_is_least);
    tcase_add_test(random, congestion_stays_put);
    tcase_add_test(random, assessment);
    tcase_add_test(random, latp_holds_most);
    tcase_add_test(random, largest_entries_are_enough);
    tcase_add_test(random, latp_by_largest_entries);
    tcase_add_test(random, congestion_by_largest_entries);
    tcase_add_test(random, assessment_by_sums);
    tcase_add_test(random, ranks_of_a_node);
    tcase_add_test(random, network_costs_nothing);
    tcase_add_test(random, otp_takes_turns);
    suite_add_tcase(suite, random);

    TCase *single = tcase_create("single");
    tcase_add_test(single, latp_volume_and_count);
    tcase_add_test(single, ranks_by_number);
    tcase_add_test(single, network_decides_among_equals);
    tcase_add_test(single, too_many_domains);
    tcase_add_test(single, node_out_of_range);
    tcase_add_test(single, rank_out_of_range);
    tcase_add_test(single, sums_of_another_shape);
    tcase_add_test(single, crossing_bytes_saturate);
    tcase_add_test(single, nothing_accessed);
    tcase_add_test(single, strategies_by_name);
    tcase_add_loop_test(single, even_spread, 0, SPREADS);
    tcase_add_test(single, spread_of_too_many);
    tcase_add_loop_test(single, out_of_memory, 0, CALLS);
    suite_add_tcase(suite, single);
    return suite;
}

int main(void)
{
    return run_suite(plan_suite());
}
