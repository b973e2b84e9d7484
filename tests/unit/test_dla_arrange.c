/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks inside a node: neighbours come near each other, never farther apart than as bound.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dla/arrange.h"
#include "topo/local.h"

#include "edges.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

#define MAX_RANKS 64
#define MAX_TEXT 64

/* A node of processors that are numbered through; places are equal parts of it, in an order. */
typedef struct test_node {
    char text[MAX_RANKS][MAX_TEXT];
    char *locality[MAX_RANKS];
    size_t rank[MAX_RANKS];
    dla_bound_ranks bound;
} test_node;

/* Cores in each object, 0: there is none of that type. */
typedef struct shape {
    size_t core, l2, l3, numa, package;
} shape;

static size_t put_field(char *text, size_t used, const char *field, size_t core, size_t each)
{
    if (each == 0)
        return used;
    return used + (size_t)snprintf(text + used, MAX_TEXT - used, "%s%s%zu", used > 0 ? ":" : "",
                                   field, core / each);
}

static void place_on_core(test_node *node, size_t place, const shape *s, size_t core)
{
    char *text = node->text[place];
    size_t used = put_field(text, 0, "SK", core, s->package);

    used = put_field(text, used, "NM", core, s->numa);
    used = put_field(text, used, "L3", core, s->l3);
    used = put_field(text, used, "L2", core, s->l2);
    put_field(text, used, "CR", core, s->core);
    node->locality[place] = text;
}

/* Ranks first, first + step, ...; place i on core i * stride modulo `cores`. */
static void make_node(test_node *node, const shape *s, size_t ranks, size_t cores, size_t stride)
{
    memset(node, 0, sizeof(*node));
    for (size_t i = 0; i < ranks; i++) {
        node->rank[i] = i;
        place_on_core(node, i, s, i * stride % cores);
    }
    node->bound = (dla_bound_ranks){ranks, node->rank, node->locality};
}

/* Eighths of hops between two places, by the strings. */
static int eighths(const test_node *node, size_t p, size_t q)
{
    return TOPO_STEPS - topo_level_saves(topo_locality_level(node->locality[p], node->locality[q]));
}

/* Tables for cost: weights of two ranks, eighths of hops between two places. */
static double weight[MAX_RANKS][MAX_RANKS], distance[MAX_RANKS][MAX_RANKS];

static void fill_tables(const matrix *view, const test_node *node)
{
    for (size_t i = 0; i < node->bound.count; i++) {
        for (size_t k = 0; k < i; k++) {
            size_t a = node->rank[i], b = node->rank[k];

            weight[i][k] = (double)(matrix_get(view, a, b) + matrix_get(view, b, a));
            distance[i][k] = distance[k][i] = eighths(node, i, k);
        }
    }
}

/* Weight times hops, by the tables. */
static double cost(const test_node *node, const size_t *place)
{
    double sum = 0.0;

    for (size_t i = 0; i < node->bound.count; i++)
        for (size_t k = 0; k < i; k++)
            sum += weight[i][k] * distance[place[i]][place[k]];
    return sum / TOPO_STEPS;
}

static void check_order(const size_t *place, size_t count)
{
    bool used[MAX_RANKS] = {false};

    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_lt(place[i], count);
        ck_assert(!used[place[i]]);
        used[place[i]] = true;
    }
}

/* Arranges, and checks what holds for every node. Returns weight times hops; fills the tables. */
static double arranged_cost(const matrix *view, const test_node *node, size_t *place)
{
    size_t order[MAX_RANKS];
    dla_inside sum = {0};
    double bound, arranged;

    for (size_t i = 0; i < node->bound.count; i++)
        order[i] = i;
    ck_assert_int_eq(dla_arrange(view, &node->bound, place, &sum), 0);
    check_order(place, node->bound.count);
    fill_tables(view, node);
    bound = cost(node, order);
    arranged = cost(node, place);
    ck_assert_double_le(arranged, bound);
    ck_assert_double_eq_tol(sum.bound, bound, 1e-9);
    ck_assert_double_eq_tol(sum.arranged, arranged, 1e-9);
    if (arranged == bound)
        ck_assert_mem_eq(place, order, node->bound.count * sizeof(*place));
    return arranged;
}

static uint64_t state;

static matrix random_view(size_t ranks)
{
    matrix_builder builder = {.rows = ranks, .cols = ranks};
    int64_t density = pick(&state, 1, 4), largest = pick(&state, 1, 2) == 1 ? 3 : 1000;

    for (size_t i = 0; i < ranks; i++)
        for (size_t k = 0; k < ranks; k++)
            if (i != k && pick(&state, 1, 4) <= density)
                add_entry(&builder, i, k, pick(&state, 0, largest));
    return finish_matrix(&builder);
}

