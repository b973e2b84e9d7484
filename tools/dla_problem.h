/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The placement problem of a command: its options, its input files, and placements of its ranks.
 */
#ifndef TOOLS_DLA_PROBLEM_H
#define TOOLS_DLA_PROBLEM_H

#include <argp.h>

#include "dla/predict.h"
#include "dla/request.h"
#include "json/json.h"
#include "nodes.h"

typedef struct problem_options {
    dla_spec spec;
    const char *hostfile;
    node_list nodes;
} problem_options;

/* Children of a command's argp; their input is a problem_options: --cart, --nodes, --topology, ...;
 * and, for commands that make one placement, --file, --method, --objective, --refine. */
extern const struct argp problem_argp, problem_method_argp;

/* Ends the program after a message if options are missing or exclude each other. */
void problem_check_options(const problem_options *options, const struct argp_state *state);

typedef struct problem {
    dla_data data;
    const node_list *nodes; /* of the options */
    setmatch_input input;   /* points into this struct */
} problem;

/* Reads the files; ends the program after a message if one is unusable. */
void problem_load(problem *p, problem_options *options);
void problem_release(problem *p, problem_options *options);

/* The node of each rank by that method, which the caller frees, and the seconds that it took. Ends
 * the program after a message on failure. */
size_t *problem_place(const problem *p, const setmatch_method *method, double *seconds);

/* Where the options demand no method: replaces a placement by a stock mapping, unless it gains
 * something over that. */
dla_benefit problem_keep_stock(const problem *p, const dla_spec *spec, size_t *node);

/* Of a placement: weights as setmatch_weight, cost as setmatch_cost. Ends the program after a
 * message if sums overflow, as all functions below. */
typedef struct problem_weight {
    int64_t inside, total;
    double cost;
} problem_weight;
problem_weight problem_judge(const problem *p, const size_t *node);

/* Whether the record contains what its calls moved; bytes that they accessed; and those predicted
 * to leave their node [0], and their group of nodes of level k [k], up to input.network->levels,
 * which the caller frees. */
bool problem_has_bytes(const problem *p);
int64_t problem_bytes(const problem *p);
int64_t *problem_crossing(const problem *p, const size_t *node);

/* Writes weight_inside, weight_total, cost and, where the record contains them, the bytes between
 * nodes. */
void problem_put_report(json_writer *w, const problem *p, const size_t *node);

/* Reads a view file; ends the program after a message if it is unusable. */
void problem_read_view(const char *name, view_file *file);

#endif
