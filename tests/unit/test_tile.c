/* SPDX-License-Identifier: BSD-3-Clause */
/* Tilings against plain lists of bytes. */
#include "access/cursor.h"
#include "seeded.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { CASES = 2000, BLOCKS = 6, COPIES = 8, PERIOD_BYTES = BLOCKS * 9 };

static uint64_t state;

static int64_t below(int64_t n)
{
    return pick(&state, 0, n - 1);
}

/* Where each byte of a period is, relative to the copy's origin. */
typedef struct model {
    int64_t place[PERIOD_BYTES];
    int64_t bytes, span;
} model;

static void random_period(model *m, access_list *period)
{
    int64_t blocks = 1 + below(BLOCKS), length = 1 + below(9), at = below(20);
    *m = (model){0};
    for (int64_t b = 0; b < blocks; b++) {
        ck_assert_int_eq(access_append(period, at, length, m->bytes), 0);
        for (int64_t i = 0; i < length; i++)
            m->place[m->bytes++] = at + i;
        m->span = at + length > m->span ? at + length : m->span;
        if (below(2) == 0)
            length = 1 + below(9);
        at += below(4) == 0 ? below(length) : length + below(5);
    }
}

/* Bytes [from, from + count) of the tiling, as appended to a list that had `before` bytes. */
static void check_tiling(const access_list *list, int64_t before, const model *m, int64_t base,
                         int64_t extent, int64_t from, int64_t count)
{
    access_cursor cursor;
    access_piece piece;
    int64_t seen = 0;
    access_cursor_init(&cursor, list);
    while (access_take_piece(&cursor, ACCESS_END, &piece)) {
        for (int64_t i = 0; i < piece.length; i++) {
            if (piece.stream + i < before)
                continue;
            int64_t s = from + piece.stream + i - before;
            seen += piece.offset + i == base + s / m->bytes * extent + m->place[s % m->bytes];
        }
    }
    ck_assert_int_eq(seen, count);
    ck_assert_int_eq(list->bytes, before + count);
}

START_TEST(tilings_hold_every_byte)
{
    for_random_seeds (seed, CASES) {
        access_list period = {0}, list = {0};
        model m;
        state = seed;
        random_period(&m, &period);
        int64_t base = below(100), extent = below(3) == 0 ? m.span : below(80);
        int64_t from = below(COPIES * m.bytes), count = below(COPIES * m.bytes), before = below(5);
        if (below(8) == 0) {
            extent = -extent;
            base += 80 * 2 * COPIES;
        }
        ck_assert_int_eq(access_append(&list, 1, before, 0), 0);
        ck_assert_int_eq(access_append_tiled(&list, &period, base, extent, from, count), 0);
        check_tiling(&list, before, &m, base, extent, from, count);
        access_release(&list);
        access_release(&period);
    }
}
END_TEST

START_TEST(copies_of_one_block_are_few_runs)
{
    access_list period = {0}, list = {0};
    const int64_t copies = INT64_C(1) << 40;
    ck_assert_int_eq(access_append(&period, 16, 8, 0), 0);
    ck_assert_int_eq(access_append_tiled(&list, &period, 1000, 64, 0, 8 * copies), 0);
    ck_assert_uint_le(list.count, 2); /* the first copy may be cut */
    ck_assert_int_eq(list.bytes, 8 * copies);
    ck_assert_int_eq(access_lower(&list), 1016);
    ck_assert_int_eq(access_upper(&list), 1016 + 64 * (copies - 1) + 8);
    access_clear(&list);
    ck_assert_int_eq(access_append_tiled(&list, &period, 0, 8, 3, 8 * copies), 0);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(list.run[0].offset, 19);
    ck_assert_int_eq(list.run[0].length, 8 * copies);
    access_release(&list);
    access_release(&period);
}
END_TEST

START_TEST(bad_tilings_are_refused)
{
    access_list period = {0}, list = {0};
    ck_assert_int_eq(access_append_tiled(&list, &period, 0, 1, 0, 0), 0);
    ck_assert_int_eq(access_append_tiled(&list, &period, 0, 1, 0, 1), -EINVAL);
    ck_assert_int_eq(access_append(&period, 8, 4, 0), 0);
    ck_assert_int_eq(access_append_tiled(&list, &period, 0, 16, INT64_MAX, 2), -EINVAL);
    ck_assert_int_eq(access_append_tiled(&list, &period, 0, 16, INT64_MAX - 1, 2), -EINVAL);
    ck_assert_int_eq(access_append_tiled(&list, &period, 0, INT64_MAX, 0, 12), -EINVAL);
    ck_assert_int_eq(access_append_tiled(&list, &period, INT64_MAX - 4, 0, 0, 16), -EINVAL);
    ck_assert_int_eq(access_append_tiled(&list, &period, 0, -16, 0, 8), -EINVAL);
    access_release(&list);
    access_release(&period);
}
END_TEST

int main(void)
{
    return run_tests("tile", ONCE(tilings_hold_every_byte), ONCE(copies_of_one_block_are_few_runs),
                     ONCE(bad_tilings_are_refused));
}
