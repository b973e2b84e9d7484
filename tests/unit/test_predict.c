/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicted bytes between nodes: the number and kind of file domains as of fcoll/tatp, from bins.
 */
#include "predict/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "edges.h"
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

static access_pattern calls_of(int64_t unit)
{
    return (access_pattern){.calls = 1, .unit = unit};
}

/* Who accesses a bin: all ranks alike, one rank after the other, one after the other for four. */
enum owners { ALL, IN_TURN, IN_BLOCKS };

static matrix fill_bins(enum owners owners, size_t bins, int64_t unit)
{
    matrix_builder b = {.rows = RANKS, .cols = bins};
    for (size_t k = 0; k < bins; k++)
        for (size_t r = 0; r < RANKS; r++) {
            size_t owner = (owners == IN_TURN ? k : k / 4) % RANKS;
            add_entry(&b, r, k, owners == ALL ? unit / RANKS : owner == r ? unit : 0);
        }
    return finish_matrix(&b);
}

/* ---- calls ---- */

enum { BIN = 64 * KiB, EVEN = DIVISION_EVEN, STRIPE = DIVISION_STRIPE, FITTED = DIVISION_FITTED };

static const struct {
    const char *name;
    enum owners owners;
    size_t bins;
    int64_t unit;
    const size_t *node_of_rank;
    access_division recorded;
    int kind;
    size_t domains; /* 0: not compared */
    bool crosses;   /* three quarters of the bytes, else none */
} calls[] = {
    {"less than DOMAIN_SPREAD", ALL, 16, KiB, by_slot, {0}, EVEN, 1, true},
    {"one domain on each node", ALL, 16, 16 * KiB, by_slot, {0}, EVEN, 4, true},
    {"at most four on each node", ALL, 16, MiB, by_slot, {0}, EVEN, 16, true},
    {"no more of a larger file", ALL, 64, MiB, by_slot, {0}, EVEN, 16, true},
    {"as many as hinted", ALL, 16, MiB, by_slot, {.aggregators = 5}, EVEN, 5, true},
    {"or as there are ranks", ALL, 16, MiB, by_slot, {.aggregators = 99}, EVEN, RANKS, true},
    {"one for each stripe", ALL, 16, MiB, by_slot, {.stripe = 8 * MiB}, EVEN, 2, true},
    {"twice the targets", ALL, 16, MiB, by_slot, {.stripe = MiB, .targets = 6}, STRIPE, 12, true},
    {"records of all ranks, by slot", ALL, 64, BIN, by_slot, {0}, EVEN, 0, true},
    {"records of all ranks, by node", ALL, 64, BIN, by_node, {0}, EVEN, 0, true},
    /* Even domains of 1 MiB are those of nodes by slot. By node each has blocks of all nodes, and
     * fitted ones match them. */
    {"blocks by slot", IN_BLOCKS, 64, BIN, by_slot, {0}, EVEN, 4, false},
    {"blocks by node", IN_BLOCKS, 64, BIN, by_node, {0}, FITTED, 0, false},
    {"even domains recorded", IN_BLOCKS, 64, BIN, by_node, {.kind = EVEN}, EVEN, 0, true},
    /* Stripe s is on target s % 4, and each target's stripes are those of one node by node. */
    {"stripes by node", IN_TURN, 64, BIN, by_node, {0, 0, BIN, 4}, STRIPE, 0, false},
    {"stripes by slot", IN_TURN, 64, BIN, by_slot, {0, 0, BIN, 4}, STRIPE, 0, true},
    {"bins of many stripes", ALL, 2, 64 * MiB, by_slot, {0, 0, 4 * KiB, 4}, STRIPE, 0, true},
};

