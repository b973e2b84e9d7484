/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignment problems that sorting solves: what is found of their order, and proofs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "lap/monge.h"
#include "seeded.h"
#include "suite.h"

enum { MOST = 500 };

enum structure { DIFFERENCE, SQUARE, PRODUCT, LARGER, LOPSIDED, SUM, STRUCTURES };

/* Persons and objects at places on a line. */
struct line {
    size_t persons, objects;
    double person[MOST], object[MOST];
    double *cost;
    struct state s;
    lap_problem problem;
};

static double cost_of_pair(enum structure structure, double a, double b)
{
    switch (structure) {
    case DIFFERENCE: return fabs(a - b);
    case SQUARE: return (a - b) * (a - b);
    case PRODUCT: return a * b;
    case LARGER: return a > b ? a : b;
    case LOPSIDED: return a > b ? 10.0 * (a - b) : b - a;
    default: return a + b;
    }
}

/* Places are integers, so that costs are exact, or not. */
static void draw_places(double *place, size_t count, bool fractions, uint64_t *state)
{
    for (size_t k = 0; k < count; k++)
        place[k] = (double)pick(state, -30000, 30000) / (fractions ? 7.0 : 1.0);
}

static struct line *draw_line(enum structure structure, size_t persons, size_t objects,
                              bool fractions, uint64_t seed)
{
    uint64_t state = seed;
    struct line *l = calloc(1, sizeof *l);
    l->persons = persons;
    l->objects = objects;
    l->cost = calloc(persons * objects, sizeof *l->cost);
    draw_places(l->person, persons, fractions, &state);
    draw_places(l->object, objects, fractions, &state);
    for (size_t k = 0; k < persons * objects; k++)
        l->cost[k] = cost_of_pair(structure, l->person[k / objects], l->object[k % objects]);
    l->problem = (lap_problem){.rows = objects, .cols = persons, .cost = l->cost};
    l->s = (struct state){
        .problem = &l->problem, .persons = persons, .objects = objects, .cost = l->cost};
    ck_assert_int_eq(lap_init_assignment_real(&l->s), 0);
    return l;
}

static void release_line(struct line *l)
{
    base_arena_release(&l->s.arena);
    free(l->cost);
    free(l);
}

static void check_nothing_changed(const struct line *l)
{
    for (size_t i = 0; i < l->objects; i++)
        ck_assert(l->s.person_of[i] == NONE && l->s.dual[i] == 0.0);
    for (size_t j = 0; j < l->persons; j++)
        ck_assert_uint_eq(l->s.object_of[j], NONE);
}

/* Objects that are free cost nothing where some must stay free; every person that has an object
 * gains by no other. Returns the number of those that have none. */
static size_t check_proof(const struct line *l, double tolerance)
{
    size_t left = 0;
    for (size_t i = 0; i < l->objects && l->objects > l->persons; i++) {
        ck_assert(l->s.dual[i] <= 0.0);
        ck_assert(l->s.person_of[i] != NONE || l->s.dual[i] == 0.0);
    }
    for (size_t j = 0; j < l->persons; j++) {
        size_t own = l->s.object_of[j];
        const double *cost = l->cost + j * l->objects;
        left += own == NONE;
        if (own == NONE)
            continue;
        ck_assert_uint_eq(l->s.person_of[own], j);
        double least = INFINITY;
        for (size_t i = 0; i < l->objects; i++)
            least = fmin(cost[i] - l->s.dual[i], least);
        ck_assert(cost[own] - l->s.dual[own] <= least + tolerance);
    }
    return left;
}

