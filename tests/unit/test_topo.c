/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the distances between nodes: flat, from hops, and by levels; and of bandwidths.
 * test_fabric.c reads files of hops. */
#include "topo/topo.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MOST_NODES = 24 };

/* hops[n * nodes + m]: from n to m, which differ. */
static void check_hops(const topo *t, size_t nodes, const uint16_t *hops)
{
    ck_assert_uint_eq(t->nodes, nodes);
    for (size_t n = 0; n < nodes; n++)
        for (size_t m = 0; m < nodes; m++)
            ck_assert_double_eq(topo_hops(t, n, m, 0), n == m ? 1.0 : hops[n * nodes + m]);
}

static void draw_hops(uint64_t *state, int64_t low, int64_t high, uint16_t *hops, size_t nodes)
{
    for (size_t k = 0; k < nodes * nodes; k++)
        hops[k] = (uint16_t)pick(state, low, high);
}

/* ---- ranks and nodes ---- */

/* What was spread over ranks is found again. */
START_TEST(nodes_of_ranks)
{
    uint64_t state = first_seed() + (uint64_t)_i;
    size_t node[10], found[10], nodes = 0, ranks = (size_t)pick(&state, 0, 10);
    uint16_t between[100], hops[100];
    topo by_rank, by_node;
    matrix_error error;
    for (size_t i = 0; i < ranks; i++) {
        node[i] = (size_t)pick(&state, 0, (int64_t)nodes);
        nodes += node[i] == nodes;
    }
    draw_hops(&state, 2, 5, between, nodes);
    for (size_t i = 0; i < ranks; i++)
        for (size_t k = 0; k < ranks; k++)
            hops[i * ranks + k] = node[i] == node[k] ? 1 : between[node[i] * nodes + node[k]];
    ck_assert_int_eq(topo_from_hops(&by_rank, ranks, hops), 0);
    ck_assert_uint_eq(topo_group_ranks(&by_rank, found), nodes);
    ck_assert_int_eq(memcmp(found, node, ranks * sizeof *node), 0);
    ck_assert_int_eq(topo_of_nodes(&by_rank, node, nodes, &by_node, &error), 0);
    check_hops(&by_node, nodes, between);
    topo_release(&by_rank);
    topo_release(&by_node);
}
END_TEST

static void check_contradiction(const uint16_t *hops, const size_t *node)
{
    size_t found[3];
    topo ranks, t = {.nodes = 77};
    matrix_error error;
    ck_assert_int_eq(topo_from_hops(&ranks, 3, hops), 0);
    ck_assert_uint_eq(topo_group_ranks(&ranks, found), 2);
    ck_assert_int_eq(topo_of_nodes(&ranks, node, 2, &t, &error), -EBADMSG);
    ck_assert_uint_eq(t.nodes, 77);
    topo_release(&ranks);
}

START_TEST(nodes_that_ranks_contradict)
{
    static const uint16_t line[] = {0, 1, 2, 1, 0, 1, 2, 1, 0},
                          uneven[] = {0, 1, 2, 1, 0, 3, 2, 2, 0};
    static const size_t first_two[] = {0, 0, 1}, outer_two[] = {0, 1, 0};
    check_contradiction(line, first_two);
    check_contradiction(line, outer_two);
    check_contradiction(uneven, first_two);
}
END_TEST

/* ---- levels ---- */

enum { MOST_IN_LEVELS = 9 };

/* The partition by ways of steps of at most that many hops: which pairs are together. */
static size_t near_by(const uint16_t *hops, size_t nodes, double most, bool *together)
{
    size_t groups = 0;
    for (size_t i = 0; i < nodes * nodes; i++) {
        size_t back = i % nodes * nodes + i / nodes;
        together[i] = i / nodes == i % nodes || fmin(hops[i], hops[back]) <= most;
    }
    for (size_t k = 0; k < nodes; k++)
        for (size_t i = 0; i < nodes * nodes; i++)
            together[i] |= together[i / nodes * nodes + k] && together[k * nodes + i % nodes];
    for (size_t n = 0; n < nodes; n++) {
        bool first = true;
        for (size_t m = 0; m < n; m++)
            first &= !together[n * nodes + m];
        groups += first;
    }
    return groups;
}

/* Against the model, level by level. */
static void check_levels(const uint16_t *hops, size_t nodes)
{
    bool together[MOST_IN_LEVELS * MOST_IN_LEVELS];
    size_t levels = 77, *group = NULL, level = 0, before = nodes;
    topo t;
    ck_assert_int_eq(topo_from_hops(&t, nodes, hops), 0);
    ck_assert_int_eq(topo_levels(&t, &levels, &group), 0);
    for (double most = 1; most < 8; most++) {
        size_t groups = near_by(hops, nodes, most, together);
        if (groups == before || groups == 1)
            continue;
        ck_assert_uint_lt(level, levels);
        for (size_t i = 0; i < nodes * nodes; i++)
            ck_assert_int_eq(group[level * nodes + i / nodes] == group[level * nodes + i % nodes],
                             together[i]);
        before = groups;
        level++;
    }
    ck_assert_uint_eq(level, levels);
    ck_assert(levels > 0 || group == NULL);
    free(group);
    topo_release(&t);
}

