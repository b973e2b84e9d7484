/* SPDX-License-Identifier: BSD-3-Clause */
/* The placement methods of src/setmatch: known cuts, groups of nodes, profiles, refusals, memory.
 */
#include "base/mix.h"
#include "setmatch/profile.h"
#include "setmatch/setmatch.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"
#include "edges.h"
#include "failing_malloc.h"
#include "suite.h"

enum { MOST_RANKS = 100000, MOST_NODES = 2000, METHODS = 5 };

/* Those that take long, of which a short run has a part. */
enum { PLACINGS = 4 };

static size_t equal_slots[MOST_NODES];

/* The least number of nodes of `slots` slots that suffices for the ranks. */
static setmatch_input on_equal_nodes(const matrix *view, size_t slots)
{
    size_t nodes = (view->rows + slots - 1) / slots;
    ck_assert_uint_le(nodes, MOST_NODES);
    for (size_t n = 0; n < nodes; n++)
        equal_slots[n] = slots;
    return (setmatch_input){.view = view, .slots = equal_slots, .nodes = nodes, .refine = true};
}

/* Also checks that no node has more ranks than slots. */
static int64_t cut_by(setmatch_method_fn place, const setmatch_input *input)
{
    static size_t node[MOST_RANKS], left[MOST_NODES];
    int64_t inside, total;
    bool fits = true;
    memcpy(left, input->slots, input->nodes * sizeof *left);
    ck_assert_int_eq(place(input, node), 0);
    for (size_t rank = 0; rank < input->view->rows; rank++)
        fits = fits && left[node[rank]]-- > 0;
    ck_assert(fits);
    ck_assert_int_eq(setmatch_weight(input->view, node, &inside, &total), 0);
    return total - inside;
}

/* --- kinds of graphs on which bisection in halves alone fails --- */

static const struct {
    const char *name, *pattern;
    size_t nodes, slots;
    int64_t most;
} known_cuts[] = {
    {"27 nodes that hold a cube each", "mesh:9x9x9:1x1x1", 27, 27, 486},
    /* 16 squares of nine ranks cut 2 * 3 * 12 edges */
    {"squares that leave a slot of each node free", "mesh:12x12:1x1", 16, 10, 72},
};

START_TEST(cuts_no_more_than_is_known)
{
    if (!takes_part(2 + (uint64_t)_i, PLACINGS))
        return;
    matrix view;
    pattern_view(known_cuts[_i].pattern, &view);
    setmatch_input input = on_equal_nodes(&view, known_cuts[_i].slots);
    equal_slots[input.nodes] = known_cuts[_i].slots; /* where a node more is used */
    input.nodes = known_cuts[_i].nodes;
    int64_t cut = cut_by(setmatch_auto, &input);
    ck_assert_msg(cut <= known_cuts[_i].most, "%s: %lld", known_cuts[_i].name, (long long)cut);
    matrix_release(&view);
}
END_TEST

/* Bisection takes part at any size, and is refined, too, where the work suffices for nothing else:
 * with a profile there is less of it. */
START_TEST(many_ranks)
{
    if (!takes_part(0, PLACINGS))
        return;
    matrix view;
    const setmatch_profile profile = {0, NULL};
    pattern_view("shuffled-mesh:205x100:1x1", &view);
    setmatch_input input = on_equal_nodes(&view, 64);
    input.refine = false;
    int64_t bisected = cut_by(setmatch_bisection, &input);
    ck_assert_int_le(cut_by(setmatch_auto, &input), bisected);
    input.refine = true;
    input.profile = &profile;
    input.objective = SETMATCH_OBJECTIVE_NEIGHBOURS;
    int64_t refined = cut_by(setmatch_bisection, &input);
    ck_assert_int_lt(refined, bisected);
    ck_assert_int_le(cut_by(setmatch_auto, &input), refined);
    matrix_release(&view);
}
END_TEST

/* One rank has links to all others, which have no more: nothing merges, so that the whole graph is
 * the smallest one of bisection. */
