/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that check random instances of several kinds. */
#ifndef PROPERTY_OPTIONS_H
#define PROPERTY_OPTIONS_H

#include <argp.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What a program checks: `instances` of all kinds together, as long as the environment says nothing
 * else. check: one of a kind; NULL, or what is wrong with it. */
struct property {
    const char *what; /* the program does, for --help */
    uint64_t instances;
    int kinds;
    const char *(*name)(int kind);
    const char *(*check)(int kind, uint64_t seed);
};

/* The exit status. A failure prints the command that repeats it. Of fewer instances than kinds
 * other seeds have other kinds. */
static inline int check_property(int argc, char **argv, const struct property *p)
{
    struct options o = read_options(argc, argv, p->instances, p->what);
    uint64_t kinds = (uint64_t)p->kinds;
    int number = 0, failed = 0;
    for (int k = 0; k < p->kinds; k++) {
        const char *name = p->name(k), *fault = NULL;
        uint64_t each =
            o.kind != NULL ? o.instances : (o.instances + ((uint64_t)k + o.seed) % kinds) / kinds;
        if (each == 0 || (o.kind != NULL && strcmp(o.kind, name) != 0))
            continue;
        for (uint64_t i = 0; i < each && fault == NULL; i++)
            if ((fault = p->check(k, o.seed + i)) != NULL)
                printf("# %s; %s --kind='%s' --seed=%" PRIu64 " --instances=1\n", fault, argv[0],
                       name, o.seed + i);
        printf("%sok %d - %s: %" PRIu64 " instances\n", fault == NULL ? "" : "not ", ++number, name,
               each);
        failed += fault != NULL;
    }
    printf("1..%d\n", number);
    return failed > 0 || number == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
