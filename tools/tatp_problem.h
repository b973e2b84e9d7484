/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The planning problem of a command: its options, its input files, and a plan as JSON.
 */
#ifndef TOOLS_TATP_PROBLEM_H
#define TOOLS_TATP_PROBLEM_H

#include <argp.h>

#include "json/json.h"
#include "plan/plan.h"
#include "tatp_network.h"

typedef struct tatp_problem_options {
    const char *requests, *blocks, *view; /* one of requests and view */
    tatp_network_options network;
    const plan_strategy *strategy; /* NULL for all */
    size_t per_node;
} tatp_problem_options;

/* Appends a line for one value of an option to malloc'ed text, for the end of --help. */
void tatp_append_choice(char **list, int width, const char *name, const char *note);

/* A child of a command's argp for --requests, --blocks, --hosts, --strategy, ...; it
 * rejects options that exclude each other. Its input is a tatp_problem_options. */
extern const struct argp tatp_problem_argp;

typedef struct tatp_problem {
    matrix requests, blocks;
    tatp_network network;
    plan_input in;
} tatp_problem;

/* Reads the files; ends the program after a message if one is unusable. */
void tatp_problem_read(tatp_problem *p, const tatp_problem_options *options);
void tatp_problem_release(tatp_problem *p);

/* The tree of links, as members of an open object; see plan_loads. */
void tatp_problem_put_tree(json_writer *w, const topo *topology);

/* The load of each link, as members of an open object. Ends the program after a message on failure.
 */
void tatp_problem_put_loads(json_writer *w, const plan_input *in, const size_t *rank_of_domain);

/* Begins an object in an array or with a key (else NULL) and writes the name, the assignment and
 * its costs, or nulls for domains without one (NULL). The caller may add members, and ends it. */
void tatp_problem_begin_plan(json_writer *w, const char *key, const char *name,
                             const size_t *rank_of_domain, size_t domains,
                             const plan_report *report);

/* In place of a problem, the recorded calls of the view file of the options, with the file domains
 * and aggregators that fcoll/tatp would choose for them on the given nodes: prints a table with a
 * row for each pattern or, as JSON, also the load of each link. Returns the exit status; ends the
 * program after a message if a file is unusable. (tatp_view.c) */
int tatp_plan_view(const tatp_problem_options *options, bool json);

#endif
