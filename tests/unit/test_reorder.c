/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks of grids, graphs and records on nodes: fewer between nodes than in the old order, and of
 * these grids no more than are known to be enough; each process once.
 */
#include "reorder/reorder.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "suite.h"

enum { MOST = 1536, DIMS = 4 };

/* A grid, nodes of `slots` processes each, or of a quarter more and less in turn, and how many
 * pairs of neighbours are then between nodes, at most. */
typedef struct grid_case {
    int extent[DIMS]; /* 0 ends it */
    int nodes, slots;
    size_t pairs[2]; /* by whether nodes are equal */
} grid_case;

/* Of more ranks bench/results/reorder.csv. */
static const grid_case grids[] = {
    {{4, 4, 4}, 4, 16, {36, 32}},      {{2, 2, 2, 2}, 4, 4, {18, 16}},
    {{8, 7, 4}, 7, 32, {112, 112}},    {{20, 18}, 9, 40, {85, 82}},
    {{1, 12, 1, 8}, 8, 12, {36, 36}},  {{9, 8, 7}, 18, 28, {380, 355}},
    {{16, 12, 8}, 32, 48, {904, 864}}, {{40, 30}, 25, 48, {292, 280}},
};

enum { BY_SLOT, BY_NODE, AT_RANDOM, ORDERS };

static int count_dims(const grid_case *c)
{
    int dims = 0;
    while (dims < DIMS && c->extent[dims] > 0)
        dims++;
    return dims;
}

/* Sets the key of each process: its node's. Returns the number of processes. */
static size_t order_processes(const grid_case *c, bool is_equal, int order, int64_t *key)
{
    int left[MOST], most = c->slots + c->slots / 4;
    size_t count = 0, all = (size_t)(c->nodes * c->slots);
    uint64_t state = 7;
    for (int n = 0; n < c->nodes; n++) {
        bool is_even = is_equal || (n == c->nodes - 1 && c->nodes % 2 == 1);
        left[n] = is_even ? c->slots : n % 2 == 1 ? most : 2 * c->slots - most;
    }
    for (int turn = 0; count < all; turn++)
        for (int n = 0; n < c->nodes; n++)
            for (int k = order == BY_NODE ? 1 : left[n]; k > 0 && left[n] > 0; k--, left[n]--)
                key[count++] = 1000 - n;
    for (size_t i = all; order == AT_RANDOM && i-- > 1;) {
        size_t other = next_random(&state) % (i + 1);
        int64_t kept = key[i];
        key[i] = key[other];
        key[other] = kept;
    }
    return all;
}

/* Pairs of neighbours on two nodes, where rank r is on the node key_of[r]. */
static size_t count_pairs(const grid_case *c, const int *periodic, const int64_t *key_of)
{
    const int dims = count_dims(c);
    size_t ranks = 1, pairs = 0;
    for (int d = 0; d < dims; d++)
        ranks *= (size_t)c->extent[d];
    for (size_t r = 0; r < ranks; r++) {
        size_t stride = 1;
        for (int d = dims; d-- > 0; stride *= (size_t)c->extent[d]) {
            size_t extent = (size_t)c->extent[d], at = r / stride % extent;
            if (at + 1 < extent)
                pairs += key_of[r] != key_of[r + stride];
            else if (periodic[d])
                pairs += key_of[r] != key_of[r - at * stride];
        }
    }
    return pairs;
}

static char line[1024];

static void report(bool is_error, const char *text)
{
    snprintf(line, sizeof line, "%s%s", is_error ? "error: " : "", text);
}

/* What rank r's process has, and that each rank has one. */
static void check_ranks(const int64_t *key, const int *rank, size_t processes, int64_t *key_of)
{
    memset(key_of, 0, processes * sizeof *key_of);
    for (size_t i = 0; i < processes; i++) {
        ck_assert_msg(rank[i] >= 0 && (size_t)rank[i] < processes, "rank %d", rank[i]);
        ck_assert_msg(key_of[rank[i]] == 0, "rank %d twice", rank[i]);
        key_of[rank[i]] = key[i];
    }
}

START_TEST(grids_have_few_between_nodes)
{
    static int64_t key[MOST], key_of[MOST];
    static int rank[MOST];
    static const int periods[DIMS] = {0};
    const grid_case *c = &grids[_i / ORDERS];
    const reorder_grid grid = {count_dims(c), c->extent, periods};
    const reorder_task task = {.grid = &grid};
    for (int is_equal = 0; is_equal < 2; is_equal++) {
        size_t processes = order_processes(c, is_equal, _i % ORDERS, key);
        size_t before = count_pairs(c, periods, key);
        int rc = reorder_place(&task, key, (int)processes, rank, report);
        ck_assert(rc == 0 || (rc == -ECANCELED && before <= c->pairs[is_equal]));
        if (rc != 0)
            continue;
        check_ranks(key, rank, processes, key_of);
        ck_assert_uint_le(count_pairs(c, periods, key_of), c->pairs[is_equal]);
    }
}
END_TEST

/* Both of a pair in a period of 2 are neighbours on both sides. What is reported is what MPI's
 * neighbours make of it, never more than before. */
