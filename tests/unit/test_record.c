/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks, owners of parts and the root do with a call amounts to a model of the whole file. */
#include "record/record.h"

#include "seeded.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

#include "failing_malloc.h"

/* Blocks of 512 bytes, so that parts, whose borders are at multiples of 4,096, hold several. */
enum { RANKS = 5, UNIT = 512, UNITS = 160, MOST_PARTS = 5, FIRST = 3 * UNIT };

/* The rank of each unit, -1: none. */
struct model {
    int rank[UNITS];
    int64_t lo, hi;
    int64_t view[RANKS][RANKS];
};

/* The ranks of the units are set. */
static void complete_model(struct model *m)
{
    int last = -1;
    for (int u = 0; u < UNITS; u++) {
        if (m->rank[u] < 0)
            continue;
        m->lo = last < 0 ? FIRST + u * UNIT : m->lo;
        m->hi = FIRST + (u + 1) * UNIT;
        if (last >= 0 && (m->rank[u] != m->rank[u - 1])) {
            m->view[last][m->rank[u]]++;
            m->view[m->rank[u]][last]++;
        }
        last = m->rank[u];
    }
}

static void make_model(uint64_t *seed, struct model *m)
{
    memset(m, 0, sizeof *m);
    for (int u = 0; u < UNITS; u++)
        m->rank[u] =
            u > 0 && pick(seed, 0, 2) == 0 ? m->rank[u - 1] : (int)pick(seed, -1, RANKS - 1);
    complete_model(m);
}

/* Ranks in turn, each with so many pieces of `piece` units, behind each of which are `gap`. */
static void make_turns(struct model *m, int piece, int pieces, int gap)
{
    memset(m, 0, sizeof *m);
    for (int u = 0; u < UNITS; u++)
        m->rank[u] = u % (piece + gap) < piece ? u / (piece + gap) / pieces % RANKS : -1;
    complete_model(m);
}

static access_list list_of(const struct model *m, int rank)
{
    access_list list = {0};
    for (int u = 0; u < UNITS; u++)
        if (m->rank[u] == rank)
            ck_assert_int_eq(access_append(&list, FIRST + u * UNIT, UNIT, list.bytes), 0);
    return list;
}

/* ---- the way of a call ---- */

struct way {
    size_t parts;
    access_message part[RANKS][MOST_PARTS], report[RANKS]; /* rank r owns part r */
    record_sums sums;
    int64_t unit;
    matrix view, bytes;
};

static int describe(const access_list *list, const struct model *m, struct way *w)
{
    int64_t sum[RECORD_SUMS] = {0};
    int rc = 0;
    for (size_t r = 0; r < RANKS && rc == 0; r++) {
        rc = record_add_sums(&list[r], m->lo, m->hi, sum);
        if (rc == 0)
            rc = record_describe_access(&list[r], m->lo, m->hi, w->part[r], w->parts);
    }
    w->unit = record_choose_unit(m->lo, m->hi, sum);
    return rc;
}

/* The report of a rank. */
static int report(const access_list *own, const struct model *m, struct way *w, size_t rank)
{
    access_list list[RANKS] = {{0}};
    size_t sender[RANKS];
    record_received received = {list, sender, 0};
    int rc = 0;
    for (size_t r = 0; r < RANKS && rank < w->parts && rc == 0; r++) {
        const access_message *part = &w->part[r][rank];
        if (part->count == 0)
            continue;
        sender[received.count] = r;
        rc = access_decode_runs(&list[received.count++], part->element, part->count);
    }
    if (rc == 0)
        rc = record_make_report(&received, own, m->lo, w->unit, &w->report[rank]);
    for (size_t i = 0; i < received.count; i++)
        access_release(&list[i]);
    return rc;
}

static int sum_up(const struct model *m, struct way *w)
{
    int rc = record_sums_start(&w->sums, RANKS, m->lo, m->hi, w->unit, w->parts);
    for (size_t r = 0; r < RANKS && rc == 0; r++)
        rc = record_sums_add_report(&w->sums, r < w->parts ? r : SIZE_MAX, r, w->report[r].element,
                                    w->report[r].count);
    return rc == 0 ? record_sums_finish(&w->sums, &w->view, &w->bytes) : rc;
}

static int go(const access_list *list, const struct model *m, struct way *w)
{
    int rc = describe(list, m, w);
    for (size_t r = 0; r < RANKS && rc == 0; r++)
        rc = report(&list[r], m, w, r);
    return rc == 0 ? sum_up(m, w) : rc;
}

