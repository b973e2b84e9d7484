/* SPDX-License-Identifier: BSD-3-Clause */
/* Units of fitted domains, against plain lists of bytes. */
#include "plan/pieces.h"

#include <errno.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { CASES = 1000, FILE_BYTES = 600, MOST_UNITS = 600, DOMAINS = 5, MiB = 1 << 20 };

static uint64_t state;

static int64_t below(int64_t n)
{
    return pick(&state, 0, n - 1);
}

/* Units of any kind over a part of the file; also the settings that lead to columns, or not. */
static pieces random_pieces(division_settings *settings)
{
    int64_t lo = below(FILE_BYTES - 1), hi = lo + 1 + below(FILE_BYTES - lo - 1);
    *settings = (division_settings){.kind = DIVISION_FITTED, .aggregators = DOMAINS};
    if (below(3) == 0) {
        settings->stripe = 1 + below(30);
        settings->targets = 2 + below(8);
    } else if (below(4) != 0) {
        settings->stripe = 1 + below(60);
    }
    return pieces_of(settings, DOMAINS, lo, hi);
}

static size_t unit_at(const pieces *p, int64_t offset)
{
    if (p->columns)
        return (size_t)(offset / p->unit) % p->count;
    return (size_t)((offset - p->base) / p->unit - (p->lo - p->base) / p->unit);
}

static void assign_randomly(pieces *p)
{
    p->domain = calloc(p->count, sizeof *p->domain);
    for (size_t u = 0; u < p->count; u++)
        p->domain[u] = u > 0 && below(2) == 0 ? p->domain[u - 1] : (size_t)below(DOMAINS);
}

/* ---- units ---- */

START_TEST(units_of_a_range)
{
    enum { MOST = 1 << 20 };
    division_settings settings = {.kind = DIVISION_AUTO};
    pieces p = pieces_of(&settings, 4, 5, 5 + MiB);
    ck_assert(!p.columns && p.base == 5 && p.unit == 64 << 10 && p.count == 16);
    p = pieces_of(&settings, 4, 0, INT64_MAX);
    ck_assert(p.unit == INT64_C(1) << 43 && p.count == MOST);
    settings.stripe = 7;
    p = pieces_of(&settings, 4, 0, 7 * MOST);
    ck_assert(p.unit == 7 && p.count == MOST);
    p = pieces_of(&settings, 4, 6, 7 * MOST + 1);
    ck_assert(p.unit == 14);
    settings.stripe = 600;
    p = pieces_of(&settings, 4, 1300, 2400);
    ck_assert(!p.columns && p.base == 0 && p.unit == 600 && p.count == 2 && p.domain == NULL);
    settings.targets = 6;
    p = pieces_of(&settings, 4, 1300, 2400);
    ck_assert(p.columns && p.unit == 600 && p.count == 6);
    p = pieces_of(&settings, 12, 1300, 2400);
    ck_assert(p.columns && p.count == 12 && p.lo == 1300 && p.hi == 2400);
}
END_TEST

START_TEST(every_byte_is_in_the_domain_of_its_unit)
{
    for_random_seeds (seed, CASES) {
        division_settings settings;
        division d;
        size_t near = 0;
        state = seed;
        pieces p = random_pieces(&settings);
        ck_assert(p.columns || (unit_at(&p, p.lo) == 0 && unit_at(&p, p.hi - 1) == p.count - 1));
        assign_randomly(&p);
        ck_assert_int_eq(pieces_divide(&p, &settings, DOMAINS, &d), 0);
        ck_assert(d.domains.lo == p.lo && d.domains.hi == p.hi && d.domains.count == DOMAINS);
        int64_t right = 0;
        for (int64_t at = p.lo; at < p.hi; at++)
            right += domains_range_at(&d.domains, at, &near).domain == p.domain[unit_at(&p, at)];
        ck_assert_int_eq(right, p.hi - p.lo);
        /* a multiple of the period keeps each byte in its stripe and its column */
        ck_assert(settings.stripe == 0 || d.period % settings.stripe == 0);
        ck_assert(!p.columns || d.period == p.unit);
        division_release(&d);
        pieces_release(&p);
        ck_assert_ptr_null(p.domain);
    }
}
END_TEST

/* ---- bytes ---- */

START_TEST(bytes_of_each_unit)
{
    for_random_seeds (seed, CASES) {
        division_settings settings;
        access_list list = {0};
        unit_counts counts;
        int64_t expected[MOST_UNITS] = {0}, counted[MOST_UNITS] = {0};
        state = seed;
        const pieces p = random_pieces(&settings);
        for (int64_t at = p.lo + below(20); at < p.hi; at += 1 + below(20)) {
            if (below(3) == 0)
                continue;
            ck_assert_int_eq(access_append(&list, at, 1, list.bytes), 0);
            expected[unit_at(&p, at)]++;
        }
        ck_assert_int_eq(pieces_count(&p, &list, &counts), 0);
        ck_assert_int_eq(units_add(counts.step, counts.count, counted, p.count), 0);
        ck_assert_mem_eq(counted, expected, sizeof expected);
        free(counts.step);
        access_release(&list);
    }
}
END_TEST