START_TEST(random_grids_lose_nothing)
{
    for_random_seeds (seed, 2000) {
        uint64_t state = seed;
        int64_t key[2048], key_of[2048], was, is;
        int rank[2048], nodes, periodic[DIMS];
        grid_case c = {{0}, 1, 1, {0}};
        int *factor[] = {&c.nodes, &c.slots};
        for (int d = 0, dims = (int)pick(&state, 1, DIMS); d < dims; d++) {
            c.extent[d] = (int)pick(&state, 1, 6);
            *factor[pick(&state, 0, 1)] *= c.extent[d];
            periodic[d] = (int)pick(&state, 0, 1);
        }
        const reorder_grid grid = {count_dims(&c), c.extent, periodic};
        const reorder_task task = {.grid = &grid};
        size_t processes =
            order_processes(&c, seed % 2 == 0, (int)pick(&state, 0, ORDERS - 1), key);
        size_t before = count_pairs(&c, periodic, key);
        int rc = reorder_place(&task, key, (int)processes, rank, report);
        ck_assert(rc == 0 || rc == -ECANCELED);
        if (rc == -ECANCELED)
            continue;
        check_ranks(key, rank, processes, key_of);
        ck_assert_int_eq(sscanf(line,
                                "grid of %*d ranks on %d nodes: %" SCNd64 " pairs of "
                                "neighbours between nodes -> %" SCNd64,
                                &nodes, &was, &is),
                         3);
        ck_assert_uint_eq(before, (size_t)was);
        ck_assert_uint_eq(count_pairs(&c, periodic, key_of), (size_t)is);
        ck_assert_int_lt(is, was);
    }
}
END_TEST

START_TEST(processes_beyond_the_grid_keep_their_numbers)
{
    const int64_t key[10] = {1, 2, 1, 2, 1, 2, 1, 2, 3, 3};
    int rank[10];
    const int extent[] = {8}, periods[] = {0}, expected[] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 9};
    const reorder_grid grid = {1, extent, periods};
    const reorder_task task = {.grid = &grid};
    ck_assert_int_eq(reorder_place(&task, key, 10, rank, report), 0);
    ck_assert_str_eq(line, "grid of 8 ranks on 2 nodes: 7 pairs of neighbours between nodes -> 1");
    ck_assert_mem_eq(rank, expected, sizeof expected);
}
END_TEST

/* A ring of which every other process is on the other node. */
START_TEST(graphs_are_placed)
{
    int64_t key[16], key_of[16];
    int rank[16], index[16], edge[32], by_lists[16], lists[16][5], between = 0;
    for (int i = 0; i < 16; i++) {
        key[i] = 1 + i % 2;
        index[i] = 2 * (i + 1);
        edge[2 * i] = (i + 1) % 16;
        edge[2 * i + 1] = (i + 15) % 16;
        memcpy(lists[i], (int[]){2, edge[2 * i], edge[2 * i + 1], 1, 1}, sizeof lists[i]);
    }
    const reorder_task task = {.ranks = 16, .index = index, .edge = edge};
    ck_assert_int_eq(reorder_place(&task, key, 16, rank, report), 0);
    check_ranks(key, rank, 16, key_of);
    for (int i = 0; i < 16; i++)
        between += key_of[i] != key_of[(i + 1) % 16];
    ck_assert_int_eq(between, 2);
    const reorder_task distributed = {.ranks = 16, .edge = lists[0], .most = 2};
    ck_assert_int_eq(reorder_place(&distributed, key, 16, by_lists, report), 0);
    ck_assert_mem_eq(by_lists, rank, sizeof rank);
    edge[3] = 16;
    ck_assert_int_eq(reorder_place(&task, key, 16, rank, report), -EINVAL);
    ck_assert_int_eq(rank[15], REORDER_KEEPS);
}
END_TEST

/* Ranks 0 and 3, 1 and 2 have a little more weight between them than those that share a node. */
START_TEST(little_is_no_gain)
{
    const int64_t key[4] = {1, 1, 2, 2};
    int rank[4],
        lists[4][5] = {
            {2, 1, 3, 100, 101}, {2, 0, 2, 100, 101}, {2, 3, 1, 100, 101}, {2, 2, 0, 100, 101}};
    const reorder_task task = {.ranks = 4, .edge = lists[0], .most = 2};
    ck_assert_int_eq(reorder_place(&task, key, 4, rank, report), -ECANCELED);
    for (int i = 0; i < 4; i++)
        lists[i][4] = 103;
    ck_assert_int_eq(reorder_place(&task, key, 4, rank, report), 0);
    ck_assert_str_eq(line, "graph of 4 ranks on 2 nodes: 206 of weight between nodes -> 200");
}
END_TEST

START_TEST(records_must_fit)
{
    const int64_t key[4] = {1, 2, 1, 2};
    int rank[4];
    const int extent[] = {4}, periods[] = {0};
    const reorder_grid grid = {1, extent, periods};
    const reorder_task task = {.record = "no/such/view.crs", .grid = &grid};
    ck_assert_int_eq(reorder_place(&task, key, 4, rank, report), -EINVAL);
    ck_assert_msg(strstr(line, "error: no/such/view.crs") == line, "%s", line);
}
END_TEST

int main(void)
{
    return run_tests("reorder", TIMES(grids_have_few_between_nodes, LENGTH(grids) * ORDERS),
                     ONCE(random_grids_lose_nothing),
                     ONCE(processes_beyond_the_grid_keep_their_numbers), ONCE(graphs_are_placed),
                     ONCE(little_is_no_gain), ONCE(records_must_fit));
}