START_TEST(star_of_many_ranks)
{
    if (!takes_part(1, PLACINGS))
        return;
    matrix_builder b = {.rows = MOST_RANKS, .cols = MOST_RANKS};
    for (size_t rank = 1; rank < MOST_RANKS; rank++)
        add_entry(&b, 0, rank, 1);
    matrix view = finish_matrix(&b);
    setmatch_input input = on_equal_nodes(&view, 50);
    ck_assert_int_eq(cut_by(setmatch_auto, &input), MOST_RANKS - 50);
    matrix_release(&view);
}
END_TEST

START_TEST(stock_policies)
{
    matrix view;
    size_t node[6];
    pattern_view("mesh:6:1", &view);
    setmatch_input input = {.view = &view, .slots = (size_t[]){1, 0, 3, 9}, .nodes = 4};
    ck_assert_int_eq(setmatch_byslot(&input, node), 0);
    ck_assert(memcmp(node, (size_t[]){0, 2, 2, 2, 3, 3}, sizeof node) == 0);
    ck_assert_int_eq(setmatch_bynode(&input, node), 0);
    ck_assert(memcmp(node, (size_t[]){0, 2, 3, 2, 3, 2}, sizeof node) == 0);
    matrix_release(&view);
}
END_TEST

START_TEST(values_beyond_any_sum)
{
    const int64_t max = INT64_MAX;
    matrix view =
        matrix_of_values(4, 4, (int64_t[]){0, 1, max, 1, 1, 0, 1, max, max, 1, 0, 1, 1, max, 1, 0});
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        size_t node[4];
        setmatch_input input = on_equal_nodes(&view, 2);
        ck_assert_int_eq(m->place(&input, node), 0);
        if (m->place != setmatch_byslot && m->place != setmatch_bynode)
            ck_assert_msg(node[0] == node[2] && node[1] == node[3], "%s", m->name);
    }
    matrix_release(&view);
}
END_TEST

/* --- cost and groups --- */

/* In one triangle. Heavy edges 0-4, 1-5, 2-6, 3-7, for one node each; light ones
 * 0-2 and 1-3 between these pairs. */
static matrix pairs_of_pairs(void)
{
    int64_t value[64] = {0};
    value[0 * 8 + 4] = value[1 * 8 + 5] = value[2 * 8 + 6] = value[3 * 8 + 7] = 20;
    value[0 * 8 + 2] = value[1 * 8 + 3] = 6;
    return matrix_of_values(8, 8, value);
}

/* Edges of 60 share a node, of 32 a group of the only level or of the second one. */
static const struct {
    size_t levels;
    double bandwidth[4]; /* 0: the defaults */
    double cost;
} costs[] = {
    {0, {4, 2, 1, 1}, 60 / 4. + 32 / 2.},
    {1, {4, 2, 1, 1}, 60 / 4. + 32 / 1.},
    {2, {4, 3, 2, 1}, 60 / 4. + 32 / 2.},
    {1, {0, 0, 0, 0}, 60 / 3500. + 32 / 1050.},
};

START_TEST(cost_by_what_is_shared)
{
    matrix view = pairs_of_pairs();
    const size_t node[] = {0, 1, 2, 3, 0, 1, 2, 1};
    setmatch_network network = {.group_of_node = (size_t[]){7, 7, 9, 9, 5, 5, 5, 5}};
    setmatch_input input = {.view = &view, .nodes = 4, .network = &network};
    for (size_t k = 0; k < LENGTH(costs); k++) {
        double bandwidth[4];
        memcpy(bandwidth, costs[k].bandwidth, sizeof bandwidth);
        network.levels = costs[k].levels;
        network.bandwidth = bandwidth[0] > 0 ? bandwidth : NULL;
        double cost = setmatch_cost(&input, node);
        ck_assert_msg(fabs(cost - costs[k].cost) < 1e-9, "case %zu: %g", k, cost);
    }
    matrix_release(&view);
}
END_TEST

/* 16 ranks: nodes of 2 hold {r, r ^ 8}, leaves of 2 nodes {.. ^ 4}, pods of 2 leaves {.. ^ 2}: at
 * each level the heaviest edges stay inside. */
