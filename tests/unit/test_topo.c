/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the distances between nodes: flat, from hops, and from files of hops. */
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

#define ARRAY "%%MatrixMarket matrix array integer general\n"
#define COORDINATE "%%MatrixMarket matrix coordinate integer general\n"
#define SYMMETRIC "%%MatrixMarket matrix array integer symmetric\n"
/* Column by column: from row to column, n0 -> n1 is 2, n1 -> n0 is 3, n0 -> n2 4, n2 -> n0 5, ...
 */
#define THREE "3 3\n0\n3\n5\n2\n0\n7\n4\n6\n0\n"

enum { MAX_HOSTS = 4 };

struct reading {
    int rc;
    topo topo;
    matrix_error error;
};

static size_t count_hosts(const char *const *hosts)
{
    size_t count = 0;
    while (count < MAX_HOSTS && hosts[count] != NULL)
        count++;
    return count;
}

static struct reading read_text(const char *text, const char *const *hosts)
{
    struct reading r = {.topo = {.nodes = 77}, .error = {.line = 99}};
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    ck_assert_ptr_nonnull(stream);
    r.rc = topo_read(stream, hosts, count_hosts(hosts), &r.topo, &r.error);
    fclose(stream);
    return r;
}

/* ---- distances ---- */

START_TEST(flat_distances)
{
    topo t;
    topo_flat(&t, 3);
    ck_assert_uint_eq(t.nodes, 3);
    ck_assert_uint_eq(t.places, 0);
    ck_assert_double_eq(topo_hops(&t, 1, 1, 1), 0.0);
    ck_assert_double_eq(topo_hops(&t, 1, 1, 0), 1.0);
    ck_assert_double_eq(topo_hops(&t, 0, 2, 0), 2.0);
    topo_release(&t);
    ck_assert_uint_eq(t.nodes, 0);
}
END_TEST

START_TEST(release_of_zeroed)
{
    topo t = {0};
    topo_release(&t);
    topo_release(&t);
    ck_assert_uint_eq(t.nodes, 0);
    ck_assert_uint_eq(t.places, 0);
}
END_TEST

START_TEST(from_hops)
{
    static const double hops[9] = {-1, 2, 3, 4, 0, 65534, 6, 7, 9e9};
    topo t;
    ck_assert_int_eq(topo_from_hops(&t, 3, hops), 0);
    for (size_t n = 0; n < 3; n++)
        for (size_t m = 0; m < 3; m++)
            ck_assert_double_eq(topo_hops(&t, n, m, 0), n == m ? 1.0 : hops[n * 3 + m]);
    ck_assert_uint_eq(t.tree.vertices, 0);
    topo_release(&t);
}
END_TEST

/* Nodes that are equally far from all others share a place, whatever the order. */
START_TEST(places_of_hops)
{
    enum { NODES = 24 };
    static double hops[NODES * NODES];
    topo t;
    for (size_t n = 0; n < NODES; n++)
        for (size_t m = 0; m < NODES; m++)
            hops[n * NODES + m] = n % 6 == m % 6 ? 2 : n % 2 == m % 2 ? 4 : 6;
    ck_assert_int_eq(topo_from_hops(&t, NODES, hops), 0);
    ck_assert_uint_eq(t.places, 6);
    for (size_t k = 0; k < NODES * NODES; k++)
        if (k / NODES != k % NODES)
            ck_assert_double_eq(topo_hops(&t, k / NODES, k % NODES, 0), hops[k]);
    topo_release(&t);
    hops[5 * NODES + 11] =
        3; /* one way only: 5 and 11 become places of their own, 17 and 23 stay */
    ck_assert_int_eq(topo_from_hops(&t, NODES, hops), 0);
    ck_assert_uint_eq(t.places, 8);
    for (size_t k = 0; k < NODES * NODES; k++)
        if (k / NODES != k % NODES)
            ck_assert_double_eq(topo_hops(&t, k / NODES, k % NODES, 0), hops[k]);
    topo_release(&t);
}
END_TEST

