/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicted bytes of a placement, and when a stock mapping is kept.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dla/place.h"

#include "edges.h"
#include "failing_malloc.h"
#include "suite.h"

enum { RANKS = 4, NODES = 2, BINS = 64, UNIT = 64 << 10, HALF = BINS / 2 * UNIT };

static size_t by_slot[RANKS] = {0, 0, 1, 1}, by_node[RANKS] = {0, 1, 0, 1},
              crosswise[RANKS] = {0, 1, 1, 0};

typedef struct fixture {
    access_pattern pattern;
    matrix bytes;
    dla_data data;
    dla_placement p;
} fixture;

/* Rank 0 and `mate` access `most` bytes of each bin of the first half of a file and the rest of
 * those of the second one, the others the other way round. */
static void share_file(fixture *f, size_t mate, int64_t most)
{
    matrix_builder b = {.rows = RANKS, .cols = BINS};

    *f = (fixture){.pattern = {.calls = 1, .unit = UNIT}};
    for (size_t r = 0; r < RANKS; r++)
        for (size_t k = 0; k < BINS; k++) {
            bool in_first = 0 == r || mate == r;
            int64_t bytes = in_first == (k < BINS / 2) ? most : UNIT / 2 - most;

            add_entry(&b, r, k, bytes);
        }
    f->bytes = finish_matrix(&b);
    f->data.file = (view_file){.patterns = 1, .pattern = &f->pattern, .bytes = &f->bytes};
    ck_assert_int_eq(matrix_allocate(&f->data.file.view, RANKS, RANKS, 0), 0);
    topo_flat(&f->data.topology, NODES);
    f->p = (dla_placement){.data = &f->data,
                           .input = {.view = &f->data.file.view, .nodes = NODES},
                           .by_slot = by_slot,
                           .by_node = by_node};
}

/* Rank 0 and `mate` share the first half of a file, the others the second one. */
static void share_halves(fixture *f, size_t mate)
{
    share_file(f, mate, UNIT / 2);
}

static void release(fixture *f)
{
    matrix_release(&f->bytes);
    matrix_release(&f->data.file.view);
}

static void check_text(const fixture *f, const char *expected)
{
    char text[DLA_REPORT_SIZE];

    dla_benefit_format(&f->p, "v\x1b", text);
    ck_assert_str_eq(text, expected);
}

/* said: NULL: not checked. */
static void check_kept(fixture *f, const size_t *placed, dla_stock kept, const char *said)
{
    const size_t *const expected[] = {
        [DLA_STOCK_NONE] = placed, [DLA_STOCK_BY_SLOT] = by_slot, [DLA_STOCK_BY_NODE] = by_node};
    size_t node[RANKS];

    memcpy(node, placed, sizeof(node));
    f->p.node_of_rank = node;
    ck_assert_int_eq(dla_compare(&f->p, true), 0);
    ck_assert_int_eq(f->p.benefit.kept, kept);
    ck_assert_mem_eq(node, expected[kept], sizeof(node));
    if (said != NULL)
        check_text(f, said);
}

/* Rank 0 and `mate` access `most` bytes of each bin of the first half. */
static const struct {
    const size_t *placed;
    size_t mate;
    int64_t most;
    dla_stock kept;
    const char *said;
} shared[] = {
    {by_slot, 1, UNIT / 2, DLA_STOCK_BY_SLOT, "not placed by v\\x1b: no bytes between nodes"},
    {crosswise, 1, UNIT / 2, DLA_STOCK_BY_SLOT, NULL},
    {by_slot, 2, UNIT / 2, DLA_STOCK_BY_NODE,
     "placed by v\\x1b (by node): 2.1 MB between nodes -> 0"},
    {crosswise, 2, UNIT / 2, DLA_STOCK_BY_NODE, NULL},
    {crosswise, 3, UNIT / 2, DLA_STOCK_NONE, "placed by v\\x1b: 2.1 MB between nodes -> 0"},
    {by_node, 3, UNIT / 2, DLA_STOCK_BY_SLOT, NULL},
    /* the half of each bin that leaves its node falls by just less than 2 %, and by just more */
    {crosswise, 3, UNIT / 4 + 327, DLA_STOCK_BY_SLOT,
     "not placed by v\\x1b: 2.1 MB between nodes stay, a placement saves less than 2 %"},
    {crosswise, 3, UNIT / 4 + 328, DLA_STOCK_NONE, NULL},
};

START_TEST(keeps_what_is_as_good)
{
    fixture f;

    share_file(&f, shared[_i].mate, shared[_i].most);
    check_kept(&f, shared[_i].placed, shared[_i].kept, shared[_i].said);
    release(&f);
}
END_TEST

static void set_view(fixture *f, int64_t slot_pairs, int64_t node_pairs, int64_t cross_pairs)
{
    const int64_t weight[RANKS] = {0, slot_pairs, node_pairs, cross_pairs};
    matrix_builder b = {.rows = RANKS, .cols = RANKS};

    matrix_release(&f->data.file.view);
    for (size_t r = 0; r < RANKS; r++)
        for (size_t k = 1; k < RANKS; k++)
            add_entry(&b, r, r ^ k, weight[k]);
    f->data.file.view = finish_matrix(&b);
}