static void release(struct way *w)
{
    for (size_t r = 0; r < RANKS; r++) {
        for (size_t j = 0; j < MOST_PARTS; j++)
            free(w->part[r][j].element);
        free(w->report[r].element);
    }
    record_sums_release(&w->sums);
    matrix_release(&w->view);
    matrix_release(&w->bytes);
}

/* ---- tests ---- */

static void check_profile(const struct model *m, const struct way *w)
{
    int64_t wanted[RANKS][UNITS] = {{0}};
    ck_assert_int_eq(w->unit & (w->unit - 1), 0);
    ck_assert_int_le(w->unit, UNIT); /* so few bytes always have the smallest bins */
    for (int u = 0; u < UNITS; u++)
        if (m->rank[u] >= 0)
            for (int64_t at = FIRST + u * UNIT; at < FIRST + (u + 1) * UNIT; at += w->unit)
                wanted[m->rank[u]][(at - m->lo) / UNIT] += w->unit;
    for (size_t r = 0; r < RANKS; r++) {
        for (size_t k = w->bytes.row_start[r]; k < w->bytes.row_start[r + 1]; k++)
            wanted[r][(int64_t)w->bytes.col[k] * w->unit / UNIT] -= w->bytes.value[k];
        for (int b = 0; b < UNITS; b++)
            ck_assert_int_eq(wanted[r][b], 0);
    }
}

START_TEST(parts_and_rows_amount_to_the_whole)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    access_list list[RANKS];
    struct model m;
    struct way w = {.parts = (size_t)pick(&seed, 1, MOST_PARTS)};
    make_model(&seed, &m);
    for (int r = 0; r < RANKS; r++)
        list[r] = list_of(&m, r);
    ck_assert_int_eq(go(list, &m, &w), 0);
    for (size_t i = 0; i < RANKS; i++)
        for (size_t j = 0; j < RANKS; j++)
            if (i != j)
                ck_assert_int_eq(matrix_get(&w.view, i, j), m.view[i][j]);
    check_profile(&m, &w);
    release(&w);
    for (int r = 0; r < RANKS; r++)
        access_release(&list[r]);
}
END_TEST

START_TEST(without_memory_it_fails_and_leaks_nothing)
{
    uint64_t seed = first_seed();
    access_list list[RANKS];
    struct model m;
    int rc = -ENOMEM;
    make_model(&seed, &m);
    for (int r = 0; r < RANKS; r++)
        list[r] = list_of(&m, r);
    for (long nth = 0; rc != 0; nth++) {
        struct way w = {.parts = MOST_PARTS};
        fail_allocation(nth);
        rc = go(list, &m, &w);
        release(&w);
        check_failing(rc);
        ck_assert_int_lt(nth, 10000);
    }
    for (int r = 0; r < RANKS; r++)
        access_release(&list[r]);
}
END_TEST

/* Of bins that are so much larger than the recorded ones. Returns the hidden bytes. */
static int64_t deal(const struct way *w, unsigned doublings, access_list list[RANKS])
{
    view_file file = {.view = w->view};
    access_pattern pattern = {.calls = 1, .unit = w->unit << doublings};
    int64_t hidden;
    matrix bytes;
    ck_assert_int_eq(view_file_coarsen(&w->bytes, doublings, &bytes), 0);
    ck_assert_int_eq(view_file_append(&file, &pattern, &bytes), 0);
    ck_assert_int_eq(record_deal(&file, 0, list, &hidden), 0);
    file.view = (matrix){0};
    view_file_release(&file);
    return hidden;
}

/* Whether the dealt lists are what the ranks of the model access. */
static bool is_dealt_as(const struct model *m, const access_list dealt[RANKS])
{
    bool same = true;
    for (int r = 0; r < RANKS; r++) {
        access_list list = list_of(m, r);
        access_cursor a, b;
        access_cursor_init(&a, &list);
        access_cursor_init(&b, &dealt[r]);
        same &= list.bytes == dealt[r].bytes;
        for (access_piece x, y; same && access_take_piece(&a, m->hi, &x);)
            same = access_take_piece(&b, m->hi, &y) && x.offset - m->lo == y.offset &&
                   x.length == y.length;
        access_release(&list);
    }
    return same;
}

/* doublings: of recorded bins of up to a unit. */
static void check_dealing(const struct model *m, unsigned doublings, bool same)
{
    struct way w = {.parts = MOST_PARTS};
    access_list list[RANKS], dealt[RANKS] = {{0}};
    for (int r = 0; r < RANKS; r++)
        list[r] = list_of(m, r);
    ck_assert_int_eq(go(list, m, &w), 0);
    int64_t bytes = 0, hidden = deal(&w, doublings, dealt);
    for (int r = 0; r < RANKS; r++) {
        ck_assert_int_eq(dealt[r].bytes, list[r].bytes);
        ck_assert(access_is_ordered(&dealt[r]));
        bytes += list[r].bytes;
    }
    ck_assert(!same || is_dealt_as(m, dealt));
    ck_assert_int_eq(hidden, doublings == 0 ? 0 : hidden);
    ck_assert_int_le(hidden, bytes);
    for (int r = 0; r < RANKS; r++) {
        access_release(&list[r]);
        access_release(&dealt[r]);
    }
    release(&w);
}

