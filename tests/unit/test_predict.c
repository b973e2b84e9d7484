/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicted bytes between nodes: the number and kind of file domains as of fcoll/tatp, from bins.
 */
#include "predict/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { RANKS = 16, NODES = 4, KiB = 1 << 10, MiB = 1 << 20 };

/* Ranks 0..3 on node 0, ...; and rank r on node r % 4. */
static const size_t by_slot[RANKS] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
static const size_t by_node[RANKS] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};

static topo flat(size_t nodes)
{
    topo t;
    topo_flat(&t, nodes);
    return t;
}

static predict_job job_on(const size_t *node_of_rank, const topo *t)
{
    return (predict_job){.ranks = RANKS, .node_of_rank = node_of_rank, .topology = t};
}

/* Bin b belongs to rank owner(b) alone. */
static matrix whole_bins(size_t bins, int64_t unit, size_t (*owner)(size_t bin))
{
    matrix_builder b = {.rows = RANKS, .cols = bins};
    matrix m;
    for (size_t k = 0; k < bins; k++)
        ck_assert_int_eq(matrix_builder_add(&b, owner(k), k, unit), 0);
    ck_assert_int_eq(matrix_builder_finish(&b, &m), 0);
    matrix_builder_clear(&b);
    return m;
}

/* All ranks access each bin alike. */
static matrix shared_bins(size_t bins, int64_t bytes)
{
    matrix_builder b = {.rows = RANKS, .cols = bins};
    matrix m;
    for (size_t r = 0; r < RANKS; r++)
        for (size_t k = 0; k < bins; k++)
            ck_assert_int_eq(matrix_builder_add(&b, r, k, bytes), 0);
    ck_assert_int_eq(matrix_builder_finish(&b, &m), 0);
    matrix_builder_clear(&b);
    return m;
}

static access_pattern calls_of(int64_t unit)
{
    return (access_pattern){.calls = 1, .unit = unit};
}

static prediction predict(const size_t *node_of_rank, const access_pattern *pattern,
                          const matrix *bytes)
{
    const topo t = flat(NODES);
    const predict_job job = job_on(node_of_rank, &t);
    prediction p;
    ck_assert_int_eq(predict_calls(&job, pattern, bytes, &p), 0);
    return p;
}

static size_t in_turn(size_t bin)
{
    return bin % RANKS;
}

static size_t in_blocks(size_t bin)
{
    return bin / 4 % RANKS;
}

START_TEST(the_number_of_aggregators)
{
    const struct {
        size_t bins;
        int64_t unit;
        access_division division;
        size_t domains;
    } expected[] = {
        {16, KiB, {0}, 1},                            /* less than DOMAIN_SPREAD */
        {16, 16 * KiB, {0}, 4},                       /* one on each node */
        {16, MiB, {0}, 16},                           /* at most four on each */
        {64, MiB, {0}, 16},                           /* no more */
        {16, MiB, {.aggregators = 5}, 5},             /* as many as hinted */
        {16, MiB, {.aggregators = 99}, RANKS},        /* or as there are ranks */
        {16, MiB, {.stripe = 8 * MiB}, 2},            /* one for each stripe */
        {16, MiB, {.stripe = MiB, .targets = 6}, 12}, /* a multiple of targets */
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        access_pattern pattern = calls_of(expected[i].unit);
        matrix bytes = shared_bins(expected[i].bins, expected[i].unit / RANKS);
        pattern.division = expected[i].division;
        prediction p = predict(by_slot, &pattern, &bytes);
        ck_assert_uint_eq(p.domains, expected[i].domains);
        prediction_release(&p);
        matrix_release(&bytes);
    }
}
END_TEST

