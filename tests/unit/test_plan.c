/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit and property tests of the assignment of file domains to ranks, against a model
 * that forms the whole p x p distance matrix and tries every assignment. */
#include "plan/plan.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MAX_RANKS = 40, MAX_DOMAINS = 20, MAX_NODES = 10 };

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
    s->requests = (matrix){ s->ranks, s->domains, s->row_start, s->col, s->value };
    for (size_t n = 0; n < s->nodes * s->nodes; n++) {
        s->place_of_node[n % s->nodes] = n % s->nodes;
        s->between[n] = (uint16_t)s->hops_of_nodes[n];
    }
    s->topology = (topo){ .nodes = s->nodes, .places = routed ? s->nodes : 0,
                          .place_of_node = s->place_of_node, .between = s->between };
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
    s->domains = (size_t)pick(&state, 0, (int64_t)(s->ranks < most_domains ? s->ranks : most_domains));
    s->nodes = (size_t)pick(&state, 1, s->ranks < MAX_NODES ? (int64_t)s->ranks : MAX_NODES);
    s->input.per_node = (size_t)pick(&state, 0, 3);
    int64_t largest = pick(&state, 0, 1) ? 5 : 1000000;
    for (size_t i = 0; i < s->ranks; i++) {
        s->node_of_rank[i] = (size_t)pick(&state, 0, (int64_t)s->nodes - 1);
        for (size_t j = 0; j < s->domains; j++) {
            s->bytes[i][j] = pick(&state, 0, 2) ? pick(&state, 0, largest) : 0;
        }
    }
    for (size_t k = 0; k < s->nodes * s->nodes; k++) {
        s->hops_of_nodes[k] = (double)pick(&state, 1, 6);
    }
    return finish(s, (int)pick(&state, 0, 1));
}

/* ---- the model ---- */

static double model_workload(const struct scene *s, size_t rank, size_t domain)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->ranks; k++) {
        sum += s->distance[rank][k] * (double)s->bytes[k][domain];
    }
    return sum;
}

static double model_hop_bytes(const struct scene *s, const size_t *rank_of_domain)
{
    double sum = 0.0;
    for (size_t j = 0; j < s->domains; j++) {
        sum += model_workload(s, rank_of_domain[j], j);
    }
    return sum;
}

static int model_allows(const struct scene *s, const size_t *rank_of_domain, size_t domains)
{
    size_t taken[MAX_RANKS] = { 0 }, load[MAX_NODES] = { 0 };
    for (size_t j = 0; j < domains; j++) {
        size_t rank = rank_of_domain[j];
        if (rank >= s->ranks || taken[rank]++ > 0
            || (load[s->node_of_rank[rank]]++ >= s->input.per_node && s->input.per_node > 0)) {
            return 0;
        }
    }
    return 1;
}

/* The least hop-bytes over all assignments that begin with the first `domain` choices. */
static double model_least(const struct scene *s, size_t *rank_of_domain, size_t domain)
{
    double least = INFINITY;
    if (domain == s->domains) {
        return model_hop_bytes(s, rank_of_domain);
    }
    for (size_t rank = 0; rank < s->ranks; rank++) {
        rank_of_domain[domain] = rank;
        if (model_allows(s, rank_of_domain, domain + 1)) {
            least = fmin(least, model_least(s, rank_of_domain, domain + 1));
        }
    }
    return least;
}

static int assign(const struct scene *s, const char *strategy, size_t *rank_of_domain)
{
    return plan_find_strategy(strategy)->assign(&s->input, lap_find_solver("jv"), rank_of_domain);
}

/* ---- the worked example of the TATP paper, section 4, with its errata mended ---- */

static struct scene *worked_example(void)
{
    static const int64_t bytes[6][3] = { { 3, 1, 0 }, { 1, 3, 0 }, { 4, 0, 0 },
                                         { 0, 0, 4 }, { 0, 4, 0 }, { 0, 0, 4 } };
    static const double hops[9] = { 0, 2, 4, 2, 0, 4, 4, 4, 0 };
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
    static const double expected[3][6] = { { 9, 11, 8, 12, 32, 32 },
                                           { 19, 17, 24, 24, 16, 20 },
                                           { 24, 24, 20, 16, 20, 16 } };
    struct scene *s = worked_example();
    double workload[3][6];
    ck_assert_int_eq(plan_workload(&s->input, &workload[0][0]), 0);
    for (size_t j = 0; j < 3; j++) {
        for (size_t i = 0; i < 6; i++) {
            ck_assert_double_eq(workload[j][i], expected[j][i]);
        }
    }
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
    const size_t rank[3] = { 2, 0, 3 };
    double hop_bytes;
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), 0);
    ck_assert_double_eq(hop_bytes, 43);
}
END_TEST

/* ---- random scenes ---- */

#define TELL "seed %llu", (unsigned long long)seed

START_TEST(workload_is_the_product)
{
    static double workload[MAX_RANKS * MAX_DOMAINS];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        ck_assert_int_eq(plan_workload(&s->input, workload), 0);
        for (size_t j = 0; j < s->domains; j++) {
            for (size_t i = 0; i < s->ranks; i++) {
                ck_assert_msg(workload[j * s->ranks + i] == model_workload(s, i, j), TELL);
            }
        }
    }
}
END_TEST

START_TEST(hop_bytes_and_crossing_bytes)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        uint64_t state = seed + 1000;
        size_t rank[MAX_DOMAINS];
        double hop_bytes;
        int64_t crossing = 0;
        for (size_t j = 0; j < s->domains; j++) {
            rank[j] = (size_t)pick(&state, 0, (int64_t)s->ranks - 1);
            for (size_t k = 0; k < s->ranks; k++) {
                crossing += s->node_of_rank[k] != s->node_of_rank[rank[j]] ? s->bytes[k][j] : 0;
            }
        }
        ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), 0);
        ck_assert_msg(hop_bytes == model_hop_bytes(s, rank), TELL);
        ck_assert_msg(plan_crossing_bytes(&s->input, rank) == crossing, TELL);
    }
}
END_TEST