START_TEST(levels_in_levels)
{
    size_t place[3][16]; /* nodes, leaves and pods of ranks */
    size_t groups[16] = {0, 1, 2, 3, 0, 1, 2, 3, 5, 6, 6, 5, 5, 6, 6, 5};
    const setmatch_network network = {2, groups, (double[]){8, 4, 2, 1}};
    matrix_builder b = {.rows = 16, .cols = 16};
    int64_t weight = 1000;
    for (size_t bit = 8; bit > 0; bit /= 2, weight /= 10)
        for (size_t r = 0; r < bit; r++)
            add_entry(&b, r, r ^ bit, weight);
    matrix view = finish_matrix(&b);
    setmatch_input input = on_equal_nodes(&view, 2);
    input.network = &network;
    ck_assert_int_eq(setmatch_auto(&input, place[0]), 0);
    for (size_t r = 0; r < 16; r++) {
        place[1][r] = groups[place[0][r]];
        place[2][r] = groups[8 + place[0][r]];
    }
    for (size_t level = 0, bit = 8; level < 3; level++, bit /= 2)
        for (size_t r = 0; r < bit; r++)
            ck_assert_uint_eq(place[level][r], place[level][r ^ bit]);
    ck_assert_uint_ne(place[2][0], place[2][1]);
    matrix_release(&view);
}
END_TEST

/* Two leaves of two nodes and a single node, measured with noise; one pair in one direction only,
 * one pair not at all. */
START_TEST(network_from_bandwidth)
{
    matrix measured = matrix_of_values(
        5, 5, (int64_t[]){9000, 940, 300, 310, 100, 960,  9200, 290, 0,   105, 300, 290, 0,
                          1000, 95,  310, 0,   0,   9100, 100,  100, 105, 95,  100, 9100});
    setmatch_network network;
    ck_assert_int_eq(setmatch_network_from_bandwidth(&measured, &network), 0);
    ck_assert_uint_eq(network.levels, 2);
    const size_t *leaf = network.group_of_node, *pod = network.group_of_node + 5;
    ck_assert_uint_eq(leaf[0], leaf[1]);
    ck_assert_uint_eq(leaf[2], leaf[3]);
    ck_assert_uint_ne(leaf[0], leaf[2]);
    ck_assert_uint_ne(leaf[4], leaf[0]);
    ck_assert_uint_ne(leaf[4], leaf[2]);
    for (size_t n = 1; n < 4; n++)
        ck_assert_uint_eq(pod[n], pod[0]);
    ck_assert_uint_ne(pod[4], pod[0]);
    for (size_t k = 0; k < 4; k++)
        ck_assert_double_eq_tol(network.bandwidth[k], ((double[]){9100, 975, 300, 100})[k], 1e-9);
    setmatch_network_release(&network);
    matrix_release(&measured);
    measured = matrix_of_values(2, 2, (int64_t[]){0, 0, 0, 0});
    ck_assert_int_eq(setmatch_network_from_bandwidth(&measured, &network), -EINVAL);
    matrix_release(&measured);
}
END_TEST

static int find_network(const matrix *measured)
{
    setmatch_network network = {77, NULL, NULL};
    int rc = setmatch_network_from_bandwidth(measured, &network);
    if (rc != 0)
        return network.levels == 77 ? rc : -EIO;
    setmatch_network_release(&network);
    return 0;
}

START_TEST(network_without_memory)
{
    matrix measured = matrix_of_values(3, 3, (int64_t[]){90, 50, 20, 50, 90, 20, 20, 20, 90});
    fail_each_allocation(find_network(&measured));
    matrix_release(&measured);
}
END_TEST

/* By the cut or, with a network, by the cost. Small differences of values that add up to nearly
 * 2^61 count. */
