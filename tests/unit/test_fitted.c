/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of fitted file domains: what can be told by hand. tests/property/stress_fitted.c
 * compares with exact answers. */
#include "plan/fitted.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "edges.h"
#include "failing_malloc.h"
#include "suite.h"

enum { MAX_UNITS = 64, MAX_NODES = 8 };

struct scene {
    matrix bytes;
    topo topology;
    fitted_input input;
    size_t of[MAX_UNITS];
    double hop_bytes;
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
    ck_assert_int_eq(fitted_assign(&s->input, s->of, &s->hop_bytes), 0);
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

START_TEST(large_numbers_are_exact)
{
    static const int64_t bytes[] = {INT64_C(1) << 49, (INT64_C(1) << 49) - 1, INT64_C(1) << 49, 1};
    struct scene *s = set(2, 2, bytes);
    fit(s);
    ck_assert_str_eq(digits(s), "10");
    ck_assert(s->hop_bytes == (double)(INT64_C(1) << 51) + 1.0);
}
END_TEST

START_TEST(no_memory)
{
    static const uint16_t hops[] = {1, 3, 3, 1};
    for (int routed = 0; routed < 2; routed++) {
        struct scene *s = set_letters("abba.ab", 2, 10);
        ck_assert(!routed || topo_from_hops(&s->topology, 2, hops) == 0);
        fail_each_allocation(fitted_assign(&s->input, s->of, &s->hop_bytes));
        topo_release(&s->topology);
    }
}
END_TEST

int main(void)
{
    return run_tests("fitted", ONCE(letters_go_where_they_belong), ONCE(large_numbers_are_exact),
                     ONCE(no_memory));
}
