/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the choice between aggregators and independent access. */
#include "collective/aggregation.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

#define KiB ((int64_t)1 << 10)

/* Of blocks looked at one by one; adjacent ones are one piece. */
static aggregation_access model(const access_list *list, int64_t lock_unit)
{
    aggregation_access access = {ACCESS_END, 0, list->bytes, -1, lock_unit};
    int64_t end = -1, pieces = 0;
    for (size_t i = 0; i < list->count; i++) {
        for (int64_t b = 0; b < list->run[i].count; b++) {
            int64_t at = list->run[i].offset + b * list->run[i].stride;
            access.lo = access.lo < at ? access.lo : at;
            pieces += at != end;
            end = at + list->run[i].length;
            if (lock_unit > 0 && at % lock_unit != 0)
                access.unaligned = at;
        }
    }
    access.pieces = pieces;
    return access;
}

static void compare(const aggregation_access *a, const aggregation_access *b)
{
    ck_assert_int_eq(a->lo, b->lo);
    ck_assert_int_eq(a->pieces, b->pieces);
    ck_assert_int_eq(a->bytes, b->bytes);
    ck_assert_int_eq(a->unaligned, b->unaligned);
}

START_TEST(accesses_are_described)
{
    unsigned int seed = (unsigned int)first_seed();
    for (uint64_t i = random_cases(20000); i > 0; i--) {
        access_list list = {0}, moved = {0};
        int64_t at = rand_r(&seed) % 20, distance = rand_r(&seed) % 3 * 8, unit = 8;
        for (int r = rand_r(&seed) % 4; r > 0; r--) {
            access_run run = {at, 1 + rand_r(&seed) % 9, 0, 1 + rand_r(&seed) % 3, list.bytes};
            run.stride = run.count > 1 ? run.length + rand_r(&seed) % 9 : 0;
            at += run.length + (run.count - 1) * run.stride + rand_r(&seed) % 3;
            ck_assert_int_eq(access_append_run(&list, &run), 0);
            run.offset += distance;
            ck_assert_int_eq(access_append_run(&moved, &run), 0);
        }
        aggregation_access wanted = model(&list, unit), got = aggregation_describe(&list, unit);
        compare(&got, &wanted);
        wanted = model(&moved, unit);
        got = aggregation_move(&got, distance);
        compare(&got, &wanted);
        ck_assert_int_eq(aggregation_describe(&list, 0).unaligned, -1);
        access_release(&list);
        access_release(&moved);
    }
}
END_TEST

/* Moved by less than a lock: pieces count as unaligned. */
START_TEST(unknown_alignment_is_none)
{
    access_list list = {0};
    ck_assert_int_eq(access_append(&list, 4096, 100, 0), 0);
    aggregation_access access = aggregation_describe(&list, 4096);
    ck_assert_int_eq(access.unaligned, -1);
    ck_assert_int_eq(aggregation_move(&access, 8192).unaligned, -1);
    access = aggregation_move(&access, 5);
    ck_assert_int_ge(access.unaligned, 4101);
    ck_assert_int_ge(aggregation_move(&access, 8192).unaligned, access.unaligned);
    ck_assert(aggregation_pays(&(aggregation_access){0, 1, 100, access.unaligned, 4096}, true));
    access_release(&list);
}
END_TEST

START_TEST(aggregators_pay_for_small_pieces_and_shared_locks)
{
    static const struct {
        const char *what;
        aggregation_access access;
        bool write, read;
    } expected[] = {
        {"one small piece each", {0, 1, 64, -1, 0}, false, false},
        {"two small pieces", {0, 2, 128, -1, 0}, true, true},
        {"large pieces", {0, 100, 6400 * KiB, -1, 1024 * KiB}, false, false},
        {"pieces a little smaller", {0, 100, 6400 * KiB - 1, -1, 1024 * KiB}, true, true},
        {"large pieces, local", {0, 100, 800 * KiB, -1, 0}, false, false},
        {"pieces a little smaller, local", {0, 100, 800 * KiB - 1, -1, 0}, true, true},
        {"few small pieces beside many bytes", {0, 8, 8192 * KiB, -1, 0}, false, false},
        {"one piece, locks shared", {0, 1, 64 * KiB, 64 * KiB, 1024 * KiB}, true, false},
        {"one piece, nothing before it", {5, 1, 64 * KiB, 5, 1024 * KiB}, false, false},
        {"one piece, aligned", {0, 1, 1024 * KiB, -1, 1024 * KiB}, false, false},
        {"many locks long", {0, 1, 16 * 1024 * KiB, 99, 1024 * KiB}, true, false},
        {"no data", {ACCESS_END, 0, 0, -1, 1024 * KiB}, false, false},
    };
    for (size_t i = 0; i < LENGTH(expected); i++) {
        ck_assert_msg(aggregation_pays(&expected[i].access, true) == expected[i].write,
                      "%s, written", expected[i].what);
        ck_assert_msg(aggregation_pays(&expected[i].access, false) == expected[i].read, "%s, read",
                      expected[i].what);
    }
}
END_TEST

START_TEST(merging_is_by_a_fifth_at_least)
{
    ck_assert(!aggregation_merges(0, 0));
    ck_assert(!aggregation_merges(1, 0));
    ck_assert(aggregation_merges(2, 1));
    ck_assert(!aggregation_merges(100, 20));
    ck_assert(aggregation_merges(100, 21));
    ck_assert(!aggregation_merges(100, -1));
    ck_assert(aggregation_merges(INT64_MAX, INT64_MAX - 1));
}
END_TEST

int main(void)
{
    return run_tests("aggregation", ONCE(accesses_are_described), ONCE(unknown_alignment_is_none),
                     ONCE(aggregators_pay_for_small_pieces_and_shared_locks),
                     ONCE(merging_is_by_a_fifth_at_least));
}
