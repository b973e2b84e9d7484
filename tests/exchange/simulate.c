/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates the exchange with random accesses, orders of events and faults, and small exchanges in
 * every order. A failure prints the command that replays it. */
#include "orders.h"

#include <argp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/replay.h"

/* ---- failures ---- */

void sim_fail(simulation *sim, const char *format, ...)
{
    va_list arguments;
    if (sim->failure != NULL)
        return;
    va_start(arguments, format);
    vsnprintf(sim->failure_text, sizeof sim->failure_text, format, arguments);
    va_end(arguments);
    sim->failure = sim->failure_text;
}

/* Only while a schedule that failed is repeated: texts take more time than the schedule. */
void sim_trace(simulation *sim, const char *format, ...)
{
    va_list arguments;
    if (!sim->traces)
        return;
    char *line = sim->trace[sim->traced++ % TRACE];
    va_start(arguments, format);
    vsnprintf(line, sizeof sim->trace[0], format, arguments);
    va_end(arguments);
    if (sim->verbose)
        printf("# %s\n", line);
}

void sim_print_parameters(const simulation *sim)
{
    static const char *const domains[] = {"even", "striped", "unit"};
    static const char *const overlap[] = {"none", "of reads", "of writes in atomic mode"};
    printf("# %d ranks on %d nodes, %zu %s domains, %" PRId64 " bytes in %d islands, overlap %s\n",
           sim->ranks, sim->nodes, sim->domains.count, domains[sim->domains_kind], sim->bytes,
           sim->islands, overlap[sim->overlap]);
    printf("# cycle size %" PRId64 ", message size %" PRId64 ", %d runs%s, slow rank %d\n",
           sim->cycle_size, sim->message_size, sim->runs, sim->agreed ? " with agreements" : "",
           sim->slow);
}

void sim_print_trace(const simulation *sim)
{
    uint64_t first = sim->traced < TRACE || sim->verbose ? 0 : sim->traced - TRACE;
    for (uint64_t i = first; i < sim->traced && !sim->verbose; i++)
        printf("#   %s\n", sim->trace[i % TRACE]);
    if (sim->failure != NULL)
        printf("# %s\n", sim->failure);
}

/* Repeats a schedule, and prints its last events (or all). */
static void explain(uint64_t seed, bool verbose)
{
    simulation *sim = calloc(1, sizeof *sim);
    sim->seed = sim->state = seed;
    sim->traces = true;
    sim->verbose = verbose;
    sim_draw(sim);
    sim_print_parameters(sim);
    sim_run(sim);
    sim_print_trace(sim);
    sim_free(sim);
}

/* ---- what was simulated ---- */

typedef struct feature {
    const char *name;
    uint64_t schedules;
} feature;

enum { MOST_FEATURES = 20 };

static void count_feature(feature *f, const char *name, bool has)
{
    f->name = name;
    f->schedules += has;
}

/* Of a schedule that was run. */
static void count_features(const simulation *sim, feature *f)
{
    bool shared = false, carried = false;
    int writes = 0;
    for (int k = 0; k < sim->runs; k++)
        writes += sim->write[k];
    for (int i = 0; i < sim->ranks; i++)
        for (size_t s = 0; s < sim->rank[i].shares; s++) {
            const exchange_target *target = &sim->rank[i].target[s];
            shared |= target->window != NULL && !target->is_carried;
            carried |= target->bundle != NULL;
        }
    count_feature(f++, "writes", writes > 0);
    count_feature(f++, "reads", writes < sim->runs);
    count_feature(f++, "overlapping reads", sim->overlap == OVERLAP_READS);
    count_feature(f++, "atomic writes", sim->overlap == OVERLAP_ORDERED);
    count_feature(f++, "shared windows", shared);
    count_feature(f++, "carried data", carried);
    count_feature(f++, "many ranks", sim->ranks > 16);
    count_feature(f++, "huge offsets", sim->domains.hi + sim->base_shift > INT64_C(1) << 60);
    count_feature(f++, "ends of file", sim->end_of_file != ACCESS_END);
    count_feature(f++, "short transfers", sim->short_share > 0);
    count_feature(f++, "errors", sim->fired > 0);
    count_feature(f++, "network failures", sim->gone_after >= 0);
    count_feature(f++, "vanished ranks", sim->vanished);
    count_feature(f++, "runs without agreement", !sim->agreed && sim->runs > 1);
}

