/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignment problems of many structures and shapes, solved by all solvers in all forms. Results
 * are proved by their duals, and small ones compared with brute force. */
#include "assignments.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "failing_malloc.h"
#include "proof.h"
#include "seeded.h"
#include "suite.h"

/* Square, nearly so, and with few columns; lists. */
static const struct shape shapes[] = {
    {96, 96, 0},    {120, 121, 0}, {250, 240, 0},  {300, 60, 0},  {2700, 6, 0},
    {250, 250, 40}, {140, 120, 8}, {400, 200, 30}, {200, 60, 50}, {120, 120, 100},
};

/* With these, every structure meets every shape in the usual number of cases. */
enum { SHAPES = LENGTH(shapes), PER_STRUCTURE = 2 * SHAPES };

static void check_problem(struct assignment *a, uint64_t seed)
{
    const char *fault = find_fault(a);
    ck_assert_msg(fault == NULL, "seed %" PRIu64 ", %s", seed, fault);
    release_assignment(a);
}

START_TEST(structures)
{
    for (uint64_t k = 0, seed = first_seed(); k < random_cases(PER_STRUCTURE); k++, seed++) {
        struct assignment a;
        uint64_t state = seed + ((uint64_t)_i << 32);
        draw_assignment(&a, (enum structure)_i, (enum change)pick(&state, 0, CHANGES - 1),
                        &shapes[(seed + (uint64_t)_i) % SHAPES], seed);
        check_problem(&a, seed);
    }
}
END_TEST

/* ---- what cannot be solved ---- */

static void expect_refusal(struct assignment *a, int expected)
{
    for (const lap_solver *s = lap_solvers; s->name != NULL; s++) {
        mark_solution(a);
        ck_assert_int_eq(s->solve(&a->problem, &a->solution), expected);
        ck_assert(is_marked(a));
    }
}

/* One among costs that are good. */
START_TEST(bad_costs)
{
    const struct shape *s = &shapes[_i];
    size_t n = s->rows < s->cols ? s->rows : s->cols;
    const double real = DBL_MAX / 32 / (double)(n + 1) * 1.01;
    const int64_t integer = INT64_MAX / 32 / (int64_t)(n + 1) + 1;
    const struct {
        enum form form;
        double cost;
        int64_t integer_cost;
        int expected;
    } bad[] = {
        {REAL, NAN, 0, -ERANGE},
        {REAL, -INFINITY, 0, -ERANGE},
        {REAL, DBL_MAX, 0, -ERANGE},
        {REAL, real, 0, -ERANGE},
        {REAL, -real, 0, -ERANGE},
        {INTEGER, 0, INT64_MIN, -ERANGE},
        {INTEGER, 0, integer, -ERANGE},
        {INTEGER, 0, -integer, -ERANGE},
        {INTEGER, 0, LAP_FORBIDDEN - 1, -ERANGE},
    };
    for (uint64_t k = 0, seed = first_seed(); k < random_cases(10); k++, seed++) {
        struct assignment a;
        uint64_t state = seed;
        draw_assignment(&a, UNIFORM, NO_CHANGE, s, seed);
        size_t place = (size_t)next_random(&state) % a.pairs;
        for (size_t b = 0; b < LENGTH(bad); b++) {
            choose_form(&a, bad[b].form);
            a.cost[place] = bad[b].cost;
            a.integer_cost[place] = bad[b].integer_cost;
            expect_refusal(&a, bad[b].expected);
        }
        release_assignment(&a);
    }
}
END_TEST

static const struct shape plain = {4, 3, 100};

START_TEST(arguments_that_are_not_needed)
{
    struct assignment a;
    draw_assignment(&a, UNIFORM, NO_CHANGE, &plain, 1);
    choose_form(&a, REAL);
    for (const lap_solver *s = lap_solvers; s->name != NULL; s++) {
        lap_solution without_duals = {.row_of_col = a.solution.row_of_col};
        ck_assert_int_eq(s->solve(&a.problem, &a.solution), 0);
        ck_assert_int_eq(s->solve(&a.problem, &without_duals), 0);
        ck_assert(without_duals.total == a.solution.total && s->note != NULL);
        for (size_t rows = 0; rows < 3; rows++) {
            const lap_problem nothing = {.rows = rows};
            lap_solution none = {.row_dual = (double[]){7, 7}, .total = -1};
            ck_assert_int_eq(s->solve(&nothing, &none), 0);
            ck_assert_int_eq(lap_verify(&nothing, &none, 0), 0);
        }
    }
    release_assignment(&a);
}
END_TEST

/* What solvers allocate depends on the shape: transposition, lists. */
static const struct shape short_of_memory[] = {
    {30, 20, 0}, {20, 30, 50}, {20, 30, 0}, {30, 30, 0}, {30, 20, 50},
};

/* Whether the allocation was reached. */
static bool fail_at(struct assignment *a, const lap_solver *solver, long nth)
{
    mark_solution(a);
    fail_allocation(nth);
    int rc = solver->solve(&a->problem, &a->solution);
    stop_failing();
    ck_assert_int_eq(allocations.live, 0);
    ck_assert(allocations.failed ? rc == -ENOMEM : rc >= 0);
    ck_assert(!allocations.failed || is_marked(a));
    ck_assert_int_lt(nth, 1000);
    return allocations.failed;
}

/* Every allocation fails; in a short run every tenth. */
START_TEST(memory_runs_out)
{
    struct assignment a;
    uint64_t seed = first_seed();
    long step = random_cases(10) == 1 ? 10 : 1;
    draw_assignment(&a, UNIFORM, NO_CHANGE, &short_of_memory[_i], seed);
    for (const lap_solver *solver = lap_solvers; solver->name != NULL; solver++)
        for (enum form form = REAL; form <= INTEGER; form++) {
            choose_form(&a, form);
            for (long nth = (long)seed % step; fail_at(&a, solver, nth); nth += step)
                continue;
        }
    release_assignment(&a);
}
END_TEST

int main(void)
{
    return run_tests("structures", TIMES(structures, STRUCTURES), TIMES(bad_costs, SHAPES),
                     ONCE(arguments_that_are_not_needed),
                     TIMES(memory_runs_out, LENGTH(short_of_memory)));
}