START_TEST(tatp_is_least)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
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

/* The default as its description has it: rounds over the nodes by their lowest rank. */
static size_t model_otp(const struct scene *s, size_t *rank_of_domain)
{
    size_t given = 0;
    int served[MAX_RANKS] = { 0 };
    for (size_t round = 0; s->input.per_node == 0 || round < s->input.per_node; round++) {
        size_t before = given;
        int seen[MAX_NODES] = { 0 };
        size_t order[MAX_NODES], nodes = 0;
        for (size_t i = 0; i < s->ranks; i++) {
            if (!seen[s->node_of_rank[i]]++) {
                order[nodes++] = s->node_of_rank[i];
            }
        }
        for (size_t n = 0; n < nodes; n++) {
            size_t i = 0;
            while (i < s->ranks && (s->node_of_rank[i] != order[n] || served[i])) {
                i++;
            }
            if (i < s->ranks && given < s->domains) {
                served[i] = 1;
                rank_of_domain[given++] = i;
            }
        }
        if (given == before) {
            break;
        }
    }
    return given;
}

START_TEST(otp_takes_turns)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct scene *s = random_scene(seed, MAX_RANKS, MAX_DOMAINS);
        size_t rank[MAX_DOMAINS], expected[MAX_DOMAINS];
        size_t given = model_otp(s, expected);
        int rc = assign(s, "otp", rank);
        ck_assert_msg(rc == (given < s->domains ? -EINVAL : 0), TELL);
        ck_assert_msg(rc != 0 || memcmp(rank, expected, s->domains * sizeof rank[0]) == 0, TELL);
    }
}
END_TEST

/* ---- single cases ---- */

START_TEST(too_many_domains)
{
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
        struct scene *s = worked_example();
        size_t rank[7] = { 70, 71, 72, 73, 74, 75, 76 };
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
        size_t rank[3] = { 7, 8, 9 };
        double workload[18], hop_bytes = -1.0;
        const size_t good[3] = { 0, 1, 2 };
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
    const size_t rank[3] = { 0, 6, 2 };
    double hop_bytes = -1.0;
    ck_assert_int_eq(plan_hop_bytes(&s->input, rank, &hop_bytes), -EINVAL);
    ck_assert_double_eq(hop_bytes, -1.0);
}
END_TEST

START_TEST(crossing_bytes_saturate)
{
    struct scene *s = worked_example();
    const size_t rank[3] = { 4, 0, 0 };
    s->bytes[0][0] = s->bytes[1][0] = INT64_MAX;
    finish(s, 1);
    ck_assert(plan_crossing_bytes(&s->input, rank) == INT64_MAX);
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
    ck_assert_str_eq(plan_strategies[1].name, "otp");
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
    { 1, { 4 }, 4, 4 },          { 2, { 2, 2 }, 3, 2 },       { 3, { 4, 4, 4 }, 3, 1 },
    { 3, { 4, 4, 4 }, 4, 2 },    { 3, { 4, 4, 4 }, 12, 4 },   { 3, { 1, 4, 4 }, 6, 3 },
    { 3, { 1, 1, 4 }, 6, 4 },    { 4, { 1, 1, 1, 9 }, 4, 1 }, { 4, { 1, 1, 1, 9 }, 5, 2 },
    { 4, { 0, 0, 8, 8 }, 4, 2 }, { 4, { 0, 0, 0, 8 }, 1, 1 }, { 4, { 0, 0, 0, 8 }, 8, 8 },
    { 2, { 3, 3 }, 0, 1 },       { 0, { 0 }, 0, 1 },
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
    const size_t ranks[] = { 2, 3 };
    ck_assert_uint_ge(plan_even_per_node(ranks, 2, 9), 3);
}
END_TEST

START_TEST(out_of_memory)
{
    for (const plan_strategy *p = plan_strategies; p->name != NULL; p++) {
        bool failed = true;
        for (long nth = 0; failed; nth++) {
            struct scene *s = worked_example();
            size_t rank[3] = { 7, 8, 9 };
            fail_allocation(nth);
            int rc = assign(s, p->name, rank);
            stop_failing();
            failed = allocations.failed;
            ck_assert_int_eq(allocations.live, 0);
            ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
            ck_assert(!failed || (rank[0] == 7 && rank[1] == 8 && rank[2] == 9));
            ck_assert_msg(nth < 100, "more allocations than there can be");
        }
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
    suite_add_tcase(suite, example);

    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 60);
    tcase_add_test(random, workload_is_the_product);
    tcase_add_test(random, hop_bytes_and_crossing_bytes);
    tcase_add_test(random, tatp_is_least);
    tcase_add_test(random, otp_takes_turns);
    suite_add_tcase(suite, random);

    TCase *single = tcase_create("single");
    tcase_add_test(single, too_many_domains);
    tcase_add_test(single, node_out_of_range);
    tcase_add_test(single, rank_out_of_range);
    tcase_add_test(single, crossing_bytes_saturate);
    tcase_add_test(single, nothing_accessed);
    tcase_add_test(single, strategies_by_name);
    tcase_add_loop_test(single, even_spread, 0, SPREADS);
    tcase_add_test(single, spread_of_too_many);
    tcase_add_test(single, out_of_memory);
    suite_add_tcase(suite, single);
    return suite;
}

int main(void)
{
    return run_suite(plan_suite());
}