/* Records of all ranks in each part of the file: three quarters leave their nodes wherever. */
START_TEST(records_cross_anyway)
{
    const access_pattern pattern = calls_of(64 * KiB);
    matrix bytes = shared_bins(64, 4 * KiB);
    prediction slot = predict(by_slot, &pattern, &bytes), node = predict(by_node, &pattern, &bytes);
    ck_assert_int_eq(slot.crossing_bytes, 3 * MiB);
    ck_assert_int_eq(node.crossing_bytes, 3 * MiB);
    ck_assert_int_eq(slot.kind, DIVISION_EVEN);
    ck_assert_int_eq(slot.unit, 0);
    prediction_release(&slot);
    prediction_release(&node);
    matrix_release(&bytes);
}
END_TEST

/* Blocks of 256 KiB in the order of ranks: even domains of 1 MiB are those of nodes by slot. By
 * node each domain has blocks of all nodes, and fitted ones match them. */
START_TEST(fitted_domains_where_they_pay)
{
    access_pattern pattern = calls_of(64 * KiB);
    matrix bytes = whole_bins(64, 64 * KiB, in_blocks);
    prediction slot = predict(by_slot, &pattern, &bytes), node = predict(by_node, &pattern, &bytes);
    ck_assert_int_eq(slot.kind, DIVISION_EVEN);
    ck_assert_int_eq(slot.crossing_bytes, 0);
    ck_assert_uint_eq(slot.domains, 4);
    ck_assert_int_eq(node.kind, DIVISION_FITTED);
    ck_assert_int_eq(node.crossing_bytes, 0);
    ck_assert_int_gt(node.unit, 0);
    prediction_release(&node);
    pattern.division.kind = DIVISION_EVEN;
    node = predict(by_node, &pattern, &bytes);
    ck_assert_int_eq(node.kind, DIVISION_EVEN);
    ck_assert_int_eq(node.crossing_bytes, 3 * MiB);
    prediction_release(&node);
    prediction_release(&slot);
    matrix_release(&bytes);
}
END_TEST

/* The kind that is asked for goes before the recorded one. */
START_TEST(a_kind_of_domains)
{
    const topo t = flat(NODES);
    predict_job job = job_on(by_node, &t);
    const access_pattern pattern = calls_of(64 * KiB);
    matrix bytes = whole_bins(64, 64 * KiB, in_blocks);
    prediction p;
    job.kind = DIVISION_EVEN;
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), 0);
    ck_assert_int_eq(p.kind, DIVISION_EVEN);
    prediction_release(&p);
    matrix_release(&bytes);
}
END_TEST

/* Stripe s of 64 KiB is on target s % 4, and each target's stripes are those of one node by node.
 */
START_TEST(stripes_of_targets)
{
    access_pattern pattern = calls_of(64 * KiB);
    matrix bytes = whole_bins(64, 64 * KiB, in_turn);
    pattern.division.stripe = 64 * KiB;
    pattern.division.targets = 4;
    prediction node = predict(by_node, &pattern, &bytes), slot = predict(by_slot, &pattern, &bytes);
    ck_assert_int_eq(node.kind, DIVISION_STRIPE);
    ck_assert_int_eq(node.unit, 64 * KiB);
    ck_assert_int_eq(node.crossing_bytes, 0);
    ck_assert_int_eq(slot.crossing_bytes, 3 * MiB);
    prediction_release(&node);
    prediction_release(&slot);
    matrix_release(&bytes);
}
END_TEST

/* A bin of many stripes: as much for each domain. */
START_TEST(bins_larger_than_stripes)
{
    access_pattern pattern = calls_of(64 * MiB);
    matrix bytes = shared_bins(2, 4 * MiB);
    pattern.division.stripe = 4 * KiB;
    pattern.division.targets = 4;
    prediction p = predict(by_slot, &pattern, &bytes);
    ck_assert_int_eq(p.crossing_bytes, 96 * MiB);
    ck_assert_int_eq(p.kind, DIVISION_STRIPE);
    prediction_release(&p);
    matrix_release(&bytes);
}
END_TEST

