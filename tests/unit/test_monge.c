/* SPDX-License-Identifier: BSD-3-Clause */
/* What sorting solves is recognised: results alone do not show it, as other methods find them too.
 */
#include "assignments.h"
#include "lap/monge.h"
#include "seeded.h"
#include "suite.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const enum structure ordered[] = {DIFFERENCE, SQUARE, LOPSIDED, LARGER, PRODUCT};

static const struct shape shapes[] = {{16, 16, 0, 0, 0},
                                      {100, 100, 0, 0, 0},
                                      {120, 97, 0, 0, 0},
                                      {200, 33, 0, 0, 0},
                                      {240, 120, 0, 0, 0}};

struct drawn {
    struct assignment a;
    struct state s;
};

static void draw(struct drawn *d, enum structure structure, enum change change,
                 const struct shape *shape, enum form form, uint64_t seed)
{
    draw_assignment(&d->a, structure, change, shape, seed);
    choose_form(&d->a, form);
    d->s = (struct state){.problem = &d->a.problem,
                          .persons = shape->cols,
                          .objects = shape->rows,
                          .cost = d->a.cost};
    ck_assert_int_eq(lap_init_assignment_real(&d->s), 0);
}

static void release_drawn(struct drawn *d)
{
    base_arena_release(&d->s.arena);
    release_assignment(&d->a);
}

static size_t count_unassigned(const struct state *s)
{
    size_t count = 0;
    for (size_t j = 0; j < s->persons; j++)
        count += s->object_of[j] == NONE;
    return count;
}

START_TEST(order_is_found)
{
    for (uint64_t k = 0, seed = first_seed(); k < random_cases(20); k++, seed++) {
        struct drawn d;
        bool solved, nearly;
        draw(&d, ordered[_i], NO_CHANGE, &shapes[seed % LENGTH(shapes)], seed % 2 ? REAL : TENTHS,
             seed);
        ck_assert_int_eq(lap_solve_in_order_real(&d.s, &solved, &nearly), 0);
        ck_assert(solved && !nearly && count_unassigned(&d.s) == 0);
        release_drawn(&d);
    }
}
END_TEST

/* Rounding spoils the order a little: most persons can begin with it. */
START_TEST(order_is_nearly_found)
{
    static const struct shape square = {400, 400, 0, 0, 0};
    for (uint64_t k = 0, seed = first_seed(); k < random_cases(10); k++, seed++) {
        struct drawn d;
        bool solved, nearly;
        draw(&d, _i > 0 ? PRODUCT : SQUARE, ROUNDED, &square, REAL, seed);
        ck_assert_int_eq(lap_solve_in_order_real(&d.s, &solved, &nearly), 0);
        ck_assert(solved || nearly);
        if (!solved) {
            ck_assert_uint_eq(count_unassigned(&d.s), d.s.persons);
            ck_assert_int_eq(lap_start_in_order_real(&d.s, lap_jv_real), 0);
            ck_assert_uint_lt(count_unassigned(&d.s), d.s.persons / 2);
        }
        release_drawn(&d);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("monge");
    TCase *cases = tcase_create("monge");
    tcase_add_loop_test(cases, order_is_found, 0, (int)LENGTH(ordered));
    tcase_add_loop_test(cases, order_is_nearly_found, 0, 2);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
