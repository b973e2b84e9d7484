/* SPDX-License-Identifier: BSD-3-Clause */
/* dla map: one placement, in the format of a launcher. */
#include "dla.h"

#include <stdlib.h>
#include <string.h>

#include "dla_formats.h"
#include "tool.h"

struct map_options {
    problem_options problem;
    const placement_format *format;
};

static void parse_placement_format(struct map_options *options, const char *arg,
                                   struct argp_state *state)
{
    for (options->format = placement_formats; options->format->name != NULL; options->format++)
        if (strcmp(options->format->name, arg) == 0)
            return;
    argp_error(state, "'%s' is not a format: table, json, rankfile, hostfile, slurm or cray", arg);
}

static error_t parse_map_option(int key, char *arg, struct argp_state *state)
{
    struct map_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &options->problem;
        return 0;
    case 'F': parse_placement_format(options, arg, state); return 0;
    case ARGP_KEY_ARG: return tool_refuse_argument(arg, state);
    case ARGP_KEY_END: problem_check_options(&options->problem, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp map_argp = {
    .options =
        (const struct argp_option[]){
            {"format", 'F', "FORMAT", 0, "table (default), json, rankfile, hostfile, slurm or cray",
             0},
            {0},
        },
    .parser = parse_map_option,
    .doc = "Places ranks on nodes so that ranks that access neighbouring regions of a file share a "
           "node.",
    .children = (const struct argp_child[]){{&problem_method_argp, 0, NULL, 0},
                                            {&problem_argp, 0, NULL, 0},
                                            {0}},
};

static int print_map(const problem *p, const struct map_options *options)
{
    const setmatch_method *method = &setmatch_methods[options->problem.spec.choice[DLA_METHOD]];
    placement placed = {.problem = p, .method = method};
    placed.node = problem_place(p, method, &placed.seconds);
    if (placed.node == NULL)
        return TOOL_FAILURE;
    int status = options->format->print(&placed);
    free(placed.node);
    return status;
}

int dla_map(int argc, char **argv)
{
    struct map_options options = {.format = placement_formats};
    problem p;
    if (argp_parse(&map_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = problem_load(&p, &options.problem);
    if (status == 0)
        status = print_map(&p, &options);
    problem_release(&p);
    problem_options_release(&options.problem);
    return status;
}