/* Bytes are split without loss, and a node without ranks changes nothing. */
START_TEST(sums_are_kept)
{
    uint64_t state = first_seed();
    for (uint64_t round = random_cases(50); round > 0; round--) {
        const topo four = flat(NODES), more = flat(NODES + 2);
        matrix_builder b = {.rows = RANKS, .cols = 37};
        matrix bytes;
        int64_t total, sum;
        for (size_t r = 0; r < RANKS; r++)
            for (int k = 0; k < 5; k++)
                ck_assert_int_eq(
                    matrix_builder_add(&b, r, (size_t)pick(&state, 0, 36), pick(&state, 1, 100000)),
                    0);
        ck_assert_int_eq(matrix_builder_finish(&b, &bytes), 0);
        matrix_builder_clear(&b);
        access_pattern pattern = calls_of((int64_t)1 << pick(&state, 6, 24));
        pattern.first = pick(&state, 0, 100000);
        predict_job job = job_on(by_slot, &four);
        prediction p, q;
        ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), 0);
        ck_assert_int_eq(matrix_sum(&bytes, &total), 0);
        ck_assert_int_eq(matrix_sum(&p.node_bytes, &sum), 0);
        ck_assert_int_eq(sum, total);
        ck_assert_int_le(p.crossing_bytes, total);
        job.topology = &more;
        ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &q), 0);
        ck_assert_uint_eq(q.domains, p.domains);
        ck_assert_int_eq(q.crossing_bytes, p.crossing_bytes);
        prediction_release(&p);
        prediction_release(&q);
        matrix_release(&bytes);
    }
}
END_TEST

/* More entries than are told apart by rank: nodes suffice for what crosses. */
START_TEST(many_ranks_share_a_bin)
{
    enum { MANY = 8192, ON_NODE = 32, EACH = MiB };
    const topo t = flat(MANY / ON_NODE);
    size_t *node_of_rank = calloc(MANY, sizeof *node_of_rank);
    predict_job job = {.ranks = MANY, .node_of_rank = node_of_rank, .topology = &t};
    const access_pattern pattern = calls_of((int64_t)MANY * EACH);
    matrix bytes;
    prediction p;
    ck_assert_int_eq(matrix_allocate(&bytes, MANY, 1, MANY), 0);
    for (size_t r = 0; r < MANY; r++) {
        node_of_rank[r] = r / ON_NODE;
        bytes.row_start[r + 1] = r + 1;
        bytes.value[r] = EACH;
    }
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), 0);
    ck_assert_uint_eq(p.domains, 4 * t.nodes);
    ck_assert_uint_eq(matrix_entries(&p.requests), 0);
    ck_assert_int_eq(p.crossing_bytes, (int64_t)MANY * EACH - (int64_t)ON_NODE * EACH);
    prediction_release(&p);
    matrix_release(&bytes);
    free(node_of_rank);
}
END_TEST

/* ---- a record ---- */

START_TEST(by_groups_of_nodes)
{
    const topo t = flat(NODES);
    const predict_job job = job_on(by_node, &t);
    const size_t group[] = {0, 0, 7, 7, 1, 1, 1, 1};
    matrix bytes[2] = {shared_bins(64, 4 * KiB), whole_bins(64, 64 * KiB, in_blocks)};
    access_pattern pattern[2] = {calls_of(64 * KiB), calls_of(64 * KiB)};
    const view_file f = {.patterns = 2, .pattern = pattern, .bytes = bytes};
    const predict_levels levels = {2, NODES, group};
    int64_t crossing[3];
    ck_assert_int_eq(predict_crossing(&job, &f, &levels, crossing, NULL), 0);
    ck_assert_int_eq(crossing[0], 3 * MiB);
    ck_assert_int_eq(crossing[1], 2 * MiB);
    ck_assert_int_eq(crossing[2], 0);
    matrix_release(&bytes[0]);
    matrix_release(&bytes[1]);
}
END_TEST