START_TEST(auto_is_never_worse_than_setmatch_or_byslot)
{
    static const setmatch_method_fn methods[] = {setmatch_auto, setmatch_paper, setmatch_byslot};
    for_random_seeds (seed, 2000) {
        uint64_t state = seed;
        size_t slots[6], group[] = {0, 0, 1, 1, 2, 2}, node[6], room = 0;
        const int shift = seed % 2 == 0 ? 54 : 0;
        const setmatch_network network = {1, group, NULL};
        matrix_builder b = {.rows = (size_t)pick(&state, 1, 6)};
        b.cols = b.rows;
        for (size_t n = 0; n < 6; n++)
            room += slots[n] = (size_t)pick(&state, 0, 4);
        slots[pick(&state, 0, 5)] += room < b.rows ? b.rows : 0;
        for (size_t k = 0; k < 2 * b.rows; k++)
            add_entry(&b, next_random(&state) % b.rows, next_random(&state) % b.rows,
                      (pick(&state, 1, 9) << shift) + pick(&state, 0, 3));
        matrix view = finish_matrix(&b);
        setmatch_input input = {.view = &view, .slots = slots, .nodes = 6};
        for (int with = 0; with < 2; with++, input.network = &network) {
            double cost[3];
            int64_t cut[3];
            for (size_t k = 0; k < 3; k++) {
                input.refine = k == 0 && seed % 20 == 0;
                cut[k] = cut_by(methods[k], &input);
                ck_assert_int_eq(methods[k](&input, node), 0);
                cost[k] = setmatch_cost(&input, node);
            }
            ck_assert_msg(with == 0 ? cut[0] <= cut[1] && cut[0] <= cut[2]
                                    : cost[0] <= cost[1] && cost[0] <= cost[2],
                          "seed %llu, network %d", (unsigned long long)seed, with);
        }
        matrix_release(&view);
    }
}
END_TEST

/* --- profiles --- */

/* The bytes of ranks on another node than the owner of the file domain. */
static int64_t crossing_of(const setmatch_profile *profile, size_t nodes, const size_t *node)
{
    int64_t local_bytes, total;
    size_t *owner = calloc(owners_count_bins(profile), sizeof *owner);
    ck_assert_int_eq(owners_find(profile, nodes, node, owner, &local_bytes), 0);
    free(owner);
    ck_assert_int_eq(matrix_sum(profile->bytes, &total), 0);
    return total - local_bytes;
}

/* Ranks 0 and 1 are on node 0, rank 2 on node 1. */
static const struct {
    int64_t bytes[3 * 6], crossing;
} crossings[] = {
    /* Node 0 has 10 2 0 4, node 1 has 0 1 6 2: two bins each, 0 and 3, 1 and 2. */
    {{9, 0, 0, 3, 0, 0, 1, 2, 0, 1, 0, 0, 0, 1, 6, 2, 0, 0}, 25 - 14 - 7},
    /* In turn: even domains cut through all of them. */
    {{4, 0, 4, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 4}, 0},
    /* Three of four bins on one node: fitted domains have two on each. */
    {{4, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4}, 0},
};

START_TEST(crossing_by_hand)
{
    matrix bytes = matrix_of_values(3, 6, crossings[_i].bytes);
    ck_assert_int_eq(crossing_of(&(setmatch_profile){1, &bytes}, 2, (size_t[]){0, 0, 1}),
                     crossings[_i].crossing);
    matrix_release(&bytes);
}
END_TEST

/* In bins of up to 64 ranks, and of more; of few bytes, and of as many as there can be. */
START_TEST(coaccess_of_random_bins)
{
    for_random_seeds (seed, 60) {
        static int64_t bytes[140];
        uint64_t state = seed;
        size_t ranks = (size_t)pick(&state, 1, 140), rank[140], count = 0;
        int64_t most = seed % 3 == 0 ? INT64_MAX / 200 : seed % 3 == 1 ? 3 : 1 << 20;
        __int128 total = 0;
        for (size_t r = 0; r < ranks; r++) {
            total += bytes[r] = pick(&state, 0, 3) == 0 ? 0 : pick(&state, 1, most);
            rank[count] = r;
            count += bytes[r] > 0;
        }
        matrix profile_bytes = matrix_of_values(ranks, 1, bytes), shared;
        ck_assert_int_eq(setmatch_coaccess(&(setmatch_profile){1, &profile_bytes}, &shared), 0);
        for (size_t i = 0; i < count; i++)
            for (size_t j = i; j < count; j++) {
                __int128 value = (__int128)bytes[rank[i]] * bytes[rank[j]] / total;
                value = i == j || (count > 64 && j > i + 32) ? 0 : value;
                value *= count > 64 ? (__int128)count / 64 : 1;
                ck_assert(matrix_get(&shared, rank[i], rank[j]) == value);
            }
        matrix_release(&profile_bytes);
        matrix_release(&shared);
    }
}
END_TEST