START_TEST(levels_of_random_hops)
{
    uint64_t state = first_seed();
    for (uint64_t k = random_cases(3000); k > 0; k--) {
        uint16_t hops[MOST_IN_LEVELS * MOST_IN_LEVELS];
        size_t nodes = (size_t)pick(&state, 1, MOST_IN_LEVELS);
        draw_hops(&state, 1, pick(&state, 1, 7), hops, nodes);
        for (size_t i = 0; k % 2 == 0 && i < nodes * nodes; i++)
            hops[i] = hops[i % nodes * nodes + i / nodes];
        check_levels(hops, nodes);
    }
}
END_TEST

START_TEST(levels_of_a_fat_tree)
{
    uint16_t hops[64];
    size_t levels, *group;
    topo t;
    for (size_t i = 0; i < 64; i++)
        hops[i] = i / 8 / 2 == i % 8 / 2 ? 2 : i / 8 / 4 == i % 8 / 4 ? 4 : 6;
    check_levels(hops, 8);
    ck_assert_int_eq(topo_from_hops(&t, 8, hops), 0);
    ck_assert_int_eq(topo_levels(&t, &levels, &group), 0);
    ck_assert_uint_eq(levels, 2);
    free(group);
    topo_release(&t);
}
END_TEST

START_TEST(no_levels)
{
    size_t levels, *group;
    topo t;
    topo_flat(&t, 5);
    ck_assert_double_eq(topo_hops(&t, 0, 4, 0), TOPO_OTHER_NODE);
    ck_assert_double_eq(topo_hops(&t, 1, 1, 1), 0.0);
    ck_assert_int_eq(topo_levels(&t, &levels, &group), 0);
    ck_assert_uint_eq(levels, 0);
    ck_assert_ptr_null(group);
}
END_TEST

static int find_levels(const topo *t)
{
    size_t levels = 77, *group = NULL;
    int rc = topo_levels(t, &levels, &group);
    free(group);
    return levels == (rc == 0 ? 2 : 77) ? rc : -EIO;
}

START_TEST(levels_without_memory)
{
    static const uint16_t hops[16] = {0, 1, 2, 4, 1, 0, 2, 4, 2, 2, 0, 4, 4, 4, 4, 0};
    topo t;
    ck_assert_int_eq(topo_from_hops(&t, 4, hops), 0);
    fail_each_allocation(find_levels(&t));
    topo_release(&t);
}
END_TEST

/* ---- bandwidths ---- */

#define ARRAY "%%MatrixMarket matrix array integer general\n% bandwidth\n"
#define FIVE                                                                                       \
    "%%MatrixMarket matrix coordinate integer general\n% bandwidth in MB/s\n% hosts n0 n1\n"       \
    "% hosts n2\n3 3 5\n1 1 900\n1 3 13\n3 1 31\n2 3 23\n3 3 933\n"

static int read_bandwidth(const char *text, const char *const *hosts, matrix *bandwidth,
                          matrix_error *error)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int rc = topo_read_bandwidth(stream, hosts, 2, bandwidth, error);
    fclose(stream);
    return rc;
}

static const char *const n2_and_n0[] = {"n2", "n0"};

START_TEST(bandwidths_by_name)
{
    matrix_error error;
    matrix m;
    ck_assert_int_eq(read_bandwidth(FIVE, n2_and_n0, &m, &error), 0);
    ck_assert_uint_eq(m.rows, 2);
    ck_assert_int_eq(matrix_get(&m, 0, 0), 933);
    ck_assert_int_eq(matrix_get(&m, 0, 1), 31);
    ck_assert_int_eq(matrix_get(&m, 1, 0), 13);
    ck_assert_int_eq(matrix_get(&m, 1, 1), 900);
    matrix_release(&m);
}
END_TEST

static const struct {
    const char *text;
    int rc;
} bad_bandwidths[] = {
    {"%%MatrixMarket matrix array integer general\n% hosts n0 n1\n2 2\n1\n1\n1\n1\n", -EBADMSG},
    {ARRAY "2 2\n1\n1\n-1\n1\n", -EBADMSG},
    {ARRAY "3 3\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", -EBADMSG},
    {ARRAY "2 1\n1\n1\n", -EBADMSG},
    {ARRAY "% hosts n0 n2\n2 2\n1\n1\n1\n1\n", -ENXIO},
    {"SwitchName=s Nodes=n[0-1]\n", -EBADMSG},
};

START_TEST(refused_bandwidths)
{
    static const char *const hosts[] = {"n0", "n1"};
    matrix_error error = {0, ""};
    matrix m = {.rows = 77};
    ck_assert_int_eq(read_bandwidth(bad_bandwidths[_i].text, hosts, &m, &error),
                     bad_bandwidths[_i].rc);
    ck_assert_str_ne(error.reason, "");
    ck_assert_uint_eq(m.rows, 77);
}
END_TEST

static int read_five(void)
{
    matrix m = {0};
    matrix_error error;
    int rc = read_bandwidth(FIVE, n2_and_n0, &m, &error);
    matrix_release(&m);
    return rc;
}

START_TEST(bandwidths_without_memory)
{
    fail_each_allocation(read_five());
}
END_TEST

int main(void)
{
    return run_tests("topo", TIMES(nodes_of_ranks, random_cases(100)),
                     ONCE(nodes_that_ranks_contradict), ONCE(levels_of_random_hops),
                     ONCE(levels_of_a_fat_tree), ONCE(no_levels), ONCE(levels_without_memory),
                     ONCE(bandwidths_by_name), TIMES(refused_bandwidths, LENGTH(bad_bandwidths)),
                     ONCE(bandwidths_without_memory));
}