static const struct {
    size_t persons, objects;
} shapes[] = {{16, 16}, {40, 40}, {100, 100}, {97, 120}, {33, 200}, {160, 161}, {120, 240}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

START_TEST(order_is_found)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (int structure = 0; structure < SUM; structure++) {
            for (int fractions = 0; fractions < 2; fractions++) {
                bool solved, nearly;
                struct line *l = draw_line((enum structure)structure, shapes[_i].persons,
                                           shapes[_i].objects, fractions, seed);
                ck_assert_int_eq(lap_solve_in_order_real(&l->s, &solved, &nearly), 0);
                ck_assert_msg(solved && !nearly, "structure %d, fractions %d, seed %d", structure,
                              fractions, (int)seed);
                ck_assert_uint_eq(check_proof(l, fractions ? 1e-5 : 0.0), 0);
                release_line(l);
            }
        }
    }
}
END_TEST

/* Nothing is worth an order: costs that do not depend on who has what; at random; one pair that is
 * not allowed; persons around a circle. */
static void spoil(struct line *l, int way)
{
    uint64_t state = 5;
    for (size_t k = 0; k < l->persons * l->objects; k++) {
        double *cost = &l->cost[k], gap = *cost / 60001.0;
        if (way == 0)
            *cost = 7.0;
        if (way == 1)
            *cost = (double)pick(&state, 0, 1000);
        if (way == 2 && k == l->objects + 1)
            *cost = INFINITY;
        if (way == 3)
            *cost = fmin(gap, 1.0 - gap);
    }
}

START_TEST(no_order)
{
    bool solved, nearly;
    struct line *l = draw_line(DIFFERENCE, 130, 130 + 20 * (size_t)(_i % 2), false, 3);
    spoil(l, _i / 2);
    ck_assert_int_eq(lap_solve_in_order_real(&l->s, &solved, &nearly), 0);
    ck_assert(!solved);
    ck_assert(_i / 2 == 2 || !nearly);
    check_nothing_changed(l);
    release_line(l);
}
END_TEST

/* One low cost, which is not in the sample, spoils the order. */
START_TEST(order_of_the_sample_only)
{
    bool solved, nearly;
    struct line *l = draw_line(SQUARE, 400, 400, false, 4);
    l->cost[57 * 400 + 201] -= 5e9;
    ck_assert_int_eq(lap_solve_in_order_real(&l->s, &solved, &nearly), 0);
    ck_assert(!solved && nearly);
    check_nothing_changed(l);
    release_line(l);
}
END_TEST

/* Rounding spoils the order a little. */
START_TEST(nearly_in_order)
{
    for (int structure = DIFFERENCE; structure <= PRODUCT; structure += PRODUCT - DIFFERENCE) {
        bool solved, nearly;
        double unit = structure == PRODUCT ? 1e5 : 8.0;
        struct line *l = draw_line((enum structure)structure, 400, 400, false, 6);
        for (size_t k = 0; k < l->persons * l->objects; k++)
            l->cost[k] = floor(l->cost[k] / unit) * unit;
        ck_assert_int_eq(lap_solve_in_order_real(&l->s, &solved, &nearly), 0);
        ck_assert(!solved && nearly);
        check_nothing_changed(l);
        ck_assert_int_eq(lap_start_in_order_real(&l->s, lap_jv_real), 0);
        ck_assert_uint_lt(check_proof(l, 0.0), l->persons);
        release_line(l);
    }
}
END_TEST

/* Only square problems have a start. */
START_TEST(nearly_in_order_with_free_objects)
{
    bool solved, nearly;
    struct line *l = draw_line(DIFFERENCE, 300, 310, false, 6);
    for (size_t k = 0; k < l->persons * l->objects; k++)
        l->cost[k] = floor(l->cost[k] / 8.0);
    ck_assert_int_eq(lap_solve_in_order_real(&l->s, &solved, &nearly), 0);
    ck_assert(!solved && !nearly);
    check_nothing_changed(l);
    release_line(l);
}
END_TEST