START_TEST(nothing_and_wrong_sizes)
{
    const topo t = flat(NODES), few = flat(NODES - 1);
    predict_job job = job_on(by_slot, &t);
    const access_pattern pattern = calls_of(KiB);
    matrix bytes = shared_bins(4, 10), none;
    prediction p;
    ck_assert_int_eq(matrix_allocate(&none, RANKS, 1, 0), 0);
    ck_assert_int_eq(predict_calls(&job, &pattern, &none, &p), 0);
    ck_assert_uint_eq(p.domains, 0);
    ck_assert_int_eq(p.crossing_bytes, 0);
    job.topology = &few;
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), -EINVAL);
    job.topology = &t;
    job.ranks--;
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), -EINVAL);
    job.ranks++;
    bytes.value[0] = bytes.value[1] = INT64_MAX;
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), -ERANGE);
    matrix_release(&bytes);
    matrix_release(&none);
}
END_TEST

START_TEST(memory_runs_out)
{
    const topo t = flat(NODES);
    const predict_job job = job_on(by_node, &t);
    matrix bytes = whole_bins(64, 64 * KiB, in_blocks);
    access_pattern pattern = calls_of(64 * KiB);
    const view_file f = {.patterns = 1, .pattern = &pattern, .bytes = &bytes};
    const predict_levels levels = {0, NODES, NULL};
    int64_t crossing = 0;
    int rc = -ENOMEM;
    for (long nth = 0; rc != 0; nth++) {
        fail_allocation(nth);
        rc = predict_crossing(&job, &f, &levels, &crossing, NULL);
        stop_failing();
        ck_assert_int_eq(allocations.live, 0);
        ck_assert(rc == (allocations.failed ? -ENOMEM : 0));
    }
    matrix_release(&bytes);
}
END_TEST

/* ---- storage servers ---- */

/* Two targets, on nodes 2 and 3, take stripes in turn; target 5 has no known node. */
static const size_t node_of_target[] = {2, 3, STORAGE_NONE};

static storage_layout *striped(int64_t unit, const char *targets, size_t count)
{
    char text[100];
    storage_layout *layout;
    matrix_error error = {0, ""};
    snprintf(text, sizeof text, "targets %s\nextent 0 - %d %zu 0\n", targets, (int)unit, count);
    ck_assert_int_eq(storage_read_recorded(text, 1, &layout, &error), 0);
    return layout;
}

/* Bytes of a bin on a node. */
static int64_t bin_on_node(const storage_layout *layout, int64_t begin, int64_t end, size_t node)
{
    int64_t bytes = 0, next;
    for (int64_t at = begin; at < end; at++) {
        size_t target = storage_find(layout, at, &next);
        bytes += target != STORAGE_NONE && node_of_target[target] == node;
    }
    return bytes;
}

/* A rank's bytes of a bin are on servers as all bytes of the bin are. */
START_TEST(bytes_of_ranks_on_servers)
{
    enum { BINS = 40, UNIT = 64 };
    for_random_seeds (seed, 100) {
        uint64_t state = seed;
        int64_t stripe = pick(&state, 1, 300);
        storage_layout *layout = seed % 2 ? striped(stripe, "3 4", 2) : striped(stripe, "3 5 4", 3);
        const predict_layout on = {"f", layout, node_of_target};
        const predict_servers servers = {&on, 1, 1};
        access_pattern pattern[2] = {{.file = (char *)(uintptr_t) "f", .calls = 1, .unit = UNIT},
                                     {.file = (char *)(uintptr_t) "g", .calls = 1, .unit = UNIT}};
        matrix_builder b = {.rows = RANKS, .cols = BINS};
        matrix bytes[2] = {{0}, shared_bins(BINS, 1)}, stored;
        pattern[0].first = pick(&state, 0, 500);
        for (size_t k = 0; k < BINS; k++)
            ck_assert_int_eq(matrix_builder_add(&b, (size_t)pick(&state, 0, RANKS - 1), k, UNIT),
                             0);
        ck_assert_int_eq(matrix_builder_finish(&b, &bytes[0]), 0);
        matrix_builder_clear(&b);
        const view_file f = {
            .view = {.rows = RANKS}, .patterns = 2, .pattern = pattern, .bytes = bytes};
        ck_assert_int_eq(predict_stored(&servers, &f, NODES, &stored), 0);
        ck_assert_uint_eq(stored.rows, RANKS);
        ck_assert_uint_eq(stored.cols, NODES);
        for (size_t r = 0; r < RANKS; r++)
            for (size_t n = 0; n < NODES; n++) {
                int64_t model = 0;
                for (size_t k = 0; k < BINS; k++) {
                    int64_t begin = pattern[0].first + (int64_t)k * UNIT;
                    if (matrix_get(&bytes[0], r, k) > 0)
                        model += bin_on_node(layout, begin, begin + UNIT, n);
                }
                ck_assert_int_eq(matrix_get(&stored, r, n), model);
            }
        matrix_release(&stored);
        matrix_release(&bytes[0]);
        matrix_release(&bytes[1]);
        storage_free(layout);
    }
}
END_TEST