START_TEST(entries_have_a_limit)
{
    const unit_step steps[] = {{0, 2, 10}, {5, 1, 20}};
    const unit_step many = {0, (int64_t)PIECES_MOST_ENTRIES - 5, 1};
    const matrix_entry expected[] = {{0, 3, 10}, {1, 3, 10}, {5, 3, 20}};
    pieces_bytes all = {0};
    ck_assert_int_eq(pieces_add_bytes(&all, 3, steps, 2), 0);
    ck_assert_uint_eq(all.count, 3);
    ck_assert_mem_eq(all.entry, expected, sizeof expected);
    ck_assert_int_eq(pieces_add_bytes(&all, 4, &many, 1), 0);
    ck_assert(!all.too_many && all.count == PIECES_MOST_ENTRIES - 2);
    ck_assert_int_eq(pieces_add_bytes(&all, 5, steps, 2), 0);
    ck_assert(all.too_many && all.count == PIECES_MOST_ENTRIES - 2);
    ck_assert_int_eq(pieces_add_bytes(&all, 5, steps, 1), 0);
    ck_assert_uint_eq(all.count, PIECES_MOST_ENTRIES - 2);
    free(all.entry);
}
END_TEST

START_TEST(a_node_has_a_limit)
{
    const unit_step too_many = {.count = -1};
    const pieces p = {.count = 1 << 20};
    pieces_bytes all = {0};
    ck_assert_uint_eq(pieces_most_of_node(&p, 32), p.count);
    ck_assert_uint_eq(pieces_most_of_node(&p, 64), p.count / 2);
    ck_assert_uint_eq(pieces_most_of_node(&p, 1 << 20), 128);
    ck_assert_int_eq(pieces_add_bytes(&all, 0, &too_many, 1), 0);
    ck_assert(all.too_many && all.count == 0);
}
END_TEST

static int count_and_free(const pieces *columns, const access_list *list)
{
    unit_counts counts;
    int rc = pieces_count(columns, list, &counts);
    if (rc == 0)
        free(counts.step);
    return rc;
}

START_TEST(no_memory_to_count)
{
    division_settings settings = {.kind = DIVISION_STRIPE, .stripe = 10, .targets = 3};
    const pieces columns = pieces_of(&settings, 3, 0, 100);
    access_list list = {0};
    ck_assert_int_eq(access_append(&list, 5, 60, 0), 0);
    fail_each_allocation(count_and_free(&columns, &list));
    access_release(&list);
}
END_TEST

/* ---- broadcast ---- */

START_TEST(runs_hold_every_domain)
{
    for_random_seeds (seed, CASES) {
        division_settings settings;
        pieces_run run = {0};
        int64_t lo, hi;
        state = seed;
        pieces p = random_pieces(&settings);
        int64_t at = p.lo;
        assign_randomly(&p);
        for (size_t next = 0; next < p.count; next += run.count) {
            run = pieces_take_run(&p, next, pieces_put_run(&p, next), SIZE_MAX);
            ck_assert_uint_eq(run.first, next);
            ck_assert_uint_gt(run.count, 0);
            for (size_t u = 0; u < run.count; u++)
                ck_assert_uint_eq(p.domain[next + u], run.domain);
            ck_assert(next + run.count == p.count || p.domain[next + run.count] != run.domain);
            if (p.columns)
                continue;
            pieces_bounds(&p, &run, &lo, &hi);
            ck_assert_int_eq(lo, at);
            ck_assert_uint_eq(unit_at(&p, lo), next);
            ck_assert_uint_eq(unit_at(&p, hi - 1), next + run.count - 1);
            at = hi;
        }
        ck_assert(p.columns || at == p.hi);
        pieces_release(&p);
    }
}
END_TEST

START_TEST(runs_stay_within_the_units)
{
    size_t domain[] = {1, 1, 2, 2, 2};
    const pieces p = {.hi = 50, .unit = 10, .count = 5, .domain = domain};
    int64_t element = pieces_put_run(&p, 2);
    ck_assert_uint_eq(pieces_take_run(&p, 2, element, 3).count, 3);
    ck_assert_uint_eq(pieces_take_run(&p, 3, element, 3).count, 0); /* beyond the last unit */
    ck_assert_uint_eq(pieces_take_run(&p, 2, element, 2).count, 0); /* no such domain */
    ck_assert_uint_eq(pieces_take_run(&p, 2, -1, 3).count, 0);
}
END_TEST

int main(void)
{
    return run_tests("pieces", ONCE(units_of_a_range),
                     ONCE(every_byte_is_in_the_domain_of_its_unit), ONCE(bytes_of_each_unit),
                     ONCE(entries_have_a_limit), ONCE(a_node_has_a_limit), ONCE(no_memory_to_count),
                     ONCE(runs_hold_every_domain), ONCE(runs_stay_within_the_units));
}