/* Groups of a chain fill packages, their halves NUMA nodes, whatever the order of the places. */
START_TEST(a_chain_is_cut_least)
{
    const shape s = {1, 0, 4, 8, 16};
    matrix_builder builder = {.rows = 32, .cols = 32};
    size_t place[MAX_RANKS], at[MAX_RANKS];
    test_node node;
    matrix view;

    for (size_t i = 0; i + 1 < 32; i++)
        add_entry(&builder, i, i + 1, 1);
    view = finish_matrix(&builder);
    make_node(&node, &s, 32, 32, 11);
    /* 24 links inside L3 caches, 4 more inside NUMA nodes, 2 inside packages, 1 between these */
    ck_assert_double_eq(arranged_cost(&view, &node, place), (24 * 5 + 4 * 6 + 2 * 7 + 8) / 8.0);
    for (size_t i = 0; i < 32; i++)
        at[i] = place[i] * 11 % 32;
    for (size_t i = 0; i < 32; i++)
        ck_assert_uint_eq(at[i] / 16, at[i / 16 * 16] / 16);
    matrix_release(&view);
}
END_TEST

/* Ranks of other nodes count nothing. */
START_TEST(ranks_of_other_nodes)
{
    const shape s = {1, 0, 0, 2, 4};
    const size_t rank[] = {3, 5, 6, 9};
    matrix_entry entries[] = {{3, 6, 2}, {9, 5, 2}, {3, 4, 900}, {0, 9, 900}, {5, 5, 900}};
    size_t place[MAX_RANKS];
    test_node node;
    matrix view;

    ck_assert_int_eq(matrix_from_entries(&view, 10, 10, entries, 5), 0);
    make_node(&node, &s, 4, 4, 1);
    memcpy(node.rank, rank, sizeof(rank));
    ck_assert_double_eq(arranged_cost(&view, &node, place), 2 * 2 * 6 / 8.0);
    ck_assert_uint_eq(place[0] / 2, place[2] / 2);
    matrix_release(&view);
}
END_TEST

START_TEST(nothing_to_gain)
{
    const shape none = {0, 0, 0, 0, 0}, s = {1, 0, 0, 4, 4};
    matrix view = random_view(8);
    size_t place[MAX_RANKS];
    test_node node;

    make_node(&node, &none, 8, 8, 1);
    arranged_cost(&view, &node, place);
    memset(node.locality, 0, sizeof(node.locality));
    arranged_cost(&view, &node, place);
    for (size_t ranks = 0; ranks < 2; ranks++) {
        make_node(&node, &s, ranks, 8, 1);
        arranged_cost(&view, &node, place);
    }
    matrix_release(&view);
}
END_TEST

START_TEST(too_many_ranks)
{
    size_t count = DLA_MOST_ARRANGED + 1;
    size_t *rank = calloc(count, sizeof(*rank)), *place = calloc(count, sizeof(*place));
    char **locality = calloc(count, sizeof(*locality));
    const dla_bound_ranks bound = {count, rank, locality};
    dla_inside sum = {0};
    matrix view = {0};

    ck_assert(rank != NULL && place != NULL && locality != NULL);
    ck_assert_int_eq(dla_arrange(&view, &bound, place, &sum), 0);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(place[i], i);
    free(locality);
    free(place);
    free(rank);
}
END_TEST

/* ---- random nodes ---- */

static void random_node(test_node *node, size_t ranks)
{
    static const shape shapes[] = {{1, 0, 2, 2, 4}, {1, 2, 4, 4, 0}, {1, 0, 4, 2, 4},
                                   {0, 0, 0, 1, 2}, {1, 2, 0, 3, 6}, {1, 0, 0, 0, 2}};
    size_t odd = (size_t)pick(&state, 0, 3) * 2 + 1;

    make_node(node, &shapes[pick(&state, 0, 5)], ranks, (size_t)pick(&state, 2, 8), odd);
}

/* What arranged_cost checks. */
START_TEST(random_nodes)
{
    for_random_seeds (seed, 400) {
        size_t place[MAX_RANKS];
        test_node node;
        state = seed;
        random_node(&node, (size_t)pick(&state, 2, seed % 2 == 0 ? 8 : MAX_RANKS));
        matrix view = random_view(node.bound.count);
        arranged_cost(&view, &node, place);
        matrix_release(&view);
    }
}
END_TEST

/* ---- memory ---- */

START_TEST(every_allocation_fails)
{
    size_t place[MAX_RANKS];
    test_node node;
    matrix view;
    dla_inside sum;

    state = first_seed();
    random_node(&node, 24);
    view = random_view(24);
    fail_each_allocation(dla_arrange(&view, &node.bound, place, &sum));
    matrix_release(&view);
}
END_TEST

START_TEST(text_of_the_report)
{
    char text[DLA_INSIDE_SIZE];

    dla_inside_format(&(dla_inside){10.0, 9.0, 7.5}, text);
    ck_assert_str_eq(text, "mean hops between neighbours of a node: 0.900 as the launcher binds, "
                           "0.750 arranged");
    dla_inside_format(&(dla_inside){1e300, 1e300, 1e300}, text);
    dla_inside_format(&(dla_inside){0}, text);
    ck_assert_ptr_nonnull(strstr(text, "0.000 arranged"));
}
END_TEST

int main(void)
{
    return run_tests("dla_arrange", ONCE(a_chain_is_cut_least), ONCE(ranks_of_other_nodes),
                     ONCE(nothing_to_gain), ONCE(too_many_ranks), ONCE(random_nodes),
                     ONCE(every_allocation_fails), ONCE(text_of_the_report));
}
