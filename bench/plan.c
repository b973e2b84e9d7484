/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_bench: plans for many ranks that are made up here, checks the answers, and prints times
 * and memory as comma-separated values. */
#include "plan/plan.h"

#include "machine.h"
#include "../tests/unit/seeded.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Nodes on one leaf switch, leaves under one switch above; domains that each rank accesses. */
enum { LEAF = 32, POD = 16, TOUCHED = 8 };

struct options {
    size_t ranks, nodes, domains, per_node;
    const char *pattern, *network, *strategy;
    int no_header;
    long repetitions;
    double most_seconds, most_megabytes; /* 0: any */
};

static void exit_unless(bool has_memory)
{
    if (!has_memory) {
        fprintf(stderr, "plan_bench: out of memory\n");
        exit(EXIT_FAILURE);
    }
}

static void *allocate(size_t count, size_t size)
{
    void *array = calloc(count | 1, size);
    exit_unless(array != NULL);
    return array;
}

/* ---- the network ---- */

/* Between nodes of places that had the same distances. */
static void separate_places(topo *t)
{
    uint16_t *between = allocate(t->nodes * t->nodes, sizeof *between);
    for (size_t n = 0; n < t->nodes; n++)
        for (size_t m = 0; m < t->nodes; m++)
            between[n * t->nodes + m] =
                t->between[t->place_of_node[n] * t->places + t->place_of_node[m]];
    for (size_t n = 0; n < t->nodes; n++)
        t->place_of_node[n] = n;
    free(t->between);
    t->between = between;
    t->places = t->nodes;
}

/* flat; tree: leaves and pods as switches, with half as many cables above as there are below; hops:
 * the same distances with a place for each node. */
static void make_network(const struct options *o, topo *t)
{
    topo_flat(t, o->nodes);
    if (strcmp(o->network, "flat") == 0)
        return;
    size_t *group = allocate(2 * o->nodes, sizeof *group), leaves = (o->nodes - 1) / LEAF + 1;
    for (size_t n = 0; n < o->nodes; n++) {
        group[n] = n / LEAF;
        group[o->nodes + n] = n / LEAF / POD;
    }
    exit_unless(switched_topology(t, o->nodes, 2, group) == 0);
    free(group);
    for (size_t v = o->nodes; v < t->tree.vertices; v++)
        t->tree.width[v] = v < o->nodes + leaves ? LEAF / 2 : LEAF * POD / 4;
    if (strcmp(o->network, "hops") == 0)
        separate_places(t);
}

/* ---- who accesses what ---- */

/* blocks: neighbouring domains, ranks in file order; random: any domains; strided: domains at equal
 * distances, as parts of an array in three dimensions have them; crowd: random, but only the
 * first sixteenth of the ranks has much; heavy: random, with bytes of a heavy tail. */
static size_t first_domain(const struct options *o, size_t rank)
{
    double place = (double)rank / (double)o->ranks;
    return (size_t)(place * (double)(o->domains - TOUCHED + 1));
}

static bool contains(const size_t *col, size_t count, size_t j)
{
    size_t k = 0;
    while (k < count && col[k] != j)
        k++;
    return k < count;
}

