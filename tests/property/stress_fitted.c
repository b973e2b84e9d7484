/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of fitted file domains: random instances of many kinds against every balanced
 * assignment (small ones) or an exact solver. A failure prints the command that replays it. */
#include "plan/fitted.h"

#include "../unit/edges.h"
#include "../unit/seeded.h"
#include "lap/lap.h"
#include "options.h"
#include "transport.h"

#include <inttypes.h>
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
    double hops[MAX_NODES * MAX_NODES];
    double cost[MAX_UNITS * MAX_NODES]; /* of the units with bytes */
    size_t loaded_unit[MAX_UNITS];
    double total;
    size_t node_of_aggregator[MAX_AGGREGATORS];
    size_t even[MAX_UNITS], fitted[MAX_UNITS];
    topo topology;
    matrix matrix;
    fitted_input input;
    fitted_report report;
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
            in->hops[n * nodes + m] = in->hops[m * nodes + n] = n == m ? TOPO_SAME_NODE : hops;
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

static double crossing_of(const struct instance *in, const size_t *aggregator_of_unit)
{
    double sum = 0.0;
    for (size_t u = 0; u < in->units; u++) {
        size_t node = in->node_of_aggregator[aggregator_of_unit[u]];
        for (size_t n = 0; n < in->nodes; n++)
            sum += n != node ? (double)in->bytes[u][n] : 0.0;
    }
    return sum;
}

/* Loaded units of two aggregators differ by one at most. */
static bool is_balanced(const struct instance *in, const size_t *aggregator_of_unit)
{
    size_t loaded[MAX_AGGREGATORS] = {0}, least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < in->loaded; i++)
        loaded[aggregator_of_unit[in->loaded_unit[i]]]++;
    for (size_t j = 0; j < in->aggregators; j++) {
        least = loaded[j] < least ? loaded[j] : least;
        most = loaded[j] > most ? loaded[j] : most;
    }
    return most - least <= 1;
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

/* Tries every assignment. */
static double brute_force(const struct instance *in)
{
    size_t choice[MAX_UNITS] = {0};
    double best = INFINITY;
    for (;;) {
        if (is_balanced(in, choice))
            best = fmin(best, cost_of(in, choice));
        size_t i = 0;
        while (i < in->loaded && ++choice[in->loaded_unit[i]] == in->aggregators)
            choice[in->loaded_unit[i++]] = 0;
        if (i == in->loaded)
            return best;
    }
}

/* The least hop-bytes within the balance of fitted_assign; NAN where the solver fails. */
static double exact_hop_bytes(const struct instance *in)
{
    size_t least[MAX_NODES] = {0}, most[MAX_NODES] = {0}, node_of_unit[MAX_UNITS];
    double total = 0.0;
    for (size_t j = 0; j < in->aggregators; j++) {
        least[in->node_of_aggregator[j]] += in->loaded / in->aggregators;
        most[in->node_of_aggregator[j]] += (in->loaded + in->aggregators - 1) / in->aggregators;
    }
    transport problem = {in->loaded, in->nodes, in->cost, least, most};
    return transport_solve(&problem, node_of_unit, &total) == 0 ? total : NAN;
}

/* Contiguous domains of whole units, given to the aggregators by linear assignment. */
static bool assign_even(struct instance *in)
{
    double cost[MAX_AGGREGATORS * MAX_AGGREGATORS] = {0};
    size_t a = in->aggregators, aggregator_of_domain[MAX_AGGREGATORS];
    for (size_t i = 0; i < in->loaded; i++) {
        double *column = cost + in->loaded_unit[i] * a / in->units * a;
        for (size_t j = 0; j < a; j++)
            column[j] += in->cost[i * in->nodes + in->node_of_aggregator[j]];
    }
    lap_problem problem = {.rows = a, .cols = a, .cost = cost};
    lap_solution solution = {.row_of_col = aggregator_of_domain};
    if (lap_jv(&problem, &solution) != 0)
        return false;
    for (size_t u = 0; u < in->units; u++)
        in->even[u] = aggregator_of_domain[u * a / in->units];
    return true;
}

/* ---- checking one ---- */

static const char *tool;

