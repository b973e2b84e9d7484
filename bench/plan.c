/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_bench: plans for many ranks that are made up here, checks the answers, and prints times
 * and memory as comma-separated values; or the engines of plans (engines.h). */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "plan/plan.h"

#include "../tests/unit/seeded.h"
#include "engines.h"
#include "machine.h"
#include "must.h"

#include <argp.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nodes on one leaf switch, leaves under one switch above; domains that each rank accesses. */
enum { LEAF = 32, POD = 16, TOUCHED = 8 };

/* tree: leaves and pods as switches, with half as many cables above as there are below; hops: the
 * same distances with a place for each node. */
enum network { FLAT, TREE, HOPS };
static const char *const network_names[] = {"flat", "tree", "hops"};

/* blocks: neighbouring domains, ranks in file order; strided: domains at equal distances, as parts
 * of an array in three dimensions have them; random: any domains; crowd: random, but only the first
 * sixteenth of the ranks has much; heavy: random, with bytes of a heavy tail. */
enum pattern { BLOCKS, STRIDED, RANDOM, CROWD, HEAVY };
static const char *const pattern_names[] = {"blocks", "strided", "random", "crowd", "heavy"};

/* Problems of one size, in all networks and patterns up to these. */
typedef struct problem {
    size_t ranks, nodes, domains, per_node;
    enum network network;
    enum pattern pattern;
    long repetitions;
    double most_seconds, most_megabytes; /* else it fails */
} problem;

static const problem sizes[] = {
    {65536, 2048, 512, 1, HOPS, CROWD, 3, 1, 500},
    {65536, 256, 2048, 8, TREE, HEAVY, 3, 1, 500},
    {1048576, 16384, 4096, 1, TREE, HEAVY, 1, 20, 4000}, /* not --quick */
};
#define SIZES (sizeof sizes / sizeof *sizes)

typedef struct options {
    const char *strategy; /* NULL: all */
    bool quick;
    long repetitions; /* 0: those of the problem */
    double most_seconds;
    bool (*engine)(const engine_options *o); /* NULL: plans */
    engine_options of_engine;
} options;

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

static void make_network(const problem *p, topo *t)
{
    topo_flat(t, p->nodes);
    if (p->network == FLAT)
        return;
    size_t *group = allocate(2 * p->nodes, sizeof *group), leaves = (p->nodes - 1) / LEAF + 1;
    for (size_t n = 0; n < p->nodes; n++) {
        group[n] = n / LEAF;
        group[p->nodes + n] = n / LEAF / POD;
    }
    switched_topology(t, p->nodes, 2, group);
    free(group);
    for (size_t v = p->nodes; v < t->tree.vertices; v++)
        t->tree.width[v] = v < p->nodes + leaves ? LEAF / 2 : LEAF * POD / 4;
    if (p->network == HOPS)
        separate_places(t);
}

/* ---- who accesses what ---- */

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

static void choose_domains(const problem *p, size_t rank, size_t *col, uint64_t *state)
{
    size_t stride = p->domains / TOUCHED;
    double place = (double)rank / (double)p->ranks;
    for (size_t k = 0; k < TOUCHED; k++) {
        if (p->pattern == BLOCKS)
            col[k] = (size_t)(place * (double)(p->domains - TOUCHED + 1)) + k;
        else if (p->pattern == STRIDED)
            col[k] = rank % stride + k * stride;
        else
            do {
                col[k] = (size_t)pick(state, 0, (int64_t)p->domains - 1);
            } while (contains(col, k, col[k]));
    }
    qsort(col, TOUCHED, sizeof *col, compare);
}

/* heavy: Pareto's distribution with exponent 1/2, cut at 2^40. */
static int64_t draw_bytes(const problem *p, size_t rank, uint64_t *state)
{
    if (p->pattern != HEAVY)
        return pick(state, 1, p->pattern == CROWD && rank >= p->ranks / 16 ? 16 : 1 << 20);
    double part = (double)((int64_t)1 << 20) / (double)pick(state, 1, 1 << 20);
    return (int64_t)(part * part);
}

static void make_requests(const problem *p, matrix *c)
{
    uint64_t state = 1;
    must(matrix_allocate(c, p->ranks, p->domains, p->ranks * TOUCHED), "memory");
    for (size_t i = 0; i < p->ranks; i++) {
        size_t *col = c->col + i * TOUCHED;
        choose_domains(p, i, col, &state);
        for (size_t k = 0; k < TOUCHED; k++)
            c->value[i * TOUCHED + k] = draw_bytes(p, i, &state);
        c->row_start[i + 1] = (i + 1) * TOUCHED;
    }
}

/* ---- measuring ---- */

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

