/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of trials: all orders of events. */
#include "collective/trial.h"
#include "suite.h"

#include <check.h>
#include <stdint.h>

#define MS ((int64_t)1000000)

/* Calls whose times are always the same. */
typedef struct machine {
    int64_t aggregators, independent; /* ns */
} machine;

/* One call; an attempt that takes longer than its limit is given up there. Returns its ns. */
static int64_t call(trial *t, const machine *m)
{
    trial_way way = trial_next(t);
    int64_t limit = (int64_t)(1e9 * trial_limit(t)), took = m->independent;
    bool gave_up = way == TRIAL_ATTEMPT && m->independent > limit;
    if (way == TRIAL_AGGREGATORS)
        took = m->aggregators;
    else if (gave_up)
        took = limit + m->aggregators;
    trial_add(t, way != TRIAL_AGGREGATORS && !gave_up, took);
    return took;
}

static void make_calls(trial *t, const machine *m, int calls)
{
    for (int i = 0; i < calls; i++)
        call(t, m);
}

/* The ways of the calls on a machine that may change: A(ggregators), T(rial), I(ndependent). */
static void check_ways(trial *t, const machine *m, const char *ways)
{
    static const char letters[] = {
        [TRIAL_AGGREGATORS] = 'A', [TRIAL_ATTEMPT] = 'T', [TRIAL_INDEPENDENT] = 'I'};
    for (size_t i = 0; ways[i] != '\0'; i++) {
        ck_assert_msg(letters[trial_next(t)] == ways[i], "call %zu of %s", i, ways);
        call(t, m);
    }
}

static const machine fast = {10 * MS, 5 * MS}, near = {10 * MS, 7 * MS},
                     slowed = {10 * MS, 11 * MS};

START_TEST(trials_come_after_two_calls_and_are_confirmed)
{
    trial t = {0};
    check_ways(&t, &near, "AATATII");
    make_calls(&t, &near, 1000);
    check_ways(&t, &near, "I");
}
END_TEST

/* Four times as many calls before each: the sum of all trials is a small part of many calls. */
START_TEST(trials_that_fail_become_rare)
{
    const machine m = {10 * MS, 8 * MS + 1};
    trial t = {0};
    int64_t took = 0, calls[] = {3, 100, 10000, 1000000};
    int trials[] = {1, 3, 6, 10}, tried = 0, made = 0;
    for (size_t i = 0; i < LENGTH(calls); i++) {
        for (; made < calls[i]; made++) {
            tried += trial_next(&t) == TRIAL_ATTEMPT;
            took += call(&t, &m);
        }
        ck_assert_int_eq(tried, trials[i]);
        ck_assert_int_le(took, made * m.aggregators + tried * 8 * MS);
    }
}
END_TEST

/* Three slow calls in turn, not more or less of them. */
START_TEST(independent_calls_that_become_slow_end)
{
    trial t = {0};
    make_calls(&t, &fast, 10);
    for (int i = 0; i < 100; i++) {
        check_ways(&t, &slowed, "II");
        check_ways(&t, &fast, "I");
    }
    check_ways(&t, &slowed, "IIIAAAAAAAA");
    check_ways(&t, &fast, "TATI");
}
END_TEST

/* Every sequence of nine calls of which each is fast or slow: what the header promises. Slow
 * attempts are given up, or complete, but late for another rank. */
START_TEST(every_order_of_events)
{
    for (int order = 0; order < 1 << 10; order++) {
        trial t = {0};
        trial_way last = TRIAL_AGGREGATORS;
        bool is_late = order >> 9 & 1;
        int slow = 0;
        for (int i = 0; i < 9; i++) {
            trial_way way = trial_next(&t);
            bool is_fast = order >> i & 1;
            slow = way == TRIAL_INDEPENDENT && !is_fast ? slow + 1 : 0;
            trial_add(&t,
                      way == TRIAL_INDEPENDENT || (way == TRIAL_ATTEMPT && (is_fast || is_late)),
                      is_fast ? 5 * MS : 10 * MS);
            trial_way next = trial_next(&t);
            ck_assert(way != TRIAL_ATTEMPT || is_fast || next == TRIAL_AGGREGATORS);
            ck_assert(way != TRIAL_ATTEMPT || is_fast || t.failed > 0);
            ck_assert(way != TRIAL_AGGREGATORS || next != TRIAL_INDEPENDENT);
            ck_assert(way != TRIAL_INDEPENDENT || slow == 3 || next == TRIAL_INDEPENDENT);
            ck_assert(last != TRIAL_ATTEMPT || way != TRIAL_ATTEMPT);
            last = way;
        }
    }
}
END_TEST

START_TEST(many_failures)
{
    trial t = {0};
    for (int i = 0; i < 100; i++) {
        t.calls = UINT64_MAX;
        t.least = 10 * MS;
        ck_assert_int_eq(trial_next(&t), TRIAL_ATTEMPT);
        trial_add(&t, false, 20 * MS);
        ck_assert_int_eq(trial_next(&t), TRIAL_AGGREGATORS);
    }
}
END_TEST

int main(void)
{
    return run_tests("trial", ONCE(trials_come_after_two_calls_and_are_confirmed),
                     ONCE(trials_that_fail_become_rare),
                     ONCE(independent_calls_that_become_slow_end), ONCE(every_order_of_events),
                     ONCE(many_failures));
}
