/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of fitted file domains: what can be told by hand. tests/property/stress_fitted.c
 * compares with exact answers. */
#include "plan/fitted.h"

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

enum { MAX_UNITS = 64, MAX_NODES = 8 };

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct scene {
    matrix bytes;
    topo topology;
    fitted_input input;
    size_t of[MAX_UNITS];
    fitted_report report;
};

/* In place of the last one. bytes[u * nodes + n]; one aggregator on each node. */
static struct scene *set(size_t units, size_t nodes, const int64_t *bytes)
{
    static const size_t one_each[MAX_NODES] = {0, 1, 2, 3, 4, 5, 6, 7};
    static struct scene stage;
    struct scene *s = &stage;
    matrix_of_table(&s->bytes, units, nodes, bytes, nodes);
    topo_flat(&s->topology, nodes);
    s->input = (fitted_input){&s->bytes, &s->topology, one_each, nodes};
    return s;
}

/* Letters are nodes, a dot is a unit that nobody accesses; each unit has `bytes`. */
static struct scene *set_letters(const char *letters, size_t nodes, int64_t bytes)
{
    int64_t table[MAX_UNITS * MAX_NODES] = {0};
    size_t units = strlen(letters);
    for (size_t u = 0; u < units; u++)
        if (letters[u] != '.')
            table[u * nodes + (size_t)(letters[u] - 'a')] = bytes;
    return set(units, nodes, table);
}

static void fit(struct scene *s)
{
    ck_assert_int_eq(fitted_assign(&s->input, NULL, s->of, &s->report), 0);
}

/* The aggregator of each unit as a digit. */
static const char *digits(const struct scene *s)
{
    static char text[MAX_UNITS + 1];
    for (size_t u = 0; u < s->bytes.rows; u++)
        text[u] = (char)('0' + s->of[u]);
    text[s->bytes.rows] = '\0';
    return text;
}

/* ---- assignments ---- */

START_TEST(least_bytes_cross)
{
    /* Three units belong to node 0, which may have two; moving the first or the third costs 2. */
    static const int64_t bytes[] = {3, 1, 3, 0, 2, 0, 0, 1};
    struct scene *s = set(4, 2, bytes);
    fit(s);
    ck_assert(s->report.bytes == 10.0);
    ck_assert(s->report.crossing == 3.0);
    ck_assert(s->report.hop_bytes == 2.0 * 3.0 + 7.0);
    ck_assert(s->report.lower_bound <= 13.0 && s->report.lower_bound > 13.0 - .002 * 10.0);
    ck_assert_uint_eq(s->report.loaded, 4);
}
END_TEST

START_TEST(letters_go_where_they_belong)
{
    static const struct {
        const char *units, *nodes,
            *expected; /* a letter of each unit, the node of each aggregator */
    } cases[] = {
        {"aabb", "01", "0011"},
        {"abab", "01", "0101"},
        {"aaaa", "01", "0011"},      /* what must move, moves in one piece */
        {"bbbbbb", "012", "110022"}, /* in two */
        {"a", "012", "0"},
        {"", "01", ""},
        {"....", "01", "0011"},
        {"a........b", "01", "0000011111"}, /* idle units fill up after the left neighbour */
        {"ab......", "01", "01111000"},
        {"a.b.a.b.", "01", "00110011"},
        {"..ab", "01", "0101"},
        {"aaabbaabbb", "0110", "0001133222"}, /* cuts fall between runs */
        {"cb", "00011122", "63"},             /* more aggregators than units */
    };
    for (size_t k = 0; k < LENGTH(cases); k++) {
        struct scene *s = set_letters(cases[k].units, 3, 100);
        size_t node_of_aggregator[MAX_NODES];
        s->input.node_of_aggregator = node_of_aggregator;
        s->input.aggregators = strlen(cases[k].nodes);
        for (size_t j = 0; j < s->input.aggregators; j++)
            node_of_aggregator[j] = (size_t)(cases[k].nodes[j] - '0');
        fit(s);
        ck_assert_msg(strcmp(digits(s), cases[k].expected) == 0, "%s: %s", cases[k].units,
                      digits(s));
    }
}
END_TEST

