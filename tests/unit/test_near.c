/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement near storage servers: against all placements of small jobs. */
#include "setmatch/near.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "setmatch/setmatch.h"
#include "suite.h"

enum { MOST_RANKS = 6, MOST_NODES = 4, MOST_HOSTS = 6 };

typedef struct instance {
    setmatch_input input;
    setmatch_servers servers;
    matrix view, bytes;
    size_t slots[MOST_NODES];
    size_t place[MOST_HOSTS];
    uint16_t between[MOST_HOSTS * MOST_HOSTS];
    size_t given[MOST_RANKS]; /* some placement */
} instance;

/* Random hops of every pair of hosts, or of two switches with hosts each. */
static void set_hops(instance *c, size_t hosts, uint64_t *seed)
{
    bool random = pick(seed, 0, 1) == 1;
    for (size_t h = 0; h < hosts; h++) {
        c->place[h] = h;
        for (size_t k = 0; k < hosts; k++) {
            int64_t hops = random ? pick(seed, 1, 5) : h % 2 == k % 2 ? 2 : 4;
            c->between[h * hosts + k] = (uint16_t)hops;
        }
    }
    c->servers.hops = (setmatch_hops){hosts, c->place, c->between};
}

static void set_matrices(instance *c, size_t ranks, size_t hosts, uint64_t *seed)
{
    matrix_builder view = {.rows = ranks, .cols = ranks}, bytes = {.rows = ranks, .cols = hosts};
    for (size_t r = 0; r < ranks; r++) {
        for (size_t k = 0; k < r; k++)
            if (pick(seed, 0, 2) == 0)
                ck_assert_int_eq(matrix_builder_add(&view, r, k, pick(seed, 1, 9)), 0);
        for (size_t h = 0; h < hosts; h++)
            if (pick(seed, 0, 2) == 0)
                ck_assert_int_eq(matrix_builder_add(&bytes, r, h, pick(seed, 1, 30)), 0);
    }
    ck_assert_int_eq(matrix_builder_finish(&view, &c->view), 0);
    ck_assert_int_eq(matrix_builder_finish(&bytes, &c->bytes), 0);
    matrix_builder_clear(&view);
    matrix_builder_clear(&bytes);
}

/* Slots for all ranks, and a random placement on them. */
static void set_slots(instance *c, size_t ranks, size_t nodes, uint64_t *seed)
{
    size_t used[MOST_NODES] = {0};
    for (size_t n = 0; n < nodes; n++)
        c->slots[n] = (ranks + nodes - 1) / nodes + (size_t)pick(seed, 0, 1);
    for (size_t r = 0; r < ranks; r++) {
        size_t n = (size_t)pick(seed, 0, (int64_t)nodes - 1);
        while (used[n] == c->slots[n])
            n = (n + 1) % nodes;
        used[n]++;
        c->given[r] = n;
    }
}

static void make_instance(instance *c, bool flat, uint64_t seed)
{
    size_t ranks = (size_t)pick(&seed, 1, MOST_RANKS), nodes = (size_t)pick(&seed, 1, MOST_NODES);
    size_t hosts = nodes + (size_t)pick(&seed, 0, MOST_HOSTS - MOST_NODES);
    *c = (instance){.servers = {.weight = (double)pick(&seed, 1, 8) / 4}};
    set_matrices(c, ranks, hosts, &seed);
    set_slots(c, ranks, nodes, &seed);
    if (!flat)
        set_hops(c, hosts, &seed);
    c->servers.bytes = &c->bytes;
    c->input = (setmatch_input){
        .view = &c->view, .slots = c->slots, .nodes = nodes, .threshold = 10, .refine = true};
}

static void release_instance(instance *c)
{
    matrix_release(&c->view);
    matrix_release(&c->bytes);
}

/* ---- a model ---- */

static double model_hops(const instance *c, size_t n, size_t m)
{
    size_t hosts = c->servers.hops.places;
    if (n == m)
        return 0;
    return hosts == 0 ? 2 : c->between[n * hosts + m] + c->between[m * hosts + n];
}

static double model_cost(const instance *c, const size_t *node)
{
    double sum = 0;
    for (size_t r = 0; r < c->view.rows; r++) {
        for (size_t k = 0; k < r; k++)
            sum += (double)matrix_get(&c->view, r, k) * model_hops(c, node[r], node[k]);
        for (size_t h = 0; h < c->bytes.cols; h++)
            sum +=
                c->servers.weight * (double)matrix_get(&c->bytes, r, h) * model_hops(c, node[r], h);
    }
    return sum;
}

static bool fits(const instance *c, const size_t *node)
{
    size_t used[MOST_NODES] = {0};
    for (size_t r = 0; r < c->view.rows; r++)
        if (++used[node[r]] > c->slots[node[r]])
            return false;
    return true;
}

