/* SPDX-License-Identifier: BSD-3-Clause */
/* fitted_bench: what fitted file domains save on patterns of parallel programs, how far from exact
 * they are, and how long large ones take. */
#include "units.h"

#include "../tests/unit/seeded.h"

#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
    int64_t unit;
    size_t aggregators; /* a node */
    double epsilon;
    bool large, exact, choose;
    size_t units, nodes, entries;
};

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* The bound may be above an optimal result by what rounding adds. */
static double proven_gap(const fitted_report *report)
{
    double gap = report->hop_bytes - report->lower_bound;
    return gap > 0.0 ? gap / report->bytes : 0.0;
}

/* ---- patterns ---- */

/* Replaces the units by the chosen ones; returns by what factor these are larger. */
static int64_t choose_unit(matrix *bytes, size_t aggregators)
{
    fitted_unit_options options = {.aggregators = aggregators};
    fitted_unit_choice choice;
    if (fitted_choose_unit(bytes, &options, &choice) != 0)
        exit(EXIT_FAILURE);
    matrix_release(bytes);
    *bytes = choice.bytes;
    return INT64_C(1) << choice.doublings;
}

static void run_pattern(const pattern *p, const struct options *options)
{
    topo flat;
    fitted_report report;
    struct timespec start;
    topo_flat(&flat, p->nodes);
    matrix bytes = pattern_units(p, options->unit);
    size_t aggregators = options->aggregators * p->nodes;
    int64_t unit = options->unit * (options->choose ? choose_unit(&bytes, aggregators) : 1);
    size_t *node_of_aggregator = spread_aggregators(aggregators, p->nodes);
    size_t *even = allocate(bytes.rows, sizeof *even),
           *fitted = allocate(bytes.rows, sizeof *fitted);
    fitted_input in = {&bytes, &flat, node_of_aggregator, aggregators};
    fitted_options how = {.alternative = even, .epsilon = options->epsilon};
    assign_even(&in, even);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    if (fitted_assign(&in, &how, fitted, &report) != 0) {
        fprintf(stderr, "%s: failed\n", p->name);
        exit(EXIT_FAILURE);
    }
    double seconds = seconds_since(&start);
    double exact = options->exact ? exact_hop_bytes(&in) : report.lower_bound;
    printf("%-33s %6" PRId64 " %6zu %6.4f %6.4f %6.4f %8.5f %8.5f %6zu %6.2f %8.2f\n", p->name,
           unit / 1024, bytes.rows, fitted_crossing_bound(&bytes),
           report.alternative_crossing / report.bytes, report.crossing / report.bytes,
           (report.hop_bytes - exact) / report.bytes, proven_gap(&report), report.runs,
           (double)report.bids / (double)report.loaded, 1e3 * seconds);
    free(fitted);
    free(even);
    free(node_of_aggregator);
    matrix_release(&bytes);
}

static void run_patterns(const struct options *options)
{
    printf("%zu aggregators a node; crossing as part of all bytes, gaps of hop-bytes too\n",
           options->aggregators);
    printf("%-33s %6s %6s %6s %6s %6s %8s %8s %6s %6s %8s\n", "pattern", "KB", "units", "bound",
           "even", "fitted", "to exact", "proven", "runs", "bids/u", "ms");
    for (size_t k = 0; k < pattern_count; k++)
        run_pattern(&patterns[k], options);
}

/* ---- large ---- */

