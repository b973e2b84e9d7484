/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the programs that check random instances of several kinds. */
#ifndef PROPERTY_OPTIONS_H
#define PROPERTY_OPTIONS_H

#include <argp.h>
#include <stdint.h>
#include <stdlib.h>

#include "../unit/seeded.h"

struct options {
    uint64_t instances, seed;
    const char *kind; /* NULL: all */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n': options->instances = strtoull(arg, NULL, 10); return 0;
    case 's': options->seed = strtoull(arg, NULL, 10); return 0;
    case 'k': options->kind = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* `instances`: how many it usually takes. `what` is what the program does, for --help. Ends the
 * program when the options are wrong. */
static inline struct options read_options(int argc, char **argv, uint64_t instances,
                                          const char *what)
{
    static const struct argp_option table[] = {
        {"instances", 'n', "N", 0, "Instances in all", 0},
        {"seed", 's', "S", 0, "Seed of the first instance of each kind (1, or of TEST_SEED)", 0},
        {"kind", 'k', "NAME", 0, "Only this kind", 0},
        {0},
    };
    struct options options = {random_cases(instances), first_seed(), NULL};
    struct argp argp = {table, parse_option, NULL, what, NULL, NULL, NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return options;
}

#endif