/* Whether groups of ranks that shared a node still do, and no others. */
static bool keeps_groups(const instance *c, const size_t *node)
{
    for (size_t r = 0; r < c->view.rows; r++)
        for (size_t k = 0; k < r; k++)
            if ((node[r] == node[k]) != (c->given[r] == c->given[k]))
                return false;
    return true;
}

/* The least cost of all placements, or of those that keep the groups. */
static double least_cost(const instance *c, bool groups)
{
    size_t node[MOST_RANKS] = {0}, ranks = c->view.rows, r = 0;
    double least = model_cost(c, c->given);
    while (r < ranks) {
        if (fits(c, node) && (!groups || keeps_groups(c, node))) {
            double cost = model_cost(c, node);
            least = cost < least ? cost : least;
        }
        for (r = 0; r < ranks && ++node[r] == c->input.nodes; r++)
            node[r] = 0;
    }
    return least;
}

/* ---- tests ---- */

static double cost_in_way(const instance *c, setmatch_near way)
{
    size_t node[MOST_RANKS];
    double cost, given;
    memcpy(node, c->given, sizeof node);
    ck_assert_int_eq(setmatch_near_cost(&c->input, &c->servers, node, &given), 0);
    ck_assert(given == model_cost(c, node));
    ck_assert_int_eq(setmatch_place_near(&c->input, &c->servers, way, node), 0);
    ck_assert(fits(c, node));
    cost = model_cost(c, node);
    if (way == SETMATCH_NEAR_NODES)
        ck_assert(keeps_groups(c, node));
    if (way != SETMATCH_NEAR_SERVERS)
        ck_assert(cost <= given);
    return cost;
}

START_TEST(whole_nodes_are_placed_exactly)
{
    for_random_seeds (seed, 1000) {
        instance c;
        make_instance(&c, true, seed);
        double cost = cost_in_way(&c, SETMATCH_NEAR_NODES), least = least_cost(&c, true);
        ck_assert_msg(cost == least, "seed %llu: %g, not %g", (unsigned long long)seed, cost,
                      least);
        release_instance(&c);
    }
}
END_TEST

/* The best of all ways is the least of all placements in nearly all cases, flat or with hops. */
START_TEST(ranks_are_placed_well)
{
    enum { CASES = 2000 };
    size_t missed = 0;
    double found = 0, best = 0;
    for_random_seeds (seed, CASES) {
        instance c;
        make_instance(&c, seed % 2 == 0, seed);
        double least = least_cost(&c, false), cost = cost_in_way(&c, SETMATCH_NEAR_NODES);
        for (int way = SETMATCH_NEAR_RANKS; way < SETMATCH_NEAR_WAYS; way++) {
            double other = cost_in_way(&c, (setmatch_near)way);
            cost = other < cost ? other : cost;
        }
        ck_assert(cost >= least);
        missed += cost > least;
        found += cost;
        best += least;
        release_instance(&c);
    }
    if (random_cases(CASES) < CASES)
        return;
    ck_assert_uint_le(missed, CASES * 15 / 1000);
    ck_assert(found <= 1.002 * best);
}
END_TEST

START_TEST(what_is_refused)
{
    instance c;
    make_instance(&c, true, 3);
    size_t node[MOST_RANKS];
    memcpy(node, c.given, sizeof node);
    c.bytes.cols = c.input.nodes - 1;
    ck_assert_int_eq(setmatch_place_near(&c.input, &c.servers, SETMATCH_NEAR_NODES, node), -EINVAL);
    c.bytes.cols = MOST_HOSTS;
    c.bytes.rows++;
    ck_assert_int_eq(setmatch_place_near(&c.input, &c.servers, SETMATCH_NEAR_NODES, node), -EINVAL);
    c.bytes.rows--;
    c.input.threshold = 101;
    ck_assert_int_eq(setmatch_place_near(&c.input, &c.servers, SETMATCH_NEAR_NODES, node), -EINVAL);
    ck_assert_mem_eq(node, c.given, sizeof node);
    release_instance(&c);
}
END_TEST

START_TEST(memory_runs_out)
{
    instance c;
    make_instance(&c, false, first_seed());
    for (int way = 0; way < SETMATCH_NEAR_WAYS; way++) {
        int rc = -ENOMEM;
        for (long nth = 0; rc != 0; nth++) {
            size_t node[MOST_RANKS];
            memcpy(node, c.given, sizeof node);
            fail_allocation(nth);
            rc = setmatch_place_near(&c.input, &c.servers, (setmatch_near)way, node);
            check_failing(rc);
            if (rc != 0)
                ck_assert_mem_eq(node, c.given, sizeof node);
        }
    }
    release_instance(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("near");
    TCase *cases = tcase_create("near");
    tcase_set_timeout(cases, 0);
    add_tests(cases, whole_nodes_are_placed_exactly, ranks_are_placed_well, what_is_refused,
              memory_runs_out);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
