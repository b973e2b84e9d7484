/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicted bytes of a placement, and when a stock mapping is kept.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dla/predict.h"

#include "suite.h"

enum { RANKS = 4, NODES = 2, BINS = 64, UNIT = 64 << 10, HALF = BINS / 2 * UNIT };

static const size_t by_slot[RANKS] = {0, 0, 1, 1}, by_node[RANKS] = {0, 1, 0, 1},
                    crosswise[RANKS] = {0, 1, 1, 0};

typedef struct fixture {
    access_pattern pattern;
    matrix bytes, view;
    view_file file;
    setmatch_network network;
    setmatch_input input;
} fixture;

/* Rank 0 and `mate` share the first half of a file, the others the second one. */
static void share_halves(fixture *f, size_t mate)
{
    matrix_builder b = {.rows = RANKS, .cols = BINS};

    *f = (fixture){.pattern = {.calls = 1, .unit = UNIT}};
    for (size_t r = 0; r < RANKS; r++)
        for (size_t k = 0; k < BINS / 2; k++) {
            size_t bin = 0 == r || mate == r ? k : k + BINS / 2;

            ck_assert_int_eq(matrix_builder_add(&b, r, bin, UNIT / 2), 0);
        }
    ck_assert_int_eq(matrix_builder_finish(&b, &f->bytes), 0);
    matrix_builder_clear(&b);
    ck_assert_int_eq(matrix_allocate(&f->view, RANKS, RANKS, 0), 0);
    f->file = (view_file){.patterns = 1, .pattern = &f->pattern, .bytes = &f->bytes};
    f->input = (setmatch_input){.view = &f->view, .nodes = NODES, .network = &f->network};
}

static void release(fixture *f)
{
    matrix_release(&f->bytes);
    matrix_release(&f->view);
}

static dla_stock keep(const fixture *f, const size_t *placed, size_t *node)
{
    dla_stock kept = DLA_STOCK_NONE;

    memcpy(node, placed, RANKS * sizeof(*node));
    ck_assert_int_eq(dla_keep_stock(&f->input, &f->file, by_slot, by_node, node, &kept), 0);
    return kept;
}

static void check_kept(const fixture *f, const size_t *placed, dla_stock kept,
                       const size_t *expected)
{
    size_t node[RANKS];

    ck_assert_int_eq(keep(f, placed, node), kept);
    ck_assert_mem_eq(node, expected, sizeof(node));
}

START_TEST(keeps_what_is_as_good)
{
    fixture f;

    share_halves(&f, 1);
    check_kept(&f, by_slot, DLA_STOCK_BY_SLOT, by_slot);
    check_kept(&f, crosswise, DLA_STOCK_BY_SLOT, by_slot);
    release(&f);
    share_halves(&f, 2);
    check_kept(&f, by_slot, DLA_STOCK_BY_NODE, by_node);
    check_kept(&f, crosswise, DLA_STOCK_BY_NODE, by_node);
    release(&f);
}
END_TEST

START_TEST(places_what_gains)
{
    fixture f;

    share_halves(&f, 3);
    check_kept(&f, crosswise, DLA_STOCK_NONE, crosswise);
    check_kept(&f, by_node, DLA_STOCK_BY_SLOT, by_slot);
    release(&f);
}
END_TEST

START_TEST(counts_borders_of_groups)
{
    size_t groups[NODES] = {0, 1};
    int64_t crossing[2];
    fixture f;

    share_halves(&f, 3);
    ck_assert_int_eq(dla_predict(&f.input, &f.file, by_slot, crossing), 0);
    ck_assert_int_eq(crossing[0], HALF);
    f.network = (setmatch_network){.levels = 1, .group_of_node = groups};
    ck_assert_int_eq(dla_predict(&f.input, &f.file, by_slot, crossing), 0);
    ck_assert_int_eq(crossing[0], HALF);
    ck_assert_int_eq(crossing[1], HALF);
    groups[1] = 0;
    ck_assert_int_eq(dla_predict(&f.input, &f.file, by_slot, crossing), 0);
    ck_assert_int_eq(crossing[1], 0);
    release(&f);
}
END_TEST

START_TEST(calls_without_aggregators)
{
    char comments[] = "bytes: 9\nindependent: 9\n", text[DLA_REPORT_SIZE];
    fixture f;

    share_halves(&f, 3);
    f.file = (view_file){.comments = comments};
    ck_assert(dla_has_bytes(&f.file));
    check_kept(&f, crosswise, DLA_STOCK_BY_SLOT, by_slot);
    ck_assert_int_eq(dla_report_format(&f.input, &f.file, crosswise, text), 0);
    ck_assert_str_eq(text, "0 of 0 (0 of 9 bytes leave their nodes)");
    f.file.comments = NULL;
    ck_assert(!dla_has_bytes(&f.file));
    ck_assert_int_eq(dla_report_format(&f.input, &f.file, crosswise, text), 0);
    ck_assert_str_eq(text, "0 of 0");
    release(&f);
}
END_TEST

START_TEST(obeys_what_is_demanded)
{
    fixture f;
    dla_spec spec;
    char reason[DLA_SPEC_REASON_SIZE];

    share_halves(&f, 3);
    ck_assert_int_eq(dla_spec_parse("dla:file=view", &spec, reason), 0);
    ck_assert(dla_may_keep_stock(&spec, &f.file));
    f.file.patterns = 0;
    ck_assert(!dla_may_keep_stock(&spec, &f.file));
    f.file.patterns = 1;
    dla_spec_release(&spec);
    ck_assert_int_eq(dla_spec_parse("dla:file=view,method=setmatch", &spec, reason), 0);
    ck_assert(!dla_may_keep_stock(&spec, &f.file));
    dla_spec_release(&spec);
    ck_assert_int_eq(dla_spec_parse("dla:file=view,objective=neighbours", &spec, reason), 0);
    ck_assert(!dla_may_keep_stock(&spec, &f.file));
    dla_spec_release(&spec);
    release(&f);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("predict");
    Suite *suite = suite_create("dla_predict");

    suite_add_tcase(suite, cases);
    tcase_add_test(cases, keeps_what_is_as_good);
    tcase_add_test(cases, places_what_gains);
    tcase_add_test(cases, counts_borders_of_groups);
    tcase_add_test(cases, calls_without_aggregators);
    tcase_add_test(cases, obeys_what_is_demanded);
    return run_suite(suite);
}
