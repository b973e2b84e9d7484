/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be planned: the options that name it, the files behind them, and how a plan is told as
 * JSON. */
#ifndef TOOLS_TATP_PROBLEM_H
#define TOOLS_TATP_PROBLEM_H

#include "json.h"
#include "network.h"
#include "plan/plan.h"
#include "tatp.h"

/* As the command line names it. */
typedef struct tatp_problem_options {
    const char *requests, *blocks;
    tatp_places places;
    const plan_strategy *strategy; /* NULL: all */
    size_t per_node;
    plan_objective objective;
    tatp_answer answer;
} tatp_problem_options;

/* A child of a command's argp for --requests, --blocks, --hosts, --strategy, ..., and --solver,
 * which refuses what does not go together; its input is a tatp_problem_options. */
extern const struct argp tatp_problem_argp;

typedef struct tatp_problem {
    matrix requests, blocks;
    tatp_network network;
    plan_input in;
} tatp_problem;

/* Reads the files; 0, or TOOL_FAILURE after a message. Release in both cases. */
int tatp_problem_read(tatp_problem *p, const tatp_problem_options *options);
void tatp_problem_release(tatp_problem *p);

/* Hop-bytes of giving domain j to rank i at [j * ranks + i], to be freed; NULL after a message. */
double *tatp_problem_workload(const plan_input *in);

/* An object with the name, the assignment and what it costs; more may be added. */
json_t *tatp_describe_plan(const char *name, const size_t *rank_of_domain, size_t domains,
                           const plan_report *report);

#endif