/* Any hops come back as they were given. */
START_TEST(random_hops)
{
    for_random_seeds (seed, 300) {
        uint64_t state = seed;
        double hops[100];
        topo t;
        size_t nodes = (size_t)pick(&state, 0, 10);
        int64_t most = pick(&state, 1, 3);
        for (size_t k = 0; k < nodes * nodes; k++)
            hops[k] = (double)pick(&state, 1, most);
        ck_assert_int_eq(topo_from_hops(&t, nodes, hops), 0);
        for (size_t k = 0; k < nodes * nodes; k++)
            if (k / nodes != k % nodes)
                ck_assert_double_eq(topo_hops(&t, k / nodes, k % nodes, 0), hops[k]);
        topo_release(&t);
    }
}
END_TEST

START_TEST(from_bad_hops)
{
    static const double bad_hops[] = {0, 0.5, 2.5, -3, 65535, 65536, 1e300, NAN, INFINITY};
    for (size_t k = 0; k < sizeof bad_hops / sizeof bad_hops[0]; k++) {
        const double hops[4] = {0, 2, bad_hops[k], 0};
        topo t = {.nodes = 77};
        ck_assert_int_eq(topo_from_hops(&t, 2, hops), -EINVAL);
        ck_assert_uint_eq(t.nodes, 77);
    }
}
END_TEST

/* ---- ranks and nodes ---- */

/* Hops between ranks whose nodes are that far apart. */
static void spread(const size_t *node_of_rank, size_t ranks, const double *between, size_t nodes,
                   topo *t)
{
    double hops[100];
    for (size_t i = 0; i < ranks; i++)
        for (size_t k = 0; k < ranks; k++)
            hops[i * ranks + k] = node_of_rank[i] == node_of_rank[k]
                                      ? 1
                                      : between[node_of_rank[i] * nodes + node_of_rank[k]];
    ck_assert_int_eq(topo_from_hops(t, ranks, hops), 0);
}

/* What was spread over ranks is found again. */
START_TEST(nodes_of_ranks)
{
    uint64_t state = first_seed() + (uint64_t)_i;
    size_t node[10], found[10], nodes = 0, ranks = (size_t)pick(&state, 0, 10);
    double between[100];
    topo by_rank, by_node;
    matrix_error error;
    for (size_t i = 0; i < ranks; i++) {
        node[i] = (size_t)pick(&state, 0, (int64_t)nodes);
        nodes += node[i] == nodes;
    }
    for (size_t k = 0; k < nodes * nodes; k++)
        between[k] = (double)pick(&state, 2, 5);
    spread(node, ranks, between, nodes, &by_rank);
    ck_assert_uint_eq(topo_group_ranks(&by_rank, found), nodes);
    ck_assert_int_eq(memcmp(found, node, ranks * sizeof *node), 0);
    ck_assert_int_eq(topo_of_nodes(&by_rank, node, nodes, &by_node, &error), 0);
    ck_assert_uint_eq(by_node.nodes, nodes);
    for (size_t k = 0; k < nodes * nodes; k++)
        if (k / nodes != k % nodes)
            ck_assert_double_eq(topo_hops(&by_node, k / nodes, k % nodes, 0), between[k]);
    topo_release(&by_rank);
    topo_release(&by_node);
}
END_TEST

