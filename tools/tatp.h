/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of tatp, a file each, and what they share. */
#ifndef TOOLS_TATP_H
#define TOOLS_TATP_H

#include <argp.h>
#include <stdbool.h>

#include "lap/lap.h"
#include "topo/topo.h"

/* Each returns the exit status. */
int run_assign(int argc, char **argv);   /* solves an assignment problem */
int run_links(int argc, char **argv);    /* what each strategy loads on each link, for programs */
int run_plan(int argc, char **argv);     /* which rank serves which file domain */
int run_report(int argc, char **argv);   /* statistics as a page */
int run_topology(int argc, char **argv); /* what a description of a network says */

/* How an answer is found and told. */
typedef struct tatp_answer {
    const lap_solver *solver;
    bool json;
} tatp_answer;

/* A child of a command's argp for --solver, with the list of solvers at the end of --help; its
 * input is a tatp_answer. */
extern const struct argp tatp_solver_argp;

/* The same for --json. */
extern const struct argp tatp_json_argp;

/* Seconds on a clock that only goes on. */
double tatp_seconds(void);

/* Reads a file of a network. Returns 0, or TOOL_FAILURE after a message. */
int tatp_read_fabric(const char *file, topo_fabric **fabric);

#endif