START_TEST(units_like_one_another_stay_together)
{
    int64_t bytes[60 * 3];
    for (size_t k = 0; k < 60 * 3; k++)
        bytes[k] = 7;
    struct scene *s = set(60, 3, bytes);
    fit(s);
    ck_assert_uint_eq(s->report.runs, 3);
    ck_assert(s->report.crossing == 60 * 14.0);
}
END_TEST

START_TEST(large_numbers_are_exact)
{
    static const int64_t bytes[] = {INT64_C(1) << 49, (INT64_C(1) << 49) - 1, INT64_C(1) << 49, 1};
    struct scene *s = set(2, 2, bytes);
    fit(s);
    ck_assert_str_eq(digits(s), "10");
    ck_assert(s->report.crossing == (double)(INT64_C(1) << 49) + 1.0);
}
END_TEST

START_TEST(the_better_one_is_returned)
{
    static const size_t good[] = {0, 0, 1, 1}, bad[] = {1, 1, 0, 0};
    struct scene *s = set_letters("aabb", 2, 10);
    fitted_options options = {.alternative = good};
    ck_assert_int_eq(fitted_assign(&s->input, &options, s->of, &s->report), 0);
    ck_assert_int_eq(s->report.took_alternative, 1); /* as good is good enough */
    ck_assert(s->report.alternative_hop_bytes == 40.0);
    options.alternative = bad;
    ck_assert_int_eq(fitted_assign(&s->input, &options, s->of, &s->report), 0);
    ck_assert_int_eq(s->report.took_alternative, 0);
    ck_assert(s->report.alternative_crossing == 40.0 && s->report.crossing == 0.0);
    ck_assert_str_eq(digits(s), "0011");
    ck_assert(s->report.hop_bytes == 40.0 && s->report.alternative_hop_bytes == 80.0);
    options.least_saving = .5;
    ck_assert_int_eq(fitted_assign(&s->input, &options, s->of, &s->report), 0);
    ck_assert_int_eq(s->report.took_alternative, 1);
    ck_assert_str_eq(digits(s), "1100");
    ck_assert(s->report.hop_bytes == 80.0 && s->report.crossing == 40.0);
    options.least_saving = .49;
    ck_assert_int_eq(fitted_assign(&s->input, &options, s->of, &s->report), 0);
    ck_assert_int_eq(s->report.took_alternative, 0);
}
END_TEST

/* ---- bad input ---- */

static void expect_refusal(struct scene *s, const fitted_options *options)
{
    memset(s->of, 0x55, sizeof s->of);
    memset(&s->report, 0x55, sizeof s->report);
    ck_assert_int_eq(fitted_assign(&s->input, options, s->of, &s->report), -EINVAL);
    ck_assert_uint_eq(s->of[0], SIZE_MAX / 3);
    ck_assert_uint_eq(s->report.loaded, SIZE_MAX / 3);
}

START_TEST(bad_input_is_refused)
{
    static const size_t beyond[] = {0, 2}, no_such_aggregator[] = {0, 1, 2, 0};
    struct scene *s = set_letters("aabb", 2, 10);
    expect_refusal(s, &(fitted_options){.alternative = no_such_aggregator});
    expect_refusal(s, &(fitted_options){.epsilon = -1.0});
    expect_refusal(s, &(fitted_options){.epsilon = NAN});
    expect_refusal(s, &(fitted_options){.least_saving = -.1});
    expect_refusal(s, &(fitted_options){.least_saving = NAN});
    s->input.node_of_aggregator = beyond;
    expect_refusal(s, NULL);
    s->input.aggregators = 0;
    expect_refusal(s, NULL);
    s = set_letters("aabb", 2, 10);
    s->bytes.cols = 3;
    expect_refusal(s, NULL);
    s = set_letters("aabb", 2, 10);
    s->bytes.value[2] = -1;
    expect_refusal(s, NULL);
}
END_TEST