START_TEST(nodes_that_ranks_contradict)
{
    static const double line[] = {0, 1, 2, 1, 0, 1, 2, 1, 0},
                        uneven[] = {0, 1, 2, 1, 0, 3, 2, 2, 0};
    static const size_t first_two[] = {0, 0, 1};
    size_t node[3];
    topo ranks, t = {.nodes = 77};
    matrix_error error;
    ck_assert_int_eq(topo_from_hops(&ranks, 3, line), 0);
    ck_assert_uint_eq(topo_group_ranks(&ranks, node), 2);
    ck_assert_int_eq(topo_of_nodes(&ranks, node, 2, &t, &error), -EBADMSG);
    ck_assert_str_eq(error.reason,
                     "1 hops from rank 1 to 2, but 2 from rank 0 to 2 of the same nodes");
    ck_assert_int_eq(topo_of_nodes(&ranks, (const size_t[]){0, 1, 0}, 2, &t, &error), -EBADMSG);
    ck_assert_str_eq(error.reason, "ranks 0 and 2 share a node, but are 2 hops apart, not 1");
    topo_release(&ranks);
    ck_assert_int_eq(topo_from_hops(&ranks, 3, uneven), 0);
    ck_assert_int_eq(topo_of_nodes(&ranks, first_two, 2, &t, &error), -EBADMSG);
    ck_assert_str_eq(error.reason,
                     "3 hops from rank 1 to 2, but 2 from rank 0 to 2 of the same nodes");
    ck_assert_uint_eq(t.nodes, 77);
    topo_release(&ranks);
}
END_TEST

/* ---- good files ---- */

/* `expected` holds hops from 0 to 1, 1 to 0, 0 to 2, 2 to 0, 1 to 2, 2 to 1. */
struct good {
    const char *text;
    const char *hosts[MAX_HOSTS];
    int named;
    double expected[6];
};

static const struct good good[] = {
    {ARRAY THREE, {"x", "y", "z"}, 0, {2, 3, 4, 5, 6, 7}},
    {ARRAY "% made by hand\n" THREE, {"x", "y", "z"}, 0, {2, 3, 4, 5, 6, 7}},
    {ARRAY "%hostsn0 n1\n" THREE, {"x", "y", "z"}, 0, {2, 3, 4, 5, 6, 7}},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"n0", "n1", "n2"}, 1, {2, 3, 4, 5, 6, 7}},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"n2", "n1", "n0"}, 1, {7, 6, 5, 4, 3, 2}},
    {ARRAY "% hosts n0\n% a note\n%  hosts\tn1   n2\t\n" THREE,
     {"n1", "n2", "n0"},
     1,
     {6, 7, 3, 2, 5, 4}},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"N0", "n1.cluster.local", "N2.a"}, 1, {2, 3, 4, 5, 6, 7}},
    {ARRAY "% hosts N0.Cluster n1.b n2.c\n" THREE, {"n0", "n1.B", "n2"}, 1, {2, 3, 4, 5, 6, 7}},
    {ARRAY "% hosts n.a n.b n.c\n" THREE, {"n.a", "N.B", "n.c"}, 1, {2, 3, 4, 5, 6, 7}},
    {ARRAY "% hosts 10.0.0.1 10.0.0.2 10.0.0.3\n" THREE,
     {"10.0.0.1", "10.0.0.2", "10.0.0.3"},
     1,
     {2, 3, 4, 5, 6, 7}},
    /* Names of which one begins another. */
    {ARRAY "% hosts n10 n1 n100\n" THREE, {"n10", "n1", "n100"}, 1, {2, 3, 4, 5, 6, 7}},
    {ARRAY "% hosts n1.c n1-a.c n1-b.c\n" THREE,
     {"n1.c", "n1-a.c", "n1-b.C"},
     1,
     {2, 3, 4, 5, 6, 7}},
    /* Two nodes of three: the distances of the third are of no concern. */
    {ARRAY "% hosts n0 n1 n2\n3 3\n0\n0\n5\n0\n0\n0\n4\n0\n0\n", {"n0", "n2"}, 1, {4, 5}},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"n1"}, 1, {0}},
    {ARRAY "1 1\n0\n", {"solo"}, 0, {0}},
    {COORDINATE "% hosts a b\n2 2 2\n1 2 4\n2 1 6\n", {"b", "a"}, 1, {6, 4}},
    {SYMMETRIC "3 3\n0\n2\n4\n0\n6\n0\n", {"x", "y", "z"}, 0, {2, 2, 4, 4, 6, 6}},
    {"%%MatrixMarket matrix array real general\n2 2\n0.0\n2.0\n4e0\n0\n", {"x", "y"}, 0, {4, 2}},
};
enum { GOOD = sizeof good / sizeof good[0] };

