/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates lives of files. A failure prints the command that repeats it. */
#include <argp.h>
#include <string.h>

#include "../unit/replay.h"
#include "life.h"

/* ---- lives ---- */

/* What was simulated, in lives: of so many some have each. */
enum { LEAST_LIVES = 5000 };
enum { WRITES, READS, ERRORS, LOSSES, FAULTS, REUSE, TRIALS, STRIPES, RECORDS, FEATURES };
static const char *const feature[FEATURES] = {"writes", "reads",   "errors",
                                              "losses", "faults",  "plans reused",
                                              "trials", "stripes", "records"};
static uint64_t lives_with[FEATURES];

static void count_features(const life *l)
{
    bool has[FEATURES] = {
        [LOSSES] = l->is_lost, [FAULTS] = l->has_fired, [RECORDS] = l->has_record};
    for (int i = 0; i < l->steps; i++) {
        const sim_step *s = &l->step[i];
        has[WRITES] |= s->kind == STEP_WRITE && s->has_result && s->result == 0;
        has[READS] |= s->kind == STEP_READ && s->has_result && s->result == 0;
        has[ERRORS] |= s->has_result && s->result != 0;
        has[REUSE] |= s->reuses_plan;
        has[TRIALS] |= s->is_trial;
        has[STRIPES] |= s->is_striped;
    }
    for (int f = 0; f < FEATURES; f++)
        lives_with[f] += has[f];
}

static void describe(const life *l)
{
    static const char *const kinds[] = {"view", "write", "read", "hint", "reopen", "barrier"};
    printf("# %d ranks on %d nodes, fault %d on rank %d, fired %d\n", l->ranks, l->nodes, l->fault,
           l->victim, l->has_fired);
    for (int i = 0; i < l->steps; i++)
        printf("# step %d: %s, deal %d, copies %" PRId64 ", atomic %d, result %d, ranks done %d\n",
               i, kinds[l->step[i].kind], l->step[i].deal, l->step[i].copies, l->step[i].atomic,
               l->step[i].result, l->step[i].done);
    for (int i = 0; i < l->ranks && l->failure != NULL; i++)
        printf("# rank %d: step %d, %s\n", i, l->rank[i].step, l->rank[i].where);
    for (int p = 0; p < PARAMETERS; p++)
        if (l->rank[0].parameter[p] != NULL && l->rank[0].parameter[p][0] != '\0')
            printf("# %s = %s\n", parameter_table[p].name, l->rank[0].parameter[p]);
}

static bool run_life(uint64_t seed, bool verbose)
{
    static life l;
    memset(&l, 0, sizeof l);
    replay_seed = seed;
    sim_draw(&l, seed);
    sim_run(&l);
    sim_end(&l);
    count_features(&l);
    if (l.failure != NULL || verbose)
        describe(&l);
    if (l.failure != NULL)
        printf("# %s\n# a life fails: %s %s --seed=%" PRIu64 "\n", l.failure, replay_tool,
               replay_way, seed);
    return l.failure == NULL;
}

/* ---- the command ---- */

struct options {
    uint64_t lives, seed;
    bool verbose;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n': options->lives = strtoull(arg, NULL, 10); return 0;
    case 's': options->seed = strtoull(arg, NULL, 10); return 0;
    case 'v': options->verbose = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The sanitizers take their time. */
static uint64_t usual_lives(void)
{
    if (__sanitizer_set_death_callback != NULL)
        return 2000;
    return cases_divisor() > 1 ? 10000 : 50000;
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {{"lives", 'n', "N", 0, "Number of files", 0},
                                               {"seed", 's', "N", 0, "Seed of the first", 0},
                                               {"verbose", 'v', NULL, 0, "Describe each", 0},
                                               {0}};
    static const struct argp argp = {.options = known, .parser = parse_option};
    struct options options = {usual_lives(), first_seed(), false};
    bool good = true;
    replay_tool = argv[0];
    replay_way = "--lives=1";
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    replay_catch_crashes();
    setvbuf(stdout, NULL, _IOLBF, 0);
    uint64_t seed = options.seed, end = seed + options.lives;
    while (good && seed < end)
        good = run_life(seed++, options.verbose);
    for (int f = 0; f < FEATURES; f++) {
        printf("# %" PRIu64 " with %s\n", lives_with[f], feature[f]);
        good = good && (options.lives < LEAST_LIVES || lives_with[f] > 0);
    }
    printf("%sok 1 - lives of files\n", good ? "" : "not ");
    printf("1..1\n");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