START_TEST(no_memory)
{
    static const double hops[] = {1, 3, 3, 1};
    for (int routed = 0; routed < 2; routed++) {
        int rc = -ENOMEM;
        struct scene *s = set_letters("abba.ab", 2, 10);
        ck_assert(!routed || topo_from_hops(&s->topology, 2, hops) == 0);
        for (long nth = 0; rc != 0; nth++) {
            fail_allocation(nth);
            rc = fitted_assign(&s->input, NULL, s->of, &s->report);
            check_failing(rc);
        }
        topo_release(&s->topology);
    }
}
END_TEST

/* ---- units ---- */

START_TEST(the_unit_is_as_large_as_it_may_be)
{
    static const struct {
        const char *letters;
        fitted_unit_options options;
        unsigned doublings;
        double bound;
    } cases[] = {
        {"aabbaabb", {0}, 1, 0.0},
        {"aabbaabb", {.first = 1}, 0, 0.0}, /* a larger unit would begin with the last a */
        {"aabbaabb", {.first = 2}, 1, 0.0},
        {"aabbaabb", {.tolerance = .5}, 3, .5},
        {"aabbaabb", {.tolerance = -1.0}, 1, 0.0},
        {"aaaaaaaa", {0}, 3, 0.0},
        {"aaaaaaaa", {.aggregators = 2}, 2, 0.0},
        {"aaaaaaaa", {.aggregators = 4}, 1, 0.0},
        /* 3 of 8 is 1.125 times the average, 2 of 4 is 1.5 times */
        {"aaaaaaaa", {.aggregators = 3}, 0, 0.0},
        {"........", {0}, 3, 0.0},
        {"", {0}, 0, 0.0},
        {"a", {0}, 0, 0.0},
    };
    for (size_t k = 0; k < LENGTH(cases); k++) {
        struct scene *s = set_letters(cases[k].letters, 2, 10);
        fitted_unit_choice choice;
        ck_assert_int_eq(fitted_choose_unit(&s->bytes, &cases[k].options, &choice), 0);
        ck_assert_msg(choice.doublings == cases[k].doublings && choice.bound == cases[k].bound,
                      "case %zu, %s", k, cases[k].letters);
        matrix_release(&choice.bytes);
    }
}
END_TEST

/* Units that the choice must have, from the dense table. */
static double model_bound(const int64_t *bytes, size_t units, size_t nodes, uint64_t first,
                          unsigned doublings, int64_t (*sum)[MAX_NODES], size_t *rows)
{
    double total = 0.0, staying = 0.0;
    memset(sum, 0, (MAX_UNITS + 1) * sizeof *sum);
    *rows = 0;
    for (size_t u = 0; u < units; u++) {
        size_t unit = (size_t)(((first + u) >> doublings) - (first >> doublings));
        *rows = unit + 1;
        for (size_t n = 0; n < nodes; n++) {
            sum[unit][n] += bytes[u * nodes + n];
            total += (double)bytes[u * nodes + n];
        }
    }
    for (size_t u = 0; u < *rows; u++) {
        int64_t most = 0;
        for (size_t n = 0; n < nodes; n++)
            most = sum[u][n] > most ? sum[u][n] : most;
        staying += (double)most;
    }
    return total > 0.0 ? 1.0 - staying / total : 0.0;
}