START_TEST(good_files)
{
    static const size_t pairs[6][2] = {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}};
    const struct good *g = &good[_i];
    struct reading r = read_text(g->text, g->hosts);
    size_t nodes = count_hosts(g->hosts);
    ck_assert_msg(r.rc == 0, "returned %d: %s", r.rc, r.error.reason);
    ck_assert_int_eq(strstr(r.topo.source, "by host name") != NULL, g->named);
    ck_assert_uint_eq(r.topo.nodes, nodes);
    for (size_t k = 0; k < 6; k++)
        if (pairs[k][0] < nodes && pairs[k][1] < nodes)
            ck_assert_double_eq(topo_hops(&r.topo, pairs[k][0], pairs[k][1], 0), g->expected[k]);
    for (size_t n = 0; n < nodes; n++) {
        ck_assert_double_eq(topo_hops(&r.topo, n, n, 0), TOPO_SAME_NODE);
        ck_assert_double_eq(topo_hops(&r.topo, n, n, 1), 0.0);
    }
    topo_release(&r.topo);
}
END_TEST

/* ---- bad files ---- */

struct bad {
    const char *text;
    const char *hosts[MAX_HOSTS];
    int rc;
    const char *reason; /* a part of it */
    int in_a_line;      /* the reader names one */
};

static const struct bad bad[] = {
    {"hello\n", {"x"}, -EBADMSG, "MatrixMarket", 1},
    {"\033]0;title\a\n", {"x"}, -EBADMSG, "'\\x1b]0;title\\x07' begins no topology", 1},
    {ARRAY "3 2\n1\n1\n1\n1\n1\n1\n", {"x", "y", "z"}, -EBADMSG, "not square", 0},
    {ARRAY "2 2\n0\n2\n2\n", {"x", "y"}, -EBADMSG, "", 1},
    {ARRAY "2 2\n0\nfar\n2\n0\n", {"x", "y"}, -EBADMSG, "", 1},
    {"%%MatrixMarket matrix array real general\n2 2\n0\n1.5\n2\n0\n", {"x", "y"}, -EBADMSG, "", 1},
    {ARRAY THREE, {"x", "y"}, -EBADMSG, "3 rows for 2 nodes", 0},
    {ARRAY THREE, {"x", "y", "z", "u"}, -EBADMSG, "3 rows for 4 nodes", 0},
    {ARRAY "% hosts\n" THREE, {"x", "y", "z"}, -EBADMSG, "0 host names for 3 rows", 0},
    {ARRAY "% hosts n0 n1\n" THREE, {"n0", "n1"}, -EBADMSG, "2 host names for 3 rows", 0},
    {ARRAY "% hosts n0 n1 n2 n3\n" THREE, {"n0", "n1"}, -EBADMSG, "4 host names for 3 rows", 0},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"n0", "n7.site"}, -ENXIO, "n7.site", 0},
    {ARRAY "% hosts n0.a n1 n2\n" THREE, {"n1", "n0.b"}, -ENXIO, "n0.b", 0},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"n"}, -ENXIO, "host n ", 0},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"n00"}, -ENXIO, "n00", 0},
    {ARRAY "% hosts n0 n1 n0\n" THREE, {"n1"}, -EBADMSG, "twice", 0},
    {ARRAY "% hosts n0 n1 N0.x\n" THREE, {"n1"}, -EBADMSG, "twice", 0},
    {ARRAY "% hosts n0.y n1 N0.Y\n" THREE, {"n1"}, -EBADMSG, "twice", 0},
    {ARRAY "% hosts n0.x n1 n0.y\n" THREE, {"n0"}, -EBADMSG, "n0.x or n0.y", 0},
    {ARRAY "% hosts n0 n1 n2\n3 3\n0\n0\n5\n2\n0\n7\n4\n6\n0\n",
     {"n0", "n1"},
     -EBADMSG,
     "0 hops from n1 to n0",
     0},
    {ARRAY "% hosts n0 n1 n2\n3 3\n0\n2\n2\n2\n7\n2\n2\n2\n0\n",
     {"n0"},
     -EBADMSG,
     "row 2, column 2: 7 hops from a node to itself, where 0 are expected",
     0},
    {COORDINATE "2 2 3\n1 2 4\n2 1 4\n1 1 1\n", {"x", "y"}, -EBADMSG, "row 1, column 1: 1 hop", 0},
    {ARRAY "2 2\n0\n-3\n2\n0\n", {"x", "y"}, -EBADMSG, "a value is negative: -3", 1},
    {COORDINATE "2 2 1\n1 2 4\n", {"x", "y"}, -EBADMSG, "0 hops from y to x", 0},
    {ARRAY "% hosts n0 n1 n2\n" THREE, {"n1", "N1"}, -EBADMSG, "given twice", 0},
    {ARRAY "2 2\n0\n65535\n2\n0\n", {"x", "y"}, -EBADMSG, "65535 hops from y to x", 0},
};
enum { BAD = sizeof bad / sizeof bad[0] };