static bool simulate(uint64_t seed, feature *features)
{
    simulation *sim = calloc(1, sizeof *sim);
    sim->seed = sim->state = replay_seed = seed;
    sim_draw(sim);
    sim_run(sim);
    count_features(sim, features);
    bool good = sim->failure == NULL;
    sim_free(sim);
    return good;
}

/* ---- every order ---- */

/* Of so many exchanges: the next ones that are small enough. */
static bool try_orders(uint64_t seed, uint64_t exchanges)
{
    sim_tally tally = {0};
    bool good = true;
    replay_way = "--schedules=0 --orders=1";
    for (replay_seed = seed; good && tally.exchanges < exchanges; replay_seed++)
        good = sim_try_orders(replay_seed, &tally);
    if (!good)
        printf("# an order fails: %s %s --seed=%" PRIu64 "\n", replay_tool, replay_way,
               replay_seed - 1);
    printf("%sok 3 - every order of %" PRIu64 " small exchanges, without and with %" PRIu64
           " faults\n# %" PRIu64 " orders, %" PRIu64 " states\n",
           good ? "" : "not ", tally.exchanges, tally.faults, tally.orders, tally.states);
    return good;
}

/* ---- the command ---- */

struct options {
    uint64_t schedules, seed, orders;
    bool verbose;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n': options->schedules = strtoull(arg, NULL, 10); return 0;
    case 's': options->seed = strtoull(arg, NULL, 10); return 0;
    case 'o': options->orders = strtoull(arg, NULL, 10); return 0;
    case 'v': options->verbose = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static struct options read_options(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"schedules", 'n', "N", 0, "Schedules in all (20000)", 0},
        {"seed", 's', "S", 0, "Seed of the first schedule, and exchange (1, or of TEST_SEED)", 0},
        {"orders", 'o', "N", 0, "Small exchanges in every order (10)", 0},
        {"verbose", 'v', NULL, 0, "Print the events of the first schedule", 0},
        {0},
    };
    struct options options = {random_cases(20000), first_seed(), random_cases(10), false};
    struct argp argp = {table, parse_option, NULL, "Simulates the exchange in random schedules.",
                        NULL,  NULL,         NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return options;
}

/* Enough schedules have all features. */
static bool report_features(const feature *f, uint64_t schedules)
{
    bool all = true;
    for (; f->name != NULL; f++) {
        printf("# %s: %" PRIu64 " schedules\n", f->name, f->schedules);
        all &= f->schedules > 0 || schedules < 1500;
    }
    return all;
}

int main(int argc, char **argv)
{
    struct options options = read_options(argc, argv);
    feature features[MOST_FEATURES] = {{NULL, 0}};
    uint64_t done = 0;
    bool good = true;
    replay_tool = argv[0];
    replay_way = "--schedules=1";
    setvbuf(stdout, NULL, _IOLBF, 0);
    replay_catch_crashes();
    if (options.verbose)
        explain(options.seed, true);
    while (good && done < options.schedules)
        good = simulate(options.seed + done++, features);
    if (!good) {
        printf("# schedule %" PRIu64 " fails: %s --schedules=1 --seed=%" PRIu64 "\n", done,
               replay_tool, replay_seed);
        explain(replay_seed, false);
    }
    printf("%sok 1 - the exchange in %" PRIu64 " schedules\n", good ? "" : "not ", done);
    bool all = report_features(features, done);
    printf("%sok 2 - every feature was simulated\n", all ? "" : "not ");
    bool ordered = try_orders(options.seed, options.orders);
    printf("1..3\n");
    return good && all && ordered ? EXIT_SUCCESS : EXIT_FAILURE;
}