/* By slot keeps ranks r and r ^ 1 together, by node r and r ^ 2, crosswise r and r ^ 3. */
START_TEST(weights_without_a_profile)
{
    size_t groups[NODES] = {0, 1};
    fixture f;

    share_halves(&f, 3);
    f.data.file.patterns = 0;
    set_view(&f, 100, 50, 101);
    check_kept(
        &f, crosswise, DLA_STOCK_BY_SLOT,
        "not placed by v\\x1b: weight 302 between nodes stays, a placement saves less than 2 %");
    f.data.network = (setmatch_network){.levels = 1, .group_of_node = groups};
    check_kept(
        &f, crosswise, DLA_STOCK_BY_SLOT,
        "not placed by v\\x1b: weight 604 over links stays, a placement saves less than 2 %");
    f.data.network = (setmatch_network){.levels = 0};
    set_view(&f, 100, 110, 101);
    check_kept(&f, crosswise, DLA_STOCK_BY_NODE,
               "placed by v\\x1b (by node): weight 422 between nodes -> 402");
    set_view(&f, 100, 50, 200);
    check_kept(&f, crosswise, DLA_STOCK_NONE, "placed by v\\x1b: weight 500 between nodes -> 300");
    set_view(&f, 1, 0, 0);
    check_kept(&f, crosswise, DLA_STOCK_BY_SLOT, "not placed by v\\x1b: no weight between nodes");
    release(&f);
}
END_TEST

START_TEST(measures_what_is_demanded)
{
    fixture f;

    share_halves(&f, 1);
    f.p.node_of_rank = by_node;
    ck_assert_int_eq(dla_compare(&f.p, false), 0);
    check_text(&f, "placed by v\\x1b: 0 between nodes -> 2.1 MB");
    f.p.benefit = (dla_benefit){.by_slot = 999400.0, .placed = 999600.0};
    check_text(&f, "placed by v\\x1b: 999 kB between nodes -> 1 MB");
    f.p.input.nodes = 1;
    ck_assert_int_eq(dla_compare(&f.p, false), 0);
    check_text(&f, "not placed by v\\x1b: there is one node only");
    release(&f);
}
END_TEST

START_TEST(counts_borders_of_groups)
{
    size_t groups[NODES] = {0, 1};
    int64_t crossing[2];
    fixture f;

    share_halves(&f, 3);
    ck_assert_int_eq(dla_predict(&f.p, by_slot, crossing), 0);
    ck_assert_int_eq(crossing[0], HALF);
    f.data.network = (setmatch_network){.levels = 1, .group_of_node = groups};
    ck_assert_int_eq(dla_predict(&f.p, by_slot, crossing), 0);
    ck_assert_int_eq(crossing[0], HALF);
    ck_assert_int_eq(crossing[1], HALF);
    groups[1] = 0;
    ck_assert_int_eq(dla_predict(&f.p, by_slot, crossing), 0);
    ck_assert_int_eq(crossing[1], 0);
    release(&f);
}
END_TEST

START_TEST(calls_without_aggregators)
{
    char comments[] = "bytes: 9\nindependent: 9\n", text[DLA_REPORT_SIZE];
    fixture f;

    share_halves(&f, 3);
    f.data.file.patterns = 0;
    f.data.file.comments = comments;
    ck_assert(dla_has_bytes(&f.data.file));
    check_kept(&f, crosswise, DLA_STOCK_BY_SLOT, NULL);
    ck_assert_int_eq(dla_report_format(&f.p, crosswise, text), 0);
    ck_assert_str_eq(text, "0 of 0 (0 of 9 bytes leave their nodes)");
    f.data.file.comments = NULL;
    ck_assert(!dla_has_bytes(&f.data.file));
    ck_assert_int_eq(dla_report_format(&f.p, crosswise, text), 0);
    ck_assert_str_eq(text, "0 of 0");
    release(&f);
}
END_TEST

static const struct {
    const char *policy;
    size_t nodes;
    dla_stock kept;
} policies[] = {
    {"dla:file=view", NODES, DLA_STOCK_BY_SLOT},
    {"dla:file=view", 1, DLA_STOCK_NONE},
    {"dla:file=view,method=setmatch", NODES, DLA_STOCK_NONE},
    {"dla:file=view,objective=neighbours", NODES, DLA_STOCK_NONE},
};

/* By slot nothing moves. */
START_TEST(obeys_what_is_demanded)
{
    const size_t slots[] = {RANKS / policies[_i].nodes, RANKS / 2};
    const dla_room room = {.nodes = policies[_i].nodes, .slots = slots};
    char reason[DLA_REASON_SIZE];
    dla_spec spec;
    fixture f;

    share_halves(&f, 1);
    ck_assert_int_eq(dla_spec_parse(policies[_i].policy, &spec, reason), 0);
    ck_assert_int_eq(dla_place(&f.data, &spec, &room, &f.p), 0);
    ck_assert_int_eq(f.p.benefit.kept, policies[_i].kept);
    dla_placement_release(&f.p);
    dla_spec_release(&spec);
    release(&f);
}
END_TEST

int main(void)
{
    return run_tests("dla_predict", TIMES(keeps_what_is_as_good, LENGTH(shared)),
                     ONCE(weights_without_a_profile), ONCE(measures_what_is_demanded),
                     ONCE(counts_borders_of_groups), ONCE(calls_without_aggregators),
                     TIMES(obeys_what_is_demanded, LENGTH(policies)));
}