START_TEST(memory_runs_out)
{
    bool solved, nearly;
    for (int start = 0; start < 2; start++) {
        long nth = 0;
        struct line *l = draw_line(SQUARE, 60, 60, false, 2);
        for (int rc = -ENOMEM; rc != 0; nth++) {
            fail_allocation(nth);
            rc = start ? lap_start_in_order_real(&l->s, lap_jv_real)
                       : lap_solve_in_order_real(&l->s, &solved, &nearly);
            stop_failing();
            ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
            ck_assert_int_eq(allocations.live, 0);
            if (rc != 0)
                check_nothing_changed(l);
        }
        ck_assert_int_gt(nth, 6);
        ck_assert_uint_eq(check_proof(l, 0.0), 0);
        release_line(l);
    }
}
END_TEST

/* ---- all of jv, with integers ---- */

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* What it costs to have objects in the order of persons, or the other way round. */
static double cost_in_order(struct line *l, enum structure structure)
{
    double total = 0.0;
    qsort(l->person, l->persons, sizeof l->person[0], ascending);
    qsort(l->object, l->objects, sizeof l->object[0], ascending);
    for (size_t j = 0; j < l->persons; j++) {
        size_t i = structure == PRODUCT ? l->persons - 1 - j : j;
        total += cost_of_pair(structure, l->person[j], l->object[i]);
    }
    return total;
}

/* Multiplies all costs, so that the largest are close to the limit. */
static int64_t scale_to_limit(const struct line *l)
{
    double largest = 1.0;
    for (size_t k = 0; k < l->persons * l->objects; k++)
        largest = fmax(fabs(l->cost[k]), largest);
    return INT64_MAX / 32 / ((int64_t)l->persons + 1) / ((int64_t)largest + 1);
}

static void check_solver(struct line *l, double total, int64_t scale, int64_t unit)
{
    size_t pairs = l->persons * l->objects;
    int64_t *cost = calloc(pairs, sizeof *cost);
    size_t row_of_col[MOST];
    int64_t col_dual[MOST], row_dual[MOST];
    lap_problem problem = {.rows = l->objects, .cols = l->persons, .integer_cost = cost};
    lap_solution solution = {
        .row_of_col = row_of_col, .integer_col_dual = col_dual, .integer_row_dual = row_dual};
    for (size_t k = 0; k < pairs; k++)
        cost[k] = (int64_t)l->cost[k] / unit * scale;
    ck_assert_int_eq(lap_jv(&problem, &solution), 0);
    ck_assert_int_eq(lap_verify(&problem, &solution, 0.0), 0);
    if (unit == 1 && l->persons == l->objects)
        ck_assert_int_eq(solution.integer_total, (int64_t)total * scale);
    problem.rows = l->persons;
    problem.cols = l->objects;
    ck_assert_int_eq(lap_jv(&problem, &solution), 0);
    ck_assert_int_eq(lap_verify(&problem, &solution, 0.0), 0);
    free(cost);
}

START_TEST(integers_are_proved)
{
    for (int structure = 0; structure < STRUCTURES; structure++) {
        struct line *l =
            draw_line((enum structure)structure, shapes[_i].persons, shapes[_i].objects, false, 9);
        double total = cost_in_order(l, (enum structure)structure);
        check_solver(l, total, 1, 1);
        check_solver(l, total, scale_to_limit(l), 1);
        check_solver(l, total, 1, 50);
        release_line(l);
    }
}
END_TEST

static Suite *monge_suite(void)
{
    Suite *suite = suite_create("monge");
    TCase *all = tcase_create("monge");
    tcase_add_loop_test(all, order_is_found, 0, SHAPES);
    tcase_add_loop_test(all, no_order, 0, 8);
    tcase_add_test(all, order_of_the_sample_only);
    tcase_add_test(all, nearly_in_order);
    tcase_add_test(all, nearly_in_order_with_free_objects);
    tcase_add_test(all, memory_runs_out);
    tcase_add_loop_test(all, integers_are_proved, 0, SHAPES);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return run_suite(monge_suite());
}
