/* SPDX-License-Identifier: BSD-3-Clause */
#include "tatp_solver.h"

#include <stdint.h>
#include <stdio.h>

#include "lap/lap.h"

static error_t parse_solver_option(int key, char *arg, struct argp_state *state)
{
    const lap_solver **solver = state->input;
    if (key != 's')
        return ARGP_ERR_UNKNOWN;
    *solver = lap_find_solver(arg);
    if (*solver == NULL)
        argp_error(state, "'%s' is not a solver", arg);
    return 0;
}

/* Returns malloc'ed text, which argp frees. */
static char *list_solvers(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *list = NULL;
    size_t length;
    FILE *out = open_memstream(&list, &length);
    if (out == NULL)
        return NULL;
    fprintf(out, "Solvers:\n");
    for (const lap_solver *s = lap_solvers; s->name != NULL; s++)
        fprintf(out, "  %-10s %s\n", s->name, s->note);
    fclose(out);
    return list;
}

const struct argp tatp_solver_argp = {
    .options =
        (const struct argp_option[]){
            {"solver", 's', "NAME", 0, "Solver of the assignment problem", 0}, {0}},
    .parser = parse_solver_option,
    .help_filter = list_solvers,
};