/* Bins of 1000 bytes, filled by ranks with 250, 500 or 1000 bytes, which the view does not show. */
static matrix uneven_blocks(size_t ranks, size_t bins)
{
    int64_t *value = calloc(ranks * bins, sizeof *value);
    size_t rank = 0;
    ck_assert_ptr_nonnull(value);
    for (size_t b = 0; b < bins; b++) {
        int64_t left = 1000;
        while (left > 0 && rank < ranks) {
            int64_t part = left < 250 << rank % 3 ? left : 250 << rank % 3;
            value[rank * 5 % ranks * bins + b] += part;
            left -= part;
            rank++;
        }
    }
    matrix m = matrix_of_values(ranks, bins, value);
    free(value);
    return m;
}

static int64_t crossing_by(const setmatch_input *input)
{
    size_t node[64];
    ck_assert_int_eq(setmatch_auto(input, node), 0);
    return crossing_of(input->profile, input->nodes, node);
}

START_TEST(profile_of_uneven_blocks)
{
    matrix view, bytes = uneven_blocks(32, 16);
    const setmatch_profile profile = {1, &bytes};
    pattern_view("mesh:32:1", &view);
    setmatch_input input = on_equal_nodes(&view, 8);
    input.profile = &profile;
    int64_t by_profile = crossing_by(&input);
    input.objective = SETMATCH_OBJECTIVE_NEIGHBOURS;
    ck_assert_int_lt(by_profile, crossing_by(&input));
    matrix_release(&view);
    matrix_release(&bytes);
}
END_TEST

/* The study's cube: shuffled ranks, with fitted domains no bytes need to cross. */
START_TEST(cube_with_fitted_domains)
{
    matrix view, bytes;
    const setmatch_profile profile = {1, &bytes};
    pattern_view("shuffled-array:4x4x4:16x16x16", &view);
    pattern_profile("shuffled-array:4x4x4:16x16x16", 8, 8192, &bytes);
    setmatch_input input = on_equal_nodes(&view, 8);
    input.profile = &profile;
    ck_assert_int_eq(crossing_by(&input), 0);
    matrix_release(&view);
    matrix_release(&bytes);
}
END_TEST

/* --- refusals and memory --- */

static int load_nothing_finite(const void *context, const size_t *node_of_rank, double *load)
{
    (void)node_of_rank;
    *load = *(const double *)context;
    return 0;
}

START_TEST(refusals)
{
    matrix view = pairs_of_pairs(), negative = matrix_of_values(2, 2, (int64_t[]){0, -1, 0, 0});
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        size_t node[8] = {77};
        setmatch_input input = {.view = &view, .slots = (size_t[]){3, 4}, .nodes = 2};
        ck_assert_int_eq(m->place(&input, node), -ENOSPC);
        input.slots = (size_t[]){SIZE_MAX, SIZE_MAX};
        input.view = &negative;
        ck_assert_int_eq(m->place(&input, node), -EINVAL);
        ck_assert_uint_eq(node[0], 77);
        input.view = &view;
        ck_assert_int_eq(m->place(&input, node), 0);
    }
    size_t node[8] = {77};
    setmatch_input input = on_equal_nodes(&view, 2);
    input.objective = SETMATCH_OBJECTIVE_PROFILE;
    matrix all = matrix_of_values(view.rows, 1, (int64_t[8]){1, 1, 1, 1, 1, 1, 1, 1});
    const setmatch_profile profile = {1, &all};
    input.profile = &profile;
    input.load = load_nothing_finite;
    const double loads[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    for (size_t i = 0; i < LENGTH(loads); i++) {
        input.load_context = &loads[i];
        ck_assert_int_eq(setmatch_auto(&input, node), -ERANGE);
    }
    matrix_release(&all);
    ck_assert_uint_eq(node[0], 77);
    matrix_release(&view);
    matrix_release(&negative);
}
END_TEST

