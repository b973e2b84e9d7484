/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp: solves assignment problems, and plans which rank serves which file domain as the
 * fcoll/tatp component does. */
#include "tatp.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "tool.h"

const char *argp_program_version = "tatp (" PACKAGE_STRING ")";

/* ---- --solver and --json ---- */

static error_t parse_solver(int key, char *arg, struct argp_state *state)
{
    tatp_answer *answer = state->input;
    if (key != 's')
        return ARGP_ERR_UNKNOWN;
    answer->solver = lap_find_solver(arg);
    if (answer->solver == NULL)
        argp_error(state, "'%s' is not a solver", arg);
    return 0;
}

/* Closes --help with the table of solvers. */
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
    .parser = parse_solver,
    .help_filter = list_solvers,
};

static error_t parse_json(int key, char *arg, struct argp_state *state)
{
    tatp_answer *answer = state->input;
    (void)arg;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    answer->json = true;
    return 0;
}

const struct argp tatp_json_argp = {
    .options = (const struct argp_option[]){{"json", 'j', NULL, 0, "Print JSON", 0}, {0}},
    .parser = parse_json,
};

/* ---- what commands share ---- */

double tatp_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int read_fabric(FILE *stream, void *made, matrix_error *error)
{
    return topo_fabric_read(stream, made, error);
}

int tatp_read_fabric(const char *file, topo_fabric **fabric)
{
    return tool_read(file, read_fabric, fabric);
}

int main(int argc, char **argv)
{
    static const tool_command commands[] = {{"assign", run_assign},     {"plan", run_plan},
                                            {"links", run_links},       {"report", run_report},
                                            {"topology", run_topology}, {NULL, NULL}};
    return tool_run(commands,
                    "Assigns file domains to ranks by the network's topology.\v"
                    "Commands:\n"
                    "  assign    solve an assignment problem\n"
                    "  links     print what each strategy loads on each link, for programs\n"
                    "  plan      plan which rank serves which file domain\n"
                    "  report    draw the statistics of a run as a page\n"
                    "  topology  print what a file says about the network\n"
                    "'tatp COMMAND --help' lists the options of a command.",
                    argc, argv);
}