START_TEST(domains_and_bytes_of_calls)
{
    const char *name = calls[_i].name;
    const topo t = flat(NODES);
    const predict_job job = job_on(calls[_i].node_of_rank, &t);
    access_pattern pattern = calls_of(calls[_i].unit);
    matrix bytes = fill_bins(calls[_i].owners, calls[_i].bins, calls[_i].unit);
    int64_t crossing = calls[_i].crosses ? (int64_t)calls[_i].bins * calls[_i].unit * 3 / 4 : 0;
    plan_draft p;
    pattern.division = calls[_i].recorded;
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), 0);
    ck_assert_msg((int)p.kind == calls[_i].kind, "%s: kind %d", name, (int)p.kind);
    if (p.kind == DIVISION_FITTED)
        ck_assert_int_gt(p.unit, 0);
    else
        ck_assert_int_eq(p.unit, p.kind == DIVISION_STRIPE ? calls[_i].recorded.stripe : 0);
    ck_assert_msg(calls[_i].domains == 0 || p.division.domains.count == calls[_i].domains,
                  "%s: %zu domains", name, p.division.domains.count);
    ck_assert_msg(p.crossing_bytes == crossing, "%s: %lld bytes cross", name,
                  (long long)p.crossing_bytes);
    plan_draft_release(&p);
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
        int64_t total, sum;
        for (size_t r = 0; r < RANKS; r++)
            for (int k = 0; k < 5; k++)
                add_entry(&b, r, (size_t)pick(&state, 0, 36), pick(&state, 1, 100000));
        matrix bytes = finish_matrix(&b);
        access_pattern pattern = calls_of((int64_t)1 << pick(&state, 6, 24));
        pattern.first = pick(&state, 0, 100000);
        predict_job job = job_on(by_slot, &four);
        plan_draft p, q;
        ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), 0);
        ck_assert_int_eq(matrix_sum(&bytes, &total), 0);
        ck_assert_int_eq(matrix_sum(&p.c.node_bytes, &sum), 0);
        ck_assert_int_eq(sum, total);
        ck_assert_int_le(p.crossing_bytes, total);
        job.topology = &more;
        ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &q), 0);
        ck_assert_uint_eq(q.division.domains.count, p.division.domains.count);
        ck_assert_int_eq(q.crossing_bytes, p.crossing_bytes);
        plan_draft_release(&p);
        plan_draft_release(&q);
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
    plan_draft p;
    ck_assert_int_eq(matrix_allocate(&bytes, MANY, 1, MANY), 0);
    for (size_t r = 0; r < MANY; r++) {
        node_of_rank[r] = r / ON_NODE;
        bytes.row_start[r + 1] = r + 1;
        bytes.value[r] = EACH;
    }
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), 0);
    ck_assert_uint_eq(p.division.domains.count, 4 * t.nodes);
    ck_assert_uint_eq(matrix_entries(&p.c.requests), 0);
    ck_assert_int_eq(p.crossing_bytes, (int64_t)MANY * EACH - (int64_t)ON_NODE * EACH);
    plan_draft_release(&p);
    matrix_release(&bytes);
    free(node_of_rank);
}
END_TEST

/* ---- a record ---- */

/* A node has a little of most bins, which are longer than units of fitted domains: not of all of
 * their units. */
START_TEST(long_bins_do_not_hide_fitted_domains)
{
    enum { MANY = 48, BINS = 2 * MANY };
    const topo t = flat(MANY);
    const access_pattern pattern = calls_of(4 * BIN);
    matrix_builder b = {.rows = BINS, .cols = BINS};
    size_t node[BINS];
    for (size_t k = 0; k < BINS; k++) {
        size_t other = 1 + k % (MANY - 1);
        node[k] = k % MANY;
        add_entry(&b, 0, k, k % 8 > 0 ? KiB : 0);
        add_entry(&b, other, k, 2 * BIN - KiB);
        add_entry(&b, other + MANY, k, 2 * BIN);
    }
    matrix bytes = finish_matrix(&b);
    const predict_job job = {.ranks = BINS, .node_of_rank = node, .topology = &t};
    plan_draft p;
    ck_assert_int_eq(predict_calls(&job, &pattern, &bytes, &p), 0);
    ck_assert_int_eq(p.kind, FITTED);
    plan_draft_release(&p);
    matrix_release(&bytes);
}
END_TEST

START_TEST(by_groups_of_nodes)
{
    const topo t = flat(NODES);
    const predict_job job = job_on(by_node, &t);
    const size_t group[] = {0, 0, 7, 7, 1, 1, 1, 1};
    matrix bytes[2] = {fill_bins(ALL, 64, 64 * KiB), fill_bins(IN_BLOCKS, 64, 64 * KiB)};
    access_pattern pattern[2] = {calls_of(64 * KiB), calls_of(64 * KiB)};
    const view_file f = {.patterns = 2, .pattern = pattern, .bytes = bytes};
    int64_t crossing[3];
    ck_assert_int_eq(predict_crossing(&job, &f, 2, group, crossing), 0);
    ck_assert_int_eq(crossing[0], 3 * MiB);
    ck_assert_int_eq(crossing[1], 2 * MiB);
    ck_assert_int_eq(crossing[2], 0);
    matrix_release(&bytes[0]);
    matrix_release(&bytes[1]);
}
END_TEST

START_TEST(nothing_and_too_much)
{
    const topo t = flat(NODES);
    const predict_job job = job_on(by_slot, &t);
    const access_pattern pattern = calls_of(KiB);
    matrix bytes = fill_bins(ALL, 4, KiB), none;
    plan_draft p;
    ck_assert_int_eq(matrix_allocate(&none, RANKS, 1, 0), 0);
    ck_assert_int_eq(predict_calls(&job, &pattern, &none, &p), 0);
    ck_assert_uint_eq(p.division.domains.count, 0);
    ck_assert_int_eq(p.crossing_bytes, 0);
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
    matrix bytes = fill_bins(IN_BLOCKS, 64, 64 * KiB);
    access_pattern pattern = calls_of(64 * KiB);
    const view_file f = {.patterns = 1, .pattern = &pattern, .bytes = &bytes};
    int64_t crossing = 0;
    fail_each_allocation(predict_crossing(&job, &f, 0, NULL, &crossing));
    matrix_release(&bytes);
}
END_TEST

int main(void)
{
    return run_tests("predict", TIMES(domains_and_bytes_of_calls, LENGTH(calls)),
                     ONCE(sums_are_kept), ONCE(many_ranks_share_a_bin), ONCE(by_groups_of_nodes),
                     ONCE(long_bins_do_not_hide_fitted_domains), ONCE(nothing_and_too_much),
                     ONCE(memory_runs_out));
}