START_TEST(bad_files)
{
    const struct bad *b = &bad[_i];
    struct reading r = read_text(b->text, b->hosts);
    ck_assert_msg(r.rc == b->rc, "returned %d: %s", r.rc, r.error.reason);
    ck_assert_msg(strstr(r.error.reason, b->reason) != NULL, "said: %s", r.error.reason);
    ck_assert_int_eq(r.error.line > 0, b->in_a_line);
    ck_assert_uint_eq(r.topo.nodes, 77);
    ck_assert_ptr_null(r.topo.between);
}
END_TEST

/* A reason is cut, not overrun, however long the names are. */
START_TEST(long_names)
{
    char name[1000];
    memset(name, 'h', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const char *const hosts[MAX_HOSTS] = {name};
    struct reading r = read_text(ARRAY "% hosts n0 n1 n2\n" THREE, hosts);
    ck_assert_int_eq(r.rc, -ENXIO);
    ck_assert_uint_lt(strlen(r.error.reason), sizeof r.error.reason);
}
END_TEST

static const char *const two_hosts[] = {"n2", "n0"};

/* Reads the text with one allocation failing after another. */
static void fail_each_allocation(const char *text, int (*read)(FILE *stream))
{
    bool failed = true;
    for (long nth = 0; failed; nth++) {
        FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
        ck_assert_ptr_nonnull(stream);
        fail_allocation(nth);
        int rc = read(stream);
        stop_failing();
        failed = allocations.failed;
        fclose(stream);
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        ck_assert_msg(nth < 100, "more allocations than there can be");
    }
}

static int read_topology(FILE *stream)
{
    topo t = {.nodes = 77};
    matrix_error error;
    int rc = topo_read(stream, two_hosts, 2, &t, &error);
    topo_release(&t);
    return rc;
}

START_TEST(out_of_memory)
{
    fail_each_allocation(ARRAY "% hosts n0 n1 n2\n" THREE, read_topology);
}
END_TEST

/* ---- levels ---- */

enum { MOST_NODES = 9 };

/* The partition by ways of steps of at most that many hops: which pairs are together. */
static size_t near_by(const double *hops, size_t nodes, double most, bool *together)
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
static void check_levels(const double *hops, size_t nodes)
{
    bool together[MOST_NODES * MOST_NODES];
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
        double hops[MOST_NODES * MOST_NODES];
        size_t nodes = (size_t)pick(&state, 1, MOST_NODES);
        int64_t most = pick(&state, 1, 7);
        for (size_t i = 0; i < nodes * nodes; i++)
            hops[i] = (double)pick(&state, 1, most);
        for (size_t i = 0; k % 2 == 0 && i < nodes * nodes; i++)
            hops[i] = hops[i % nodes * nodes + i / nodes];
        check_levels(hops, nodes);
    }
}
END_TEST

