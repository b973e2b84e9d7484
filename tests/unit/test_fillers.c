/* SPDX-License-Identifier: BSD-3-Clause */
/* The fillers of a rectangular problem (square.h) through auctions of random bids. */
#include <errno.h>
#include <string.h>

#include "failing_malloc.h"
#include "lap/square.h"
#include "seeded.h"
#include "suite.h"

enum { MOST = 12, BIDS = 100, CASES = 200 };

struct auction {
    struct state s;
    double cost[MOST * MOST];
    uint64_t state;
    size_t persons;
    size_t waiting; /* persons without an object */
};

static size_t below(struct auction *a, size_t count)
{
    return (size_t)pick(&a->state, 0, (int64_t)count - 1);
}

/* Prices are few, so that there are ties. Some objects are assigned, to the persons in order. */
static void init_auction(struct auction *a, uint64_t seed)
{
    *a = (struct auction){.state = seed};
    a->persons = 1 + below(a, MOST - 1);
    size_t objects = a->persons + 1 + below(a, MOST - a->persons);
    a->s = (struct state){.persons = a->persons, .objects = objects, .cost = a->cost};
    ck_assert_int_eq(lap_init_assignment_real(&a->s), 0);
    for (size_t i = 0; i < objects; i++)
        set_dual(&a->s, i, -(double)below(a, 6));
    for (size_t j = 0; j < a->persons; j += 2)
        assign(&a->s, j, j);
}

/* Fillers have as many objects as nobody else needs; who has an object, and whose it is, agree. */
static void check_assignment(const struct auction *a)
{
    const struct state *s = &a->s;
    size_t waiting = 0, assigned = 0;
    for (size_t j = 0; j < s->persons; j++) {
        ck_assert(j < a->persons || s->object_of[j] != NONE);
        waiting += s->object_of[j] == NONE;
        ck_assert(s->object_of[j] == NONE || s->person_of[s->object_of[j]] == j);
    }
    for (size_t i = 0; i < s->objects; i++)
        assigned += !is_free(s, i);
    ck_assert_uint_eq(waiting, a->waiting);
    ck_assert_uint_eq(assigned, s->persons - waiting);
}

/* The price of the fillers' objects is the highest, or less by at most the step. */
static void check_prices(const struct auction *a, double step)
{
    const struct state *s = &a->s;
    for (size_t i = 0; i < s->objects; i++) {
        bool filled = !is_free(s, i) && is_filler(s, s->person_of[i]);
        ck_assert(is_price_outdated(s, i) == (filled && s->price[i] > s->filler_price));
        ck_assert(!filled || s->price[i] >= s->filler_price);
        ck_assert(filled || s->price[i] <= s->filler_price + step);
    }
}

/* A person takes any object, whose price falls by the step or more, as in an auction. No price
 * rises, and that of an object that its person loses falls as much. */
static void bid(struct auction *a, size_t person, double step)
{
    struct state *s = &a->s;
    double before[MOST];
    size_t object_before[MOST], object = below(a, s->objects), previous = s->person_of[object];
    memcpy(before, s->price, s->objects * sizeof *before);
    memcpy(object_before, s->object_of, s->persons * sizeof *object_before);
    if (is_price_outdated(s, object))
        set_dual(s, object, s->filler_price);
    if (previous != NONE)
        s->object_of[previous] = NONE;
    assign(s, person, object);
    set_dual(s, object, s->dual[object] - step * (double)(1 + below(a, 3)));
    size_t displaced = lap_displaced_real(s, previous, object, step);
    for (size_t i = 0; i < s->objects; i++)
        ck_assert(s->price[i] <= before[i]);
    if (displaced == NONE) {
        a->waiting--;
        return;
    }
    size_t lost = displaced != person ? object_before[displaced] : object;
    ck_assert(!is_filler(s, displaced) && s->object_of[displaced] == NONE);
    ck_assert(s->price[lost] <= before[lost] - step);
}

static size_t first_waiting(const struct auction *a)
{
    size_t person = 0;
    while (a->s.object_of[person] != NONE)
        person++;
    return person;
}

static void place(struct auction *a)
{
    lap_unassign_all_real(&a->s);
    lap_place_fillers_real(&a->s);
    a->waiting = a->persons;
    check_assignment(a);
    check_prices(a, 0.0);
}

START_TEST(auctions)
{
    static struct auction a;
    for (uint64_t seed = 1; seed <= random_cases(CASES); seed++) {
        init_auction(&a, seed);
        ck_assert_int_eq(lap_add_fillers_real(&a.s), 0);
        ck_assert(all_assigned(&a.s));
        for (double step = 4.0; step >= 1.0; step /= 2.0) {
            place(&a);
            for (int k = 0; k < BIDS && a.waiting > 0; k++) {
                bid(&a, first_waiting(&a), step);
                check_assignment(&a);
                check_prices(&a, step);
            }
        }
        lap_record_filler_price_real(&a.s);
        for (size_t f = a.persons; f < a.s.persons; f++)
            ck_assert(a.s.price[a.s.object_of[f]] == a.s.filler_price);
        base_arena_release(&a.s.arena);
    }
}
END_TEST

START_TEST(memory_runs_out)
{
    static struct auction a;
    for (long nth = 0; nth < 3; nth++) {
        init_auction(&a, 1);
        fail_allocation(nth);
        ck_assert_int_eq(lap_add_fillers_real(&a.s), -ENOMEM);
        stop_failing();
        base_arena_release(&a.s.arena);
    }
}
END_TEST

static Suite *fillers_suite(void)
{
    Suite *suite = suite_create("fillers");
    TCase *all = tcase_create("fillers");
    tcase_add_test(all, auctions);
    tcase_add_test(all, memory_runs_out);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return run_suite(fillers_suite());
}