START_TEST(units_agree_with_the_table)
{
    uint64_t state = first_seed() + (uint64_t)_i;
    int64_t bytes[MAX_UNITS * MAX_NODES], sum[MAX_UNITS + 1][MAX_NODES];
    size_t units = (size_t)pick(&state, 1, MAX_UNITS), nodes = (size_t)pick(&state, 1, MAX_NODES),
           rows;
    int64_t run = pick(&state, 1, 9), noise = pick(&state, 0, 2);
    for (size_t k = 0; k < units * nodes; k++) {
        int64_t owner = (int64_t)(k / nodes) / run % (int64_t)nodes;
        bytes[k] = owner == (int64_t)(k % nodes) ? 100 : pick(&state, 0, 1) * noise;
    }
    struct scene *s = set(units, nodes, bytes);
    fitted_unit_options options = {.first = (uint64_t)pick(&state, 0, 20),
                                   .tolerance = (double)pick(&state, 1, 30) / 100.0};
    fitted_unit_choice choice;
    ck_assert_int_eq(fitted_choose_unit(&s->bytes, &options, &choice), 0);
    double smallest = model_bound(bytes, units, nodes, options.first, 0, sum, &rows);
    double larger =
        model_bound(bytes, units, nodes, options.first, choice.doublings + 1, sum, &rows);
    size_t one_less = rows;
    double chosen = model_bound(bytes, units, nodes, options.first, choice.doublings, sum, &rows);
    ck_assert(choice.smallest_bound == smallest && choice.bound == chosen);
    ck_assert(chosen <= smallest + options.tolerance);
    ck_assert(larger > smallest + options.tolerance || rows == 1 || one_less == rows);
    ck_assert_uint_eq(choice.bytes.rows, rows);
    for (size_t u = 0; u < rows; u++)
        for (size_t n = 0; n < nodes; n++)
            ck_assert_int_eq(matrix_get(&choice.bytes, u, n), sum[u][n]);
    matrix_release(&choice.bytes);
}
END_TEST

START_TEST(smallest_units_are_as_wanted)
{
    const int64_t most = 1 << 20, unit = 64 << 10;
    ck_assert_int_eq(fitted_smallest_unit(0, 0, 0, 1), unit);
    ck_assert_int_eq(fitted_smallest_unit(4096, 0, 5, 9000), 4096);
    ck_assert_int_eq(fitted_smallest_unit(4096, 1000, 0, 9000), 5000);
    ck_assert_int_eq(fitted_smallest_unit(0, unit + 1, 0, 9000), unit + 1);
    ck_assert_int_eq(fitted_smallest_unit(7, 0, 0, 7 * most), 7);
    ck_assert_int_eq(fitted_smallest_unit(7, 0, 6, 7 * most + 1), 14);
    ck_assert_int_eq(fitted_smallest_unit(1, 0, INT64_MAX - 1, INT64_MAX), 1);
    ck_assert_int_eq(fitted_smallest_unit(0, 0, 0, INT64_MAX), INT64_C(1) << 43);
}
END_TEST

START_TEST(bad_units_are_refused)
{
    fitted_unit_choice choice;
    struct scene *s = set_letters("aabb", 2, 10);
    ck_assert_int_eq(
        fitted_choose_unit(&s->bytes, &(fitted_unit_options){.tolerance = NAN}, &choice), -EINVAL);
    s->bytes.value[0] = -1;
    ck_assert_int_eq(fitted_choose_unit(&s->bytes, NULL, &choice), -EINVAL);
    s->bytes.value[0] = s->bytes.value[1] = INT64_MAX;
    ck_assert_int_eq(fitted_choose_unit(&s->bytes, NULL, &choice), -ERANGE);
}
END_TEST

START_TEST(no_memory_for_units)
{
    int rc = -ENOMEM;
    fitted_unit_choice choice;
    struct scene *s = set_letters("aaaabbbb", 2, 10);
    for (long nth = 0; rc != 0; nth++) {
        fail_allocation(nth);
        rc = fitted_choose_unit(&s->bytes, NULL, &choice);
        stop_failing();
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
        ck_assert_int_eq(allocations.live, rc == 0 ? 3 : 0);
    }
    matrix_release(&choice.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fitted");
    TCase *assignments = tcase_create("assignments");
    add_tests(assignments, least_bytes_cross, letters_go_where_they_belong,
              units_like_one_another_stay_together, large_numbers_are_exact,
              the_better_one_is_returned, bad_input_is_refused, no_memory);
    suite_add_tcase(suite, assignments);
    TCase *units = tcase_create("units");
    tcase_add_test(units, the_unit_is_as_large_as_it_may_be);
    tcase_add_loop_test(units, units_agree_with_the_table, 0, (int)random_cases(200));
    add_tests(units, smallest_units_are_as_wanted, bad_units_are_refused, no_memory_for_units);
    suite_add_tcase(suite, units);
    return run_suite(suite);
}
