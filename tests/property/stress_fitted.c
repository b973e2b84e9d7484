/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of fitted file domains: random instances of many kinds, small ones against every
 * balanced assignment. */
#include "plan/fitted.h"

#include "../unit/edges.h"
#include "../unit/seeded.h"
#include "options.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_UNITS = 200,
    MAX_NODES = 12,
    MAX_AGGREGATORS = 24,
    BRUTE_UNITS = 7,
    BRUTE_AGGREGATORS = 4
};

enum network { FLAT, TREE, ANY };

struct kind {
    const char *name;
    enum network network;
    int64_t largest;   /* bytes of an entry */
    int empty_of_ten;  /* entries that are not there */
    int idle_of_ten;   /* units that nobody accesses */
    bool shared_nodes; /* any number of aggregators on a node, also none */
};

static const struct kind kinds[] = {
    {"flat", FLAT, 1000000, 5, 0, false},
    {"flat, ties", FLAT, 2, 3, 0, false},
    {"flat, all equal", FLAT, 1, 0, 0, false},
    {"flat, sparse", FLAT, 1000, 8, 0, false},
    {"flat, idle units", FLAT, 100, 5, 5, false},
    {"flat, uneven aggregators", FLAT, 1000, 5, 1, true},
    {"tree", TREE, 1000000, 5, 0, false},
    {"tree, ties", TREE, 2, 6, 0, false},
    {"tree, uneven aggregators", TREE, 1000, 7, 1, true},
    {"any network", ANY, 1000, 5, 0, false},
    {"any network, sparse, uneven aggregators", ANY, 50, 8, 2, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct instance {
    size_t units, nodes, aggregators, loaded;
    int64_t bytes[MAX_UNITS][MAX_NODES];
    uint16_t hops[MAX_NODES * MAX_NODES];
    double cost[MAX_UNITS * MAX_NODES]; /* of the units with bytes */
    size_t loaded_unit[MAX_UNITS];
    double total;
    size_t node_of_aggregator[MAX_AGGREGATORS];
    topo topology;
    matrix matrix;
    fitted_input input;
};

/* ---- making one ---- */

static void draw_network(struct instance *in, enum network network, uint64_t *state)
{
    size_t nodes = in->nodes, width = (size_t)pick(state, 1, 4);
    for (size_t n = 0; n < nodes; n++) {
        for (size_t m = 0; m <= n; m++) {
            double hops = network == FLAT                  ? TOPO_OTHER_NODE
                          : network == ANY                 ? (double)pick(state, 1, 9)
                          : n / width == m / width         ? 2.0
                          : n / width / 2 == m / width / 2 ? 4.0
                                                           : 6.0;
            in->hops[n * nodes + m] = in->hops[m * nodes + n] =
                (uint16_t)(n == m ? TOPO_SAME_NODE : hops);
        }
    }
}

static void draw_bytes(struct instance *in, const struct kind *kind, uint64_t *state)
{
    in->loaded = 0;
    in->total = 0.0;
    for (size_t u = 0; u < in->units; u++) {
        bool idle = pick(state, 0, 9) < kind->idle_of_ten;
        double sum = 0.0;
        for (size_t n = 0; n < in->nodes; n++) {
            bool empty = idle || pick(state, 0, 9) < kind->empty_of_ten;
            in->bytes[u][n] = empty ? 0 : pick(state, kind->largest == 1, kind->largest);
            sum += (double)in->bytes[u][n];
        }
        in->total += sum;
        if (sum > 0.0)
            in->loaded_unit[in->loaded++] = u;
    }
}

/* The model of what an assignment costs. */
static void weigh(struct instance *in)
{
    for (size_t i = 0; i < in->loaded; i++) {
        for (size_t n = 0; n < in->nodes; n++) {
            double sum = 0.0;
            for (size_t m = 0; m < in->nodes; m++)
                sum += in->hops[n * in->nodes + m] * (double)in->bytes[in->loaded_unit[i]][m];
            in->cost[i * in->nodes + n] = sum;
        }
    }
}

/* A stored entry may be 0. */
static void clear_entry(struct instance *in, uint64_t *state)
{
    const size_t *row_start = in->matrix.row_start;
    size_t entries = row_start[in->units], u = 0;
    if (entries == 0 || pick(state, 0, 4) != 0)
        return;
    size_t e = (size_t)pick(state, 0, (int64_t)entries - 1);
    while (row_start[u + 1] <= e)
        u++;
    if (row_start[u + 1] - row_start[u] > 1) {
        in->total -= (double)in->matrix.value[e];
        in->bytes[u][in->matrix.col[e]] = in->matrix.value[e] = 0;
    }
}

static void make_instance(struct instance *in, const struct kind *kind, uint64_t seed)
{
    uint64_t state = seed;
    bool small = pick(&state, 0, 1);
    in->units = (size_t)pick(&state, 0, small ? BRUTE_UNITS : MAX_UNITS);
    in->nodes = (size_t)pick(&state, 1, small ? 5 : MAX_NODES);
    in->aggregators = (size_t)pick(&state, 1, small ? BRUTE_AGGREGATORS : MAX_AGGREGATORS);
    if (!kind->shared_nodes && in->aggregators > in->nodes)
        in->aggregators = in->nodes;
    for (size_t j = 0; j < in->aggregators; j++) {
        in->node_of_aggregator[j] = kind->shared_nodes
                                        ? (size_t)pick(&state, 0, (int64_t)in->nodes - 1)
                                        : j * in->nodes / in->aggregators;
    }
    draw_network(in, kind->network, &state);
    draw_bytes(in, kind, &state);
    matrix_of_table(&in->matrix, in->units, in->nodes, in->bytes[0], MAX_NODES);
    clear_entry(in, &state);
    weigh(in);
    topo_flat(&in->topology, in->nodes);
    if (kind->network != FLAT && topo_from_hops(&in->topology, in->nodes, in->hops) != 0)
        exit(EXIT_FAILURE);
    in->input = (fitted_input){&in->matrix, &in->topology, in->node_of_aggregator, in->aggregators};
}

/* ---- the models ---- */

static double cost_of(const struct instance *in, const size_t *aggregator_of_unit)
{
    double sum = 0.0;
    for (size_t i = 0; i < in->loaded; i++) {
        size_t j = aggregator_of_unit[in->loaded_unit[i]];
        sum += in->cost[i * in->nodes + in->node_of_aggregator[j]];
    }
    return sum;
}

/* No aggregator has more units with bytes than with equal shares. */
static bool is_balanced(const struct instance *in, const size_t *aggregator_of_unit)
{
    size_t loaded[MAX_AGGREGATORS] = {0}, most = 0;
    for (size_t i = 0; i < in->loaded; i++) {
        size_t units = ++loaded[aggregator_of_unit[in->loaded_unit[i]]];
        most = units > most ? units : most;
    }
    return most <= (in->loaded + in->aggregators - 1) / in->aggregators;
}

/* No domain is longer than an even one. */
static bool is_short(const struct instance *in, const size_t *aggregator_of_unit)
{
    size_t units[MAX_AGGREGATORS] = {0}, longest = 0;
    for (size_t u = 0; u < in->units; u++) {
        size_t length = ++units[aggregator_of_unit[u]];
        longest = length > longest ? length : longest;
    }
    return longest <= (in->units + in->aggregators - 1) / in->aggregators;
}

/* The levels of the network: of node n at level 0 that is n, and at the last one all are 0. */
struct hierarchy {
    size_t levels, *group_of_node;
};

static size_t group_at(const struct instance *in, const struct hierarchy *h, size_t level, size_t n)
{
    if (level > h->levels)
        return 0;
    return level == 0 ? n : h->group_of_node[(level - 1) * in->nodes + n];
}

/* What a unit saves on a node that has bytes of it, where the network has no levels: hop-bytes,
 * over a node that is as far from each other one as nodes are in the mean. */
static double saved_at(const struct instance *in, size_t u, size_t node)
{
    double sum = 0.0;
    for (size_t n = 0; n < in->nodes; n++) {
        double far = 0.0;
        for (size_t m = 0; m < in->nodes; m++)
            far += m == n ? 0.0 : in->hops[n * in->nodes + m] / (double)(in->nodes - 1);
        sum += (far - in->hops[n * in->nodes + node]) * (double)in->bytes[u][n];
    }
    return in->bytes[u][node] > 0 ? fmax(sum, 0.0) : 0.0;
}

/* Bytes of units that stay in their group. */
static double kept_bytes(const struct instance *in, const struct hierarchy *h, size_t level,
                         const size_t *aggregator_of_unit)
{
    double sum = 0.0;
    for (size_t u = 0; u < in->units; u++) {
        size_t node = in->node_of_aggregator[aggregator_of_unit[u]];
        if (h->levels == 0)
            sum += saved_at(in, u, node);
        for (size_t n = 0; n < in->nodes && h->levels > 0; n++)
            if (group_at(in, h, level, n) == group_at(in, h, level, node))
                sum += (double)in->bytes[u][n];
    }
    return sum;
}

/* Whether the units with bytes are in the same groups. */
static bool are_alike(const struct instance *in, const struct hierarchy *h, size_t level,
                      const size_t *a, const size_t *b)
{
    for (size_t i = 0; i < in->loaded; i++) {
        size_t u = in->loaded_unit[i];
        if (group_at(in, h, level, in->node_of_aggregator[a[u]]) !=
            group_at(in, h, level, in->node_of_aggregator[b[u]]))
            return false;
    }
    return true;
}

/* Tries every assignment that leaves units in their groups of the level above. */
static double most_bytes(const struct instance *in, const struct hierarchy *h, size_t level,
                         const size_t *fitted)
{
    size_t choice[MAX_UNITS] = {0};
    double most = 0.0;
    for (;;) {
        if (is_balanced(in, choice) && are_alike(in, h, level + 1, choice, fitted))
            most = fmax(most, kept_bytes(in, h, level, choice));
        size_t i = 0;
        while (i < in->loaded && ++choice[in->loaded_unit[i]] == in->aggregators)
            choice[in->loaded_unit[i++]] = 0;
        if (i == in->loaded)
            return most;
    }
}

/* What the header of the auction promises. */
static bool keeps_most(const struct instance *in, const size_t *fitted)
{
    struct hierarchy h;
    bool keeps = true;
    if (topo_levels(&in->topology, &h.levels, &h.group_of_node) != 0)
        exit(EXIT_FAILURE);
    double all = h.levels > 0 ? in->total : 0.0;
    for (size_t u = 0; u < in->units && h.levels == 0; u++)
        for (size_t n = 0; n < in->nodes; n++)
            all += saved_at(in, u, n);
    for (size_t level = 0; level <= h.levels; level++)
        keeps &= kept_bytes(in, &h, level, fitted) >= most_bytes(in, &h, level, fitted) - .01 * all;
    free(h.group_of_node);
    return keeps;
}

/* ---- checking one ---- */

static const char *name_of(int kind)
{
    return kinds[kind].name;
}

static const char *find_fault(const struct instance *in)
{
    static size_t fitted[MAX_UNITS], again[MAX_UNITS];
    double hop_bytes, twice;
    bool brute = in->units <= BRUTE_UNITS && in->aggregators <= BRUTE_AGGREGATORS;
    if (fitted_assign(&in->input, fitted, &hop_bytes) != 0 ||
        fitted_assign(&in->input, again, &twice) != 0)
        return "no answer";
    if (hop_bytes != twice || memcmp(fitted, again, in->units * sizeof *again) != 0)
        return "another answer the second time";
    if (!is_balanced(in, fitted) || !is_short(in, fitted))
        return "not balanced";
    if (hop_bytes != cost_of(in, fitted))
        return "another cost";
    return brute && !keeps_most(in, fitted) ? "too many bytes leave their group" : NULL;
}

static const char *check_instance(int kind, uint64_t seed)
{
    static struct instance in;
    make_instance(&in, &kinds[kind], seed);
    const char *fault = find_fault(&in);
    matrix_release(&in.matrix);
    topo_release(&in.topology);
    return fault;
}

int main(int argc, char **argv)
{
    static const struct property property = {
        "Fits random file domains, and compares small ones with all others.", 4400, KINDS, name_of,
        check_instance};
    return check_property(argc, argv, &property);
}