static int compare(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void choose_domains(const struct options *o, size_t rank, size_t *col, uint64_t *state)
{
    size_t stride = o->domains / TOUCHED;
    for (size_t k = 0; k < TOUCHED; k++) {
        if (o->pattern[0] == 'b')
            col[k] = first_domain(o, rank) + k;
        else if (o->pattern[0] == 's')
            col[k] = rank % stride + k * stride;
        else
            do {
                col[k] = (size_t)pick(state, 0, (int64_t)o->domains - 1);
            } while (contains(col, k, col[k]));
    }
    qsort(col, TOUCHED, sizeof *col, compare);
}

/* heavy: Pareto's distribution with exponent 1/2, cut at 2^40. */
static int64_t draw_bytes(const struct options *o, size_t rank, uint64_t *state)
{
    if (o->pattern[0] != 'h')
        return pick(state, 1, o->pattern[0] == 'c' && rank >= o->ranks / 16 ? 16 : 1 << 20);
    double part = (double)((int64_t)1 << 20) / (double)pick(state, 1, 1 << 20);
    return (int64_t)(part * part);
}

static void make_requests(const struct options *o, matrix *c)
{
    uint64_t state = 1;
    exit_unless(matrix_allocate(c, o->ranks, o->domains, o->ranks * TOUCHED) == 0);
    for (size_t i = 0; i < o->ranks; i++) {
        size_t *col = c->col + i * TOUCHED;
        choose_domains(o, i, col, &state);
        for (size_t k = 0; k < TOUCHED; k++)
            c->value[i * TOUCHED + k] = draw_bytes(o, i, &state);
        c->row_start[i + 1] = (i + 1) * TOUCHED;
    }
}

/* ---- measuring ---- */

/* Of the processor: one thread plans, and the machine may be busy otherwise. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

static bool is_valid(const plan_input *in, const size_t *rank_of_domain)
{
    size_t ranks = in->requests->rows, nodes = in->topology->nodes;
    unsigned char *taken = allocate(ranks, 1);
    size_t *load = allocate(nodes, sizeof *load);
    bool valid = true;
    for (size_t j = 0; j < in->requests->cols && valid; j++) {
        size_t rank = rank_of_domain[j];
        valid = rank < ranks && taken[rank]++ == 0 &&
                (++load[in->node_of_rank[rank]] <= in->per_node || in->per_node == 0);
    }
    free(taken);
    free(load);
    return valid;
}

static int measure(const struct options *o, const plan_input *in, const plan_strategy *strategy)
{
    size_t *rank_of_domain = allocate(o->domains, sizeof *rank_of_domain);
    double least = 0.0;
    plan_report report;
    int rc = 0;
    for (long k = 0; k < o->repetitions && rc == 0; k++) {
        double begin = now();
        rc = strategy->assign(in, rank_of_domain);
        double seconds = now() - begin;
        least = k == 0 || seconds < least ? seconds : least;
    }
    double memory = megabytes();
    if (rc == 0)
        rc = plan_assess(in, rank_of_domain, &report);
    bool valid = rc == 0 && is_valid(in, rank_of_domain);
    bool fast = (o->most_seconds <= 0.0 || least <= o->most_seconds) &&
                (o->most_megabytes <= 0.0 || memory <= o->most_megabytes);
    free(rank_of_domain);
    if (rc != 0) {
        fprintf(stderr, "plan_bench: %s: %s\n", strategy->name, strerror(-rc));
        return rc;
    }
    printf("%s,%s,%zu,%zu,%zu,%s,%.4f,%.0f,%.17g,%.17g,%s\n", o->pattern, o->network, o->ranks,
           o->nodes, o->domains, strategy->name, least, memory, report.hop_bytes,
           report.max_link_bytes,
           !valid ? "WRONG"
           : fast ? "yes"
                  : "OVER");
    fflush(stdout);
    return valid && fast ? 0 : -EIO;
}

static int run(const struct options *o)
{
    topo network;
    matrix requests, on_nodes;
    size_t *node_of_rank = allocate(o->ranks, sizeof *node_of_rank);
    int status = EXIT_SUCCESS;
    make_network(o, &network);
    make_requests(o, &requests);
    for (size_t i = 0; i < o->ranks; i++)
        node_of_rank[i] = (size_t)((double)i / (double)o->ranks * (double)o->nodes);
    exit_unless(matrix_sum_rows(&on_nodes, &requests, node_of_rank, o->nodes) == 0);
    plan_input in = {.requests = &requests,
                     .node_bytes = &on_nodes,
                     .node_of_rank = node_of_rank,
                     .topology = &network,
                     .per_node = o->per_node};
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++) {
        bool wanted = o->strategy == NULL || strcmp(o->strategy, s->name) == 0;
        if (wanted && measure(o, &in, s) != 0)
            status = EXIT_FAILURE;
    }
    free(node_of_rank);
    matrix_release(&requests);
    matrix_release(&on_nodes);
    topo_release(&network);
    return status;
}

/* ---- the command ---- */

enum { MOST_SECONDS = 1, MOST_MEGABYTES, NO_HEADER };

static const struct argp_option option_table[] = {
    {"ranks", 'p', "N", 0, "Ranks (default 65536)", 0},
    {"nodes", 'n', "N", 0, "Nodes (default 2048)", 0},
    {"domains", 'a', "N", 0, "File domains (default 512)", 0},
    {"per-node", 'm', "N", 0, "Domains on one node at most (default 1; 0: no limit)", 0},
    {"pattern", 'P', "NAME", 0, "blocks (default), strided, random, crowd or heavy", 0},
    {"network", 'N', "NAME", 0, "flat (default), tree, or hops: that tree, no two nodes alike", 0},
    {"strategy", 'g', "NAME", 0, "Only this strategy", 0},
    {"repeat", 'r', "N", 0, "Plan N times, print the least time (default 3)", 0},
    {"most-seconds", MOST_SECONDS, "S", 0, "Fail when it takes longer", 0},
    {"most-megabytes", MOST_MEGABYTES, "MB", 0, "Fail when it takes more memory", 0},
    {"no-header", NO_HEADER, NULL, 0, "Do not print what the columns are", 0},
    {0},
};

static size_t count(const char *arg, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(arg, &end, 10);
    if (errno != 0 || end == arg || *end != '\0' || value > SIZE_MAX / 2)
        argp_error(state, "%s: not a count", arg);
    return (size_t)value;
}

static void check(const struct options *o, struct argp_state *state)
{
    if (o->domains < TOUCHED)
        argp_error(state, "there are at least %d domains, which a rank accesses", TOUCHED);
    if (strchr("bsrch", o->pattern[0]) == NULL || o->pattern[0] == '\0')
        argp_error(state, "%s: no such pattern", o->pattern);
    if (strcmp(o->network, "flat") != 0 && strcmp(o->network, "tree") != 0 &&
        strcmp(o->network, "hops") != 0)
        argp_error(state, "%s: no such network", o->network);
    if (o->nodes == 0 || o->nodes > o->ranks || o->repetitions == 0)
        argp_error(state, "there is nothing to plan");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    size_t *counts[] = {&o->ranks, &o->nodes, &o->domains, &o->per_node};
    const char *keys = "pnam", *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;
    if (at != NULL) {
        *counts[at - keys] = count(arg, state);
        return 0;
    }
    switch (key) {
    case 'P': o->pattern = arg; return 0;
    case 'N': o->network = arg; return 0;
    case 'g':
        o->strategy = arg;
        if (plan_find_strategy(arg) == NULL)
            argp_error(state, "%s: no such strategy", arg);
        return 0;
    case 'r': o->repetitions = (long)count(arg, state); return 0;
    case MOST_SECONDS: o->most_seconds = strtod(arg, NULL); return 0;
    case MOST_MEGABYTES: o->most_megabytes = strtod(arg, NULL); return 0;
    case NO_HEADER: o->no_header = 1; return 0;
    case ARGP_KEY_END: check(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    const struct argp command = {
        .options = option_table,
        .parser = parse,
        .doc = "Plans which rank serves which file domain, by every strategy.\v"
               "seconds are of one processor; megabytes the most that the process had so far, "
               "requests included. checked says whether the plan obeys all limits.",
    };
    struct options options = {
        .ranks = 65536,
        .nodes = 2048,
        .domains = 512,
        .per_node = 1,
        .pattern = "blocks",
        .network = "flat",
        .repetitions = 3,
    };
    if (argp_parse(&command, argc, argv, 0, NULL, &options) != 0)
        return EXIT_FAILURE;
    if (!options.no_header) {
        printf("pattern,network,ranks,nodes,domains,strategy,seconds,megabytes,hop_bytes,"
               "max_link_bytes,checked\n");
    }
    return run(&options);
}