static bool expect(bool true_statement, const struct kind *kind, uint64_t seed,
                   const char *statement)
{
    if (!true_statement)
        printf("# not so: %s; %s --kind='%s' --seed=%" PRIu64 " --instances=1\n", statement, tool,
               kind->name, seed);
    return true_statement;
}
#define EXPECT(statement) expect(statement, kind, seed, #statement)

static bool check_costs(const struct instance *in, const struct kind *kind, uint64_t seed)
{
    const fitted_report *r = &in->report;
    double optimum = exact_hop_bytes(in), slack = 1e-9 * (1.0 + optimum);
    bool brute = in->units <= BRUTE_UNITS && in->aggregators <= BRUTE_AGGREGATORS;
    return EXPECT(!isnan(optimum)) && EXPECT(!brute || brute_force(in) == optimum) &&
           EXPECT(r->hop_bytes == cost_of(in, in->fitted)) &&
           EXPECT(r->crossing == crossing_of(in, in->fitted)) &&
           EXPECT(r->bytes == in->total && r->loaded == in->loaded) &&
           EXPECT(r->lower_bound <= optimum + slack) &&
           EXPECT(r->hop_bytes >= optimum || r->took_alternative) &&
           EXPECT(r->bids > 16 * in->loaded || r->hop_bytes <= optimum + .002 * in->total + slack);
}

static bool check_instance(struct instance *in, const struct kind *kind, uint64_t seed)
{
    size_t again[MAX_UNITS], without[MAX_UNITS];
    fitted_report twice;
    fitted_options options = {.alternative = in->even};
    if (!assign_even(in) || fitted_assign(&in->input, &options, in->fitted, &in->report) != 0 ||
        fitted_assign(&in->input, &options, again, &twice) != 0 ||
        fitted_assign(&in->input, NULL, without, NULL) != 0)
        return EXPECT(!"both assignments succeed");
    return check_costs(in, kind, seed) &&
           EXPECT(memcmp(in->fitted, again, in->units * sizeof *again) == 0) &&
           EXPECT(in->report.lower_bound == twice.lower_bound && in->report.bids == twice.bids) &&
           EXPECT(is_balanced(in, without) && is_short(in, without)) &&
           EXPECT(in->report.alternative_hop_bytes == cost_of(in, in->even)) &&
           EXPECT(in->report.hop_bytes == fmin(cost_of(in, in->even), cost_of(in, without))) &&
           EXPECT(in->report.took_alternative == (cost_of(in, in->even) <= cost_of(in, without))) &&
           EXPECT(memcmp(in->fitted, in->report.took_alternative ? in->even : without,
                         in->units * sizeof *without) == 0);
}

/* Price wars, which excuse a worse result, are rare. */
static bool check_kind(struct instance *in, const struct kind *kind, uint64_t seed, uint64_t count)
{
    bool good = true;
    uint64_t wars = 0;
    for (uint64_t k = 0; k < count && good; k++) {
        make_instance(in, kind, seed + k);
        good = check_instance(in, kind, seed + k);
        wars += in->report.bids > 16 * in->loaded;
        matrix_release(&in->matrix);
        topo_release(&in->topology);
    }
    if (wars > 10 + count / 20) {
        printf("# %" PRIu64 " price wars; %s --kind='%s' --seed=%" PRIu64 " --instances=%" PRIu64
               "\n",
               wars, tool, kind->name, seed, count);
        return false;
    }
    return good;
}

/* ---- the command ---- */

static int number, failed;

static void tell(bool good, const char *what, uint64_t count)
{
    printf("%sok %d - %s: %" PRIu64 " instances\n", good ? "" : "not ", ++number, what, count);
    failed += !good;
}

int main(int argc, char **argv)
{
    struct options options = read_options(
        argc, argv, 4400, "Fits random file domains, and compares with exact answers.");
    struct instance *in = calloc(1, sizeof *in);
    if (in == NULL)
        return EXIT_FAILURE;
    tool = argv[0];
    uint64_t each =
        options.kind != NULL ? options.instances : (options.instances + KINDS - 1) / KINDS;
    for (int k = 0; k < KINDS; k++)
        if (options.kind == NULL || strcmp(options.kind, kinds[k].name) == 0)
            tell(check_kind(in, &kinds[k], options.seed, each), kinds[k].name, each);
    printf("1..%d\n", number);
    free(in);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