START_TEST(levels_of_a_fat_tree)
{
    double hops[64];
    size_t levels, *group;
    topo t;
    for (size_t i = 0; i < 64; i++)
        hops[i] = i / 8 / 2 == i % 8 / 2 ? 2 : i / 8 / 4 == i % 8 / 4 ? 4 : 6;
    ck_assert_int_eq(topo_from_hops(&t, 8, hops), 0);
    ck_assert_int_eq(topo_levels(&t, &levels, &group), 0);
    ck_assert_uint_eq(levels, 2);
    for (size_t i = 0; i < 64; i++) {
        ck_assert_int_eq(group[i / 8] == group[i % 8], i / 8 / 2 == i % 8 / 2);
        ck_assert_int_eq(group[8 + i / 8] == group[8 + i % 8], i / 8 / 4 == i % 8 / 4);
    }
    topo_release(&t);
    ck_assert_int_eq(topo_from_levels(&t, 8, levels, group), 0);
    ck_assert_uint_eq(t.places, 4);
    for (size_t i = 0; i < 64; i++)
        if (i / 8 != i % 8)
            ck_assert_double_eq(topo_hops(&t, i / 8, i % 8, 0), hops[i]);
    free(group);
    topo_release(&t);
    ck_assert_int_eq(topo_from_levels(&t, 5, 0, NULL), 0);
    ck_assert_double_eq(topo_hops(&t, 0, 4, 0), TOPO_OTHER_NODE);
    topo_flat(&t, 5);
    ck_assert_int_eq(topo_levels(&t, &levels, &group), 0);
    ck_assert_uint_eq(levels, 0);
    ck_assert_ptr_null(group);
}
END_TEST

START_TEST(from_levels_without_memory)
{
    const size_t group[8] = {0, 0, 7, 7, 1, 1, 1, 1};
    int rc = -ENOMEM;
    for (long nth = 0; rc != 0; nth++) {
        topo t;
        fail_allocation(nth);
        rc = topo_from_levels(&t, 4, 2, group);
        if (rc == 0)
            topo_release(&t);
        stop_failing();
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
        ck_assert_int_eq(allocations.live, 0);
    }
}
END_TEST

START_TEST(levels_without_memory)
{
    static const double hops[16] = {0, 1, 2, 4, 1, 0, 2, 4, 2, 2, 0, 4, 4, 4, 4, 0};
    bool failed = true;
    topo t;
    ck_assert_int_eq(topo_from_hops(&t, 4, hops), 0);
    for (long nth = 0; failed; nth++) {
        size_t levels = 77, *group = NULL;
        fail_allocation(nth);
        int rc = topo_levels(&t, &levels, &group);
        free(group);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        ck_assert_uint_eq(levels, failed ? 77 : 2);
        ck_assert_msg(nth < 100, "more allocations than there can be");
    }
    topo_release(&t);
}
END_TEST

/* ---- bandwidths ---- */

static int read_bandwidth(const char *text, const char *const *hosts, matrix *bandwidth,
                          matrix_error *error)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    ck_assert_ptr_nonnull(stream);
    int rc = topo_read_bandwidth(stream, hosts, count_hosts(hosts), bandwidth, error);
    fclose(stream);
    return rc;
}