/* Stripes are columns of two domains, whose aggregators may be beside the servers or not. */
START_TEST(hops_to_servers_are_counted)
{
    enum { STRIPE = 1 << 20 };
    const topo t = flat(NODES);
    storage_layout *layout = striped(STRIPE, "3 4", 2);
    const predict_layout on = {NULL, layout, node_of_target};
    const predict_servers servers = {&on, 1, 1};
    const predict_levels levels = {0, NODES, NULL};
    size_t node[RANKS] = {0};
    predict_job job = {.ranks = RANKS, .node_of_rank = node, .topology = &t, .servers = &servers};
    access_pattern pattern = {
        .calls = 1,
        .unit = STRIPE,
        .file = (char *)(uintptr_t) "f",
        .division = {.kind = DIVISION_STRIPE, .aggregators = 2, .stripe = STRIPE, .targets = 2}};
    matrix bytes = whole_bins(RANKS, STRIPE, in_turn);
    const view_file f = {
        .view = {.rows = RANKS}, .patterns = 1, .pattern = &pattern, .bytes = &bytes};
    predict_sums sums;
    int64_t crossing;
    for (size_t r = 0; r < RANKS; r++)
        node[r] = 2 + r % 2;
    ck_assert_int_eq(predict_crossing(&job, &f, &levels, &crossing, &sums), 0);
    ck_assert_int_eq(crossing, 0);
    ck_assert_int_eq(sums.storage_bytes, RANKS * STRIPE);
    ck_assert_int_eq(sums.storage_crossing, 0);
    ck_assert(sums.hops_beyond == 0 && sums.storage_hops_beyond == 0);
    for (size_t r = 0; r < RANKS; r++)
        node[r] = r % 2; /* other nodes than the servers' */
    ck_assert_int_eq(predict_crossing(&job, &f, &levels, &crossing, &sums), 0);
    ck_assert_int_eq(crossing, 0);
    ck_assert_int_eq(sums.storage_crossing, RANKS * STRIPE);
    ck_assert(sums.hops_beyond == 0 && sums.storage_hops_beyond == (double)RANKS * STRIPE);
    matrix_release(&bytes);
    storage_free(layout);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("predict");
    TCase *calls = tcase_create("calls"), *record = tcase_create("record");
    tcase_add_test(calls, the_number_of_aggregators);
    tcase_add_test(calls, records_cross_anyway);
    tcase_add_test(calls, fitted_domains_where_they_pay);
    tcase_add_test(calls, a_kind_of_domains);
    tcase_add_test(calls, stripes_of_targets);
    tcase_add_test(calls, bins_larger_than_stripes);
    tcase_add_test(calls, sums_are_kept);
    tcase_add_test(calls, many_ranks_share_a_bin);
    tcase_add_test(record, by_groups_of_nodes);
    tcase_add_test(record, nothing_and_wrong_sizes);
    tcase_add_test(record, memory_runs_out);
    suite_add_tcase(suite, calls);
    suite_add_tcase(suite, record);
    TCase *storage = tcase_create("storage");
    tcase_add_test(storage, bytes_of_ranks_on_servers);
    tcase_add_test(storage, hops_to_servers_are_counted);
    suite_add_tcase(suite, storage);
    return run_suite(suite);
}