static bool measure(const options *o, const problem *p, const plan_input *in,
                    const plan_strategy *strategy)
{
    size_t *rank_of_domain = allocate(p->domains, sizeof *rank_of_domain);
    long repetitions = o->repetitions > 0 ? o->repetitions : p->repetitions;
    double least = 0.0;
    plan_report report;
    for (long k = 0; k < repetitions; k++) {
        double begin = processor_seconds();
        must(strategy->assign(in, rank_of_domain), strategy->name);
        double seconds = processor_seconds() - begin;
        least = k == 0 || seconds < least ? seconds : least;
    }
    double memory = megabytes();
    must(plan_assess(in, rank_of_domain, &report), strategy->name);
    bool valid = is_valid(in, rank_of_domain);
    bool small = least <= (o->most_seconds > 0 ? o->most_seconds : p->most_seconds) &&
                 memory <= p->most_megabytes;
    free(rank_of_domain);
    printf("%s,%s,%zu,%zu,%zu,%s,%.4f,%.0f,%.17g,%.17g,%s\n", pattern_names[p->pattern],
           network_names[p->network], p->ranks, p->nodes, p->domains, strategy->name, least, memory,
           report.hop_bytes, report.max_link_bytes,
           !valid  ? "WRONG"
           : small ? "yes"
                   : "OVER");
    fflush(stdout);
    return valid && small;
}

static int plan_problem(const options *o, const problem *p)
{
    topo network;
    matrix requests, on_nodes;
    size_t *node_of_rank = allocate(p->ranks, sizeof *node_of_rank);
    int status = EXIT_SUCCESS;
    make_network(p, &network);
    make_requests(p, &requests);
    for (size_t i = 0; i < p->ranks; i++)
        node_of_rank[i] = (size_t)((double)i / (double)p->ranks * (double)p->nodes);
    must(matrix_sum_rows(&on_nodes, &requests, node_of_rank, p->nodes), "memory");
    plan_input in = {.requests = &requests,
                     .node_bytes = &on_nodes,
                     .node_of_rank = node_of_rank,
                     .topology = &network,
                     .per_node = p->per_node};
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++) {
        bool wanted = o->strategy == NULL || strcmp(o->strategy, s->name) == 0;
        if (wanted && !measure(o, p, &in, s))
            status = EXIT_FAILURE;
    }
    free(node_of_rank);
    matrix_release(&requests);
    matrix_release(&on_nodes);
    topo_release(&network);
    return status;
}

/* In a process of its own, whose memory counts. */
static bool plan_alone(const options *o, const problem *p)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        exit(plan_problem(o, p));
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---- the command ---- */

static const struct argp_option option_table[] = {
    {"quick", 'q', NULL, 0, "Not the plans for a million ranks", 0},
    {"strategy", 'g', "NAME", 0, "Only this strategy", 0},
    {"repeat", 'r', "N", 0, "Plan N times, print the least time (3; of a million ranks 1)", 0},
    {"most-seconds", 's', "S", 0, "Fail when a plan takes longer (1; of a million ranks 20)", 0},
    {"engine", 'e', "NAME", 0, "Measure this instead of plans: assignment or auction", 0},
    {"problem", 'p', "NUMBER", 0, "Only this problem of the engine, counted from 0", 0},
    {"dump", 'd', "FILE", 0, "Write the costs of the last assignment, column after column", 0},
    {0},
};

/* NULL: there is no such engine. */
static bool (*find_engine(const char *name))(const engine_options *)
{
    if (strcmp(name, "assignment") == 0)
        return measure_assignments;
    return strcmp(name, "auction") == 0 ? measure_auctions : NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    char *end = "";
    switch (key) {
    case 'q': o->quick = true; break;
    case 'g': o->strategy = arg; break;
    case 'r': o->repetitions = strtol(arg, &end, 10); break;
    case 's': o->most_seconds = strtod(arg, &end); break;
    case 'e': o->engine = find_engine(arg); break;
    case 'p': o->of_engine.problem = strtol(arg, &end, 10); break;
    case 'd': o->of_engine.dump = arg; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (key == 'g' && plan_find_strategy(arg) == NULL)
        argp_error(state, "%s: no such strategy", arg);
    if (key == 'e' && o->engine == NULL)
        argp_error(state, "%s: no such engine", arg);
    if (*end != '\0' || o->repetitions < 0)
        argp_error(state, "%s: not a number", arg);
    return 0;
}

int main(int argc, char **argv)
{
    const struct argp command = {
        .options = option_table,
        .parser = parse,
        .doc = "Plans which rank serves which file domain, by every strategy, for many ranks.\v"
               "seconds are of one processor; megabytes the most that the process had so far, "
               "requests included. checked says whether the plan obeys all limits. 65,536 ranks "
               "must take at most 1 s and 500 MB, 1,048,576 ranks 20 s and 4 GB.",
    };
    options o = {.of_engine.problem = ALL_PROBLEMS};
    bool well = true;
    if (argp_parse(&command, argc, argv, 0, NULL, &o) != 0)
        return EXIT_FAILURE;
    o.of_engine.repetitions = o.repetitions > 0 ? o.repetitions : 3;
    if (o.engine != NULL)
        return o.engine(&o.of_engine) ? EXIT_SUCCESS : EXIT_FAILURE;
    printf("pattern,network,ranks,nodes,domains,strategy,seconds,megabytes,hop_bytes,"
           "max_link_bytes,checked\n");
    fflush(stdout);
    for (size_t i = 0; i < SIZES - o.quick; i++)
        for (enum network n = FLAT; n <= sizes[i].network; n++)
            for (enum pattern k = BLOCKS; k <= sizes[i].pattern; k++) {
                problem p = sizes[i];
                p.network = n;
                p.pattern = k;
                well = plan_alone(&o, &p) && well;
            }
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
