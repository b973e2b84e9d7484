/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates lives of files. A failure prints the last events, and the command that repeats it. */
#include <argp.h>
#include <stdio.h>

#include "../unit/replay.h"
#include "life.h"

enum { LEAST_LIVES = 5000 }; /* of so many, some have each feature */

struct options {
    uint64_t lives, seed, orders;
    bool verbose;
};

static bool try_life(uint64_t seed, bool is_traced, bool is_verbose, uint64_t *lives_with)
{
    bool has[MOST_FEATURES] = {false};
    life *l = sim_draw_life(replay_seed = seed, false);
    l->order.is_traced = is_traced;
    l->order.is_verbose = is_verbose;
    bool is_good = sim_run(l);
    sim_find_features(l, has);
    for (int i = 0; i < MOST_FEATURES; i++)
        lives_with[i] += has[i];
    return is_good;
}

static bool try_lives(const struct options *options, uint64_t *lives_with)
{
    uint64_t none[MOST_FEATURES] = {0}, done = 0;
    bool is_good = true;
    replay_way = "--lives=1";
    if (options->verbose)
        (void)try_life(options->seed, true, true, none);
    while (is_good && done < options->lives)
        is_good = try_life(options->seed + done++, false, false, lives_with);
    if (!is_good) {
        printf("# a life fails: %s %s --seed=%" PRIu64 "\n", replay_tool, replay_way, replay_seed);
        (void)try_life(replay_seed, true, false, none);
    }
    printf("%sok 1 - %" PRIu64 " lives of files\n", is_good ? "" : "not ", done);
    return is_good;
}

static bool report_features(uint64_t lives, const uint64_t *lives_with)
{
    bool has_all = true;
    for (int i = 0; sim_feature[i] != NULL; i++) {
        printf("# %" PRIu64 " with %s\n", lives_with[i], sim_feature[i]);
        has_all &= lives_with[i] > 0 || lives < LEAST_LIVES;
    }
    printf("%sok 2 - every feature was simulated\n", has_all ? "" : "not ");
    return has_all;
}

static bool try_orders(const struct options *options)
{
    replay_way = "--lives=0 --orders=1";
    bool is_good = sim_try_orders(options->seed, options->orders, &replay_seed);
    if (!is_good)
        printf("# an order fails: %s %s --seed=%" PRIu64 "\n", replay_tool, replay_way,
               replay_seed);
    return is_good;
}

/* ---- the command ---- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n': options->lives = strtoull(arg, NULL, 10); return 0;
    case 's': options->seed = strtoull(arg, NULL, 10); return 0;
    case 'o': options->orders = strtoull(arg, NULL, 10); return 0;
    case 'v': options->verbose = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The sanitizers take their time. */
static uint64_t usual_lives(void)
{
    return random_cases(__sanitizer_set_death_callback != NULL ? 5000 : 50000);
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"lives", 'n', "N", 0, "Number of files", 0},
        {"seed", 's', "S", 0, "Seed of the first (1, or of TEST_SEED)", 0},
        {"orders", 'o', "N", 0, "Small exchanges in every order (10)", 0},
        {"verbose", 'v', NULL, 0, "Print the events of the first life", 0},
        {0}};
    static const struct argp argp = {.options = known, .parser = parse_option};
    static uint64_t lives_with[MOST_FEATURES];
    struct options options = {usual_lives(), first_seed(), random_cases(10), false};
    replay_tool = argv[0];
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    replay_catch_crashes();
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool is_good = try_lives(&options, lives_with);
    bool has_all = report_features(options.lives, lives_with);
    bool is_ordered = try_orders(&options);
    printf("1..3\n");
    return is_good && has_all && is_ordered ? EXIT_SUCCESS : EXIT_FAILURE;
}
