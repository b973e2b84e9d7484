/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands of dla, and what they share: options, view files, nodes, JSON.
 */
#ifndef TOOLS_DLA_H
#define TOOLS_DLA_H

#include "../orte/mca/rmaps/dla/rmaps_dla_spec.h"
#include "matrix/view_file.h"
#include "nodes.h"
#include "setmatch/setmatch.h"
#include "tool.h"

int run_map(int argc, char **argv);
int run_show(int argc, char **argv);
int run_compare(int argc, char **argv);
int run_convert(int argc, char **argv);
int run_pingpong(int argc, char **argv);

/* ---- what is to be placed where (dla_problem.c) ---- */

/* As the command line names it. */
typedef struct problem_options {
    dla_spec spec;
    const char *hostfile;
    node_list nodes;
} problem_options;

/* For argp's children, with problem_options as input: --cart, --nodes, --topology, ...; and, where
 * one placement is asked for, --file, --method, --objective, --refine. */
extern const struct argp problem_argp, method_argp;

/* Refuses, as argp does, what does not go together. */
void check_problem_options(const problem_options *options, const struct argp_state *state);

typedef struct problem {
    view_file file;
    setmatch_profile profile; /* calls is 0 when there is none */
    setmatch_network network;
    const node_list *nodes;
    setmatch_input input;
} problem;

/* Reads the files; 0, or TOOL_FAILURE after a message. Release in both cases. */
int problem_load(problem *p, problem_options *options);
void problem_release(problem *p);
void problem_options_release(problem_options *options);

/* The node of each rank by that method, to be freed, and the seconds that took; NULL after a
 * message. */
size_t *problem_place(const problem *p, const setmatch_method *method, double *seconds);

/* What a placement is worth; ends the program after a message when sums overflow. */
setmatch_report problem_judge(const problem *p, const size_t *node);

/* Bytes of the profile, which there must be, by what they leave: their node, their group of the
 * first level, ...; to be freed. */
int64_t *problem_crossing(const problem *p, const size_t *node);

/* Reads a view file; 0, or TOOL_FAILURE after a message. */
int read_view(const char *name, view_file *file);

double seconds_now(void);

#endif