START_TEST(no_ranks)
{
    const setmatch_network network = {1, (size_t[]){1, 2}, NULL};
    matrix view;
    size_t node = 9;
    ck_assert_int_eq(matrix_from_entries(&view, 0, 0, NULL, 0), 0);
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        setmatch_input input = {.view = &view,
                                .slots = (size_t[]){0, 2},
                                .nodes = 2,
                                .refine = true,
                                .network = &network};
        ck_assert_int_eq(m->place(&input, &node), 0);
        input.nodes = 0;
        ck_assert_int_eq(m->place(&input, &node), 0);
    }
    ck_assert_uint_eq(node, 9);
    matrix_release(&view);
}
END_TEST

enum { SHORTAGES = METHODS + 2 };

/* If any allocation fails, the result is -ENOMEM, memory is freed and outputs are not set: by each
 * method, then by method auto with a network, and with a profile. All of the first allocations fail
 * in turn, fewer and fewer of the later ones. */
START_TEST(memory_runs_out)
{
    if (!takes_part((uint64_t)_i, SHORTAGES))
        return;
    const setmatch_method_fn place = _i < METHODS ? setmatch_methods[_i].place : setmatch_auto;
    const int with = _i - METHODS;
    matrix view = pairs_of_pairs(), bytes = uneven_blocks(8, 4);
    const setmatch_profile profile = {1, &bytes};
    const setmatch_network network = {2, (size_t[]){1, 1, 2, 2, 3, 3, 4, 4}, NULL};
    setmatch_input input = on_equal_nodes(&view, with < 1 ? 2 : 4);
    uint64_t state = first_seed();
    long nth = 0;
    if (with == 0)
        input.network = &network;
    if (with == 1)
        input.profile = &profile;
    for (int rc = -ENOMEM; rc != 0; nth += 1 + pick(&state, 0, nth / (int64_t)random_cases(25))) {
        size_t node[8] = {77};
        fail_allocation(nth);
        rc = place(&input, node);
        check_failing(rc);
        ck_assert(rc == 0 || node[0] == 77);
    }
    ck_assert_int_gt(nth, 6);
    matrix_release(&view);
    matrix_release(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("placement");
    TCase *slow = tcase_create("slow"), *others = tcase_create("others");
    tcase_set_tags(slow, "slow");
    tcase_set_timeout(slow, 600);
    tcase_set_timeout(others, 600);
    add_tests(slow, (const struct suite_test[]){
                        ONCE(many_ranks), ONCE(star_of_many_ranks),
                        TIMES(cuts_no_more_than_is_known, LENGTH(known_cuts)), END_OF_TESTS});
    add_tests(others,
              (const struct suite_test[]){
                  ONCE(stock_policies), ONCE(values_beyond_any_sum), ONCE(cost_by_what_is_shared),
                  ONCE(levels_in_levels), ONCE(network_from_bandwidth),
                  ONCE(auto_is_never_worse_than_setmatch_or_byslot), ONCE(network_without_memory),
                  TIMES(crossing_by_hand, LENGTH(crossings)), ONCE(coaccess_of_random_bins),
                  ONCE(profile_of_uneven_blocks), ONCE(cube_with_fitted_domains), ONCE(refusals),
                  ONCE(no_ranks), TIMES(memory_runs_out, SHORTAGES), END_OF_TESTS});
    suite_add_tcase(suite, slow);
    suite_add_tcase(suite, others);
    return run_suite(suite);
}