START_TEST(bandwidths_by_name)
{
    const char *const hosts[MAX_HOSTS] = {"n2", "n0"};
    matrix_error error;
    matrix m;
    ck_assert_int_eq(read_bandwidth(COORDINATE
                                    "% bandwidth in MB/s\n% hosts n0 n1\n% hosts n2\n3 3 5\n"
                                    "1 1 900\n1 3 13\n3 1 31\n2 3 23\n3 3 933\n",
                                    hosts, &m, &error),
                     0);
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
    const char *reason;
} bad_bandwidths[] = {
    {ARRAY "% hosts n0 n1\n2 2\n1\n1\n1\n1\n", -EBADMSG, "no comment line says '% bandwidth'"},
    {ARRAY "% bandwidth\n2 2\n1\n1\n-1\n1\n", -EBADMSG, "a value is negative: -1"},
    {ARRAY "% bandwidth\n3 3\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", -EBADMSG,
     "3 rows for 2 nodes, and no '% hosts' line that names the rows"},
    {ARRAY "% bandwidth\n2 1\n1\n1\n", -EBADMSG, "2 rows and 1 columns: not square"},
    {ARRAY "% bandwidth\n% hosts n0 n2\n2 2\n1\n1\n1\n1\n", -ENXIO, "host n1 is not in the file"},
    {"SwitchName=s Nodes=n[0-1]\n", -EBADMSG, ""},
};

START_TEST(refused_bandwidths)
{
    const char *const hosts[MAX_HOSTS] = {"n0", "n1"};
    matrix_error error = {0, ""};
    matrix m = {.rows = 77};
    ck_assert_int_eq(read_bandwidth(bad_bandwidths[_i].text, hosts, &m, &error),
                     bad_bandwidths[_i].rc);
    ck_assert_msg(strstr(error.reason, bad_bandwidths[_i].reason) != NULL, "%s", error.reason);
    ck_assert_uint_eq(m.rows, 77);
}
END_TEST

START_TEST(bandwidths_are_no_hops)
{
    const char *const hosts[MAX_HOSTS] = {"n0", "n1"};
    struct reading r = read_text(ARRAY "% bandwidth\n2 2\n1\n1\n1\n1\n", hosts);
    ck_assert_int_eq(r.rc, -EBADMSG);
    ck_assert_str_eq(r.error.reason, "bandwidths, where a topology is wanted");
}
END_TEST

static int read_all_bandwidths(FILE *stream)
{
    matrix m = {0};
    matrix_error error;
    int rc = topo_read_bandwidth(stream, two_hosts, 2, &m, &error);
    matrix_release(&m);
    return rc;
}

START_TEST(bandwidths_without_memory)
{
    fail_each_allocation(ARRAY "% bandwidth\n% hosts n0 n1 n2\n" THREE, read_all_bandwidths);
}
END_TEST

static Suite *topo_suite(void)
{
    Suite *suite = suite_create("topo");
    TCase *cases = tcase_create("topo");
    tcase_add_test(cases, flat_distances);
    tcase_add_test(cases, release_of_zeroed);
    tcase_add_test(cases, from_hops);
    tcase_add_test(cases, places_of_hops);
    tcase_add_test(cases, random_hops);
    tcase_add_test(cases, from_bad_hops);
    tcase_add_loop_test(cases, nodes_of_ranks, 0, (int)random_cases(100));
    tcase_add_test(cases, nodes_that_ranks_contradict);
    tcase_add_loop_test(cases, good_files, 0, GOOD);
    tcase_add_loop_test(cases, bad_files, 0, BAD);
    tcase_add_test(cases, long_names);
    tcase_add_test(cases, out_of_memory);
    tcase_add_test(cases, levels_of_random_hops);
    tcase_add_test(cases, levels_of_a_fat_tree);
    tcase_add_test(cases, from_levels_without_memory);
    tcase_add_test(cases, levels_without_memory);
    tcase_add_test(cases, bandwidths_by_name);
    tcase_add_loop_test(cases, refused_bandwidths, 0,
                        sizeof bad_bandwidths / sizeof bad_bandwidths[0]);
    tcase_add_test(cases, bandwidths_are_no_hops);
    tcase_add_test(cases, bandwidths_without_memory);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    return run_suite(topo_suite());
}