START_TEST(bins_of_one_rank_are_dealt_as_they_were)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    struct model m;
    make_model(&seed, &m);
    check_dealing(&m, 0, true);
    check_dealing(&m, (unsigned)pick(&seed, 1, 8), false);
}
END_TEST

/* Also where bins end in the middle of a piece, or of a turn. */
START_TEST(turns_are_dealt_as_they_were)
{
    struct model m;
    for (unsigned doublings = 0; doublings < 8; doublings++)
        for (int piece = 1; piece <= RANKS; piece++) {
            make_turns(&m, piece, 1, 0);
            check_dealing(&m, doublings, UNITS % piece == 0);
        }
    make_turns(&m, 1, 4, 1);
    for (unsigned doublings = 0; doublings < 4; doublings++)
        check_dealing(&m, doublings, true);
}
END_TEST

START_TEST(malformed_messages_are_refused)
{
    const int64_t too_long[] = {1}, blocks[] = {1, 5}, few[] = {4, 2, 0, 0, 8};
    const int64_t rank[] = {4, 0, 0, RANKS, 1}, none[] = {1, 0}, bin[] = {0, 9, 1, 4};
    record_sums sums;
    ck_assert_int_eq(record_sums_start(&sums, RANKS, 0, 512, 64, 2), 0);
    ck_assert_int_eq(record_sums_add_report(&sums, 0, SIZE_MAX, too_long, 0), -EINVAL);
    ck_assert_int_eq(record_sums_add_report(&sums, 0, SIZE_MAX, too_long, 1), -EINVAL);
    ck_assert_int_eq(record_sums_add_report(&sums, 0, SIZE_MAX, blocks, 2), -EINVAL);
    ck_assert_int_eq(record_sums_add_report(&sums, 0, SIZE_MAX, few, 5), -EINVAL);
    ck_assert_int_eq(record_sums_add_report(&sums, 2, SIZE_MAX, none, 2), -EINVAL);
    ck_assert_int_eq(record_sums_add_report(&sums, 1, SIZE_MAX, rank, 5), -EINVAL);
    ck_assert_int_eq(record_sums_add_report(&sums, SIZE_MAX, 0, bin, 4), -EINVAL);
    record_sums_release(&sums);
}
END_TEST

/* Rank 0's, rank 1's, ... in turn: in bins of any size all ranks look alike, and few bins are
 * enough. */
START_TEST(bins_are_as_many_as_the_data_are_worth)
{
    enum { MANY = 1000, RECORD = 1000, RECORDS = 100 };
    int64_t hi = (int64_t)MANY * RECORD * RECORDS, turns[RECORD_SUMS] = {0},
            blocks[RECORD_SUMS] = {0};
    for (int64_t r = 0; r < MANY; r++) {
        access_run strided = {r * RECORD, RECORD, MANY * RECORD, RECORDS, 0};
        access_run block = {r * RECORD * RECORDS, RECORD * RECORDS, 0, 1, 0};
        access_list list = {0};
        ck_assert_int_eq(access_append_run(&list, &strided), 0);
        ck_assert_int_eq(record_add_sums(&list, 0, hi, turns), 0);
        access_clear(&list);
        ck_assert_int_eq(access_append_run(&list, &block), 0);
        ck_assert_int_eq(record_add_sums(&list, 0, hi, blocks), 0);
        access_release(&list);
    }
    ck_assert_int_eq(turns[RECORD_SUM_BYTES], hi);
    int64_t few = record_choose_unit(0, hi, turns), many = record_choose_unit(0, hi, blocks);
    ck_assert_int_ge(few, hi / 32);
    ck_assert_int_le(many, hi / 10000);
}
END_TEST

int main(void)
{
    return run_tests(
        "record", TIMES(parts_and_rows_amount_to_the_whole, random_cases(100)),
        ONCE(without_memory_it_fails_and_leaks_nothing), ONCE(malformed_messages_are_refused),
        TIMES(bins_of_one_rank_are_dealt_as_they_were, random_cases(100)),
        ONCE(turns_are_dealt_as_they_were), ONCE(bins_are_as_many_as_the_data_are_worth));
}