static int compare(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Nodes of a unit: any ones, or neighbours (of which groups follow one another as the units do). */
static void draw_nodes(const struct options *o, bool near, size_t unit, size_t *col,
                       uint64_t *state)
{
    size_t base = near ? unit * 37 / 16 % (o->nodes / o->entries) * o->entries : 0;
    for (size_t e = 0; e < o->entries; e++) {
        bool again = true;
        while (again) {
            col[e] = near ? base + e : (size_t)pick(state, 0, (int64_t)o->nodes - 1);
            again = false;
            for (size_t k = 0; k < e; k++)
                again |= col[k] == col[e];
        }
    }
    qsort(col, o->entries, sizeof *col, compare);
}

/* Three levels: 32 nodes on a leaf, 8 leaves in a group; 2, 4 and 6 hops. */
static void make_tree(topo *t, size_t nodes)
{
    *t = (topo){.nodes = nodes, .places = (nodes + 31) / 32};
    t->place_of_node = allocate(nodes, sizeof *t->place_of_node);
    t->between = allocate(t->places * t->places, sizeof *t->between);
    for (size_t n = 0; n < nodes; n++)
        t->place_of_node[n] = n / 32;
    for (size_t p = 0; p < t->places; p++)
        for (size_t q = 0; q < t->places; q++)
            t->between[p * t->places + q] = p == q ? 2 : p / 8 == q / 8 ? 4 : 6;
}

struct large {
    const char *name;
    bool near, tree;
    int64_t largest;
};

static const struct large large_ones[] = {
    {"any nodes, any bytes", false, false, 65536},
    {"any nodes, equal bytes", false, false, 8192},
    {"near nodes, any bytes", true, false, 65536},
    {"near nodes, equal bytes", true, false, 8192},
    {"any nodes of a tree, any bytes", false, true, 65536},
    {"any nodes of a tree, equal bytes", false, true, 8192},
    {"near nodes of a tree, any bytes", true, true, 65536},
    {"near nodes of a tree, equal bytes", true, true, 8192},
};

static void run_large(const struct options *o, const struct large *large)
{
    matrix bytes;
    topo topology;
    struct timespec start;
    fitted_report report;
    uint64_t state = 1;
    topo_flat(&topology, o->nodes);
    if (large->tree)
        make_tree(&topology, o->nodes);
    if (matrix_allocate(&bytes, o->units, o->nodes, o->units * o->entries) != 0)
        exit(EXIT_FAILURE);
    for (size_t u = 0; u < o->units; u++) {
        draw_nodes(o, large->near, u, bytes.col + u * o->entries, &state);
        for (size_t e = 0; e < o->entries; e++) {
            bytes.value[u * o->entries + e] =
                pick(&state, large->largest > 8192 ? 1 : large->largest, large->largest);
        }
        bytes.row_start[u + 1] = (u + 1) * o->entries;
    }
    size_t *node_of_aggregator = spread_aggregators(o->nodes, o->nodes);
    size_t *fitted = allocate(o->units, sizeof *fitted);
    fitted_input in = {&bytes, &topology, node_of_aggregator, o->nodes};
    fitted_options how = {.epsilon = o->epsilon};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    if (fitted_assign(&in, &how, fitted, &report) != 0)
        exit(EXIT_FAILURE);
    printf("%-33s %8zu %6zu %6.4f %6.4f %8.5f %6.2f %7.3f\n", large->name, o->units, o->nodes,
           fitted_crossing_bound(&bytes), report.crossing / report.bytes, proven_gap(&report),
           (double)report.bids / (double)report.loaded, seconds_since(&start));
    free(fitted);
    free(node_of_aggregator);
    matrix_release(&bytes);
    topo_release(&topology);
}

static void run_large_ones(const struct options *o)
{
    printf("%-33s %8s %6s %6s %6s %8s %6s %7s\n", "large", "units", "nodes", "bound", "fitted",
           "proven", "bids/u", "s");
    for (size_t k = 0; k < sizeof large_ones / sizeof large_ones[0]; k++)
        run_large(o, &large_ones[k]);
}

/* ---- options ---- */

static const struct argp_option option_table[] = {
    {"unit", 'u', "KB", 0, "Unit of the patterns (default 64)", 0},
    {"aggregators", 'a', "N", 0, "Aggregators a node in the patterns (default 1)", 0},
    {"epsilon", 'e', "PART", 0, "Least rise of a price, in units (default .01)", 0},
    {"choose", 'c', NULL, 0, "Take the largest unit, from --unit on, that is as good", 0},
    {"no-exact", 'x', NULL, 0, "Do not solve the patterns exactly", 0},
    {"large", 'l', NULL, 0, "Time large ones instead", 0},
    {"units", 'n', "N", 0, "Units of the large ones (default 1000000)", 0},
    {"nodes", 'm', "N", 0, "Nodes of the large ones (default 10000)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'u': o->unit = strtoll(arg, NULL, 10) * 1024; return o->unit > 0 ? 0 : EINVAL;
    case 'a': o->aggregators = strtoull(arg, NULL, 10); return o->aggregators > 0 ? 0 : EINVAL;
    case 'e': o->epsilon = strtod(arg, NULL); return 0;
    case 'c': o->choose = true; return 0;
    case 'x': o->exact = false; return 0;
    case 'l': o->large = true; return 0;
    case 'n': o->units = strtoull(arg, NULL, 10); return 0;
    case 'm': o->nodes = strtoull(arg, NULL, 10); return o->nodes >= o->entries ? 0 : EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse, NULL, "Measures fitted file domains.",
                                     NULL,         NULL,  NULL};
    struct options options = {.unit = 65536,
                              .aggregators = 1,
                              .exact = true,
                              .units = 1000000,
                              .nodes = 10000,
                              .entries = 8};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.large)
        run_large_ones(&options);
    else
        run_patterns(&options);
    return EXIT_SUCCESS;
}
