/* SPDX-License-Identifier: BSD-3-Clause */
#include "tatp_problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tatp_solver.h"
#include "tool.h"

/* ---- options ---- */

static void check_problem_options(const tatp_problem_options *options, struct argp_state *state)
{
    const tatp_network_options *network = &options->network;
    if (options->requests == NULL)
        argp_error(state, "--requests is needed");
    if (network->distances != NULL && network->topology != NULL)
        argp_error(state, "--distances and --topology exclude each other");
    if (network->distances == NULL && network->hosts == NULL)
        argp_error(state, network->topology != NULL
                              ? "--topology needs --hosts"
                              : "--distances, or --topology with --hosts, is needed");
}

static const plan_strategy *parse_strategy(const char *arg, struct argp_state *state)
{
    const plan_strategy *strategy = plan_find_strategy(arg);
    if (strategy == NULL && strcmp(arg, "all") != 0)
        argp_error(state, "'%s' is not a strategy", arg);
    return strategy;
}

static plan_objective parse_objective(const char *arg, struct argp_state *state)
{
    const plan_objective_name *found = plan_find_objective(arg);
    if (found == NULL)
        argp_error(state, "'%s' is not an objective", arg);
    return found->objective;
}

static error_t parse_problem_option(int key, char *arg, struct argp_state *state)
{
    tatp_problem_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->solver; return 0;
    case 'r': options->requests = arg; return 0;
    case 'b': options->blocks = arg; return 0;
    case 'd': options->network.distances = arg; return 0;
    case 't': options->network.topology = arg; return 0;
    case 'H': options->network.hosts = arg; return 0;
    case 'S': options->strategy = parse_strategy(arg, state); return 0;
    case 'm':
        if (tool_number(arg, 0, SIZE_MAX, &options->per_node) != 0)
            argp_error(state, "'%s' is not a number of domains", arg);
        return 0;
    case 'o': options->objective = parse_objective(arg, state); return 0;
    case ARGP_KEY_ARG: return tool_refuse_argument(arg, state);
    case ARGP_KEY_END: check_problem_options(options, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Returns malloc'ed text, which argp frees. */
static char *list_strategies(int key, const char *text, void *input)
{
    (void)input;
    char *list = NULL;
    size_t length;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    FILE *out = open_memstream(&list, &length);
    if (out == NULL)
        return NULL;
    fprintf(out, "Strategies:\n");
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++)
        fprintf(out, "  %-12s %s\n", s->name, s->note);
    fclose(out);
    return list;
}

const struct argp tatp_problem_argp = {
    .options =
        (const struct argp_option[]){
            {"requests", 'r', "FILE", 0,
             "Bytes that each rank (row) accesses in each domain (column)", 0},
            {"blocks", 'b', "FILE", 0,
             "For latp_count: number of contiguous blocks of each request (default: 1)", 0},
            {"distances", 'd', "FILE", 0, "Hops between ranks or, with --hosts, between nodes", 0},
            {"topology", 't', "FILE", 0,
             "Instead of hops, the network in any format that 'tatp topology' reads", 0},
            {"hosts", 'H', "LIST", 0, "Hosts of the ranks in rank order: n[0-3]:32,login or @FILE",
             0},
            {"strategy", 'S', "NAME", 0, "One strategy (default: all)", 0},
            {"per-node", 'm', "N", 0, "At most N domains per node (default: unlimited)", 0},
            {"objective", 'o', "NAME", 0,
             "What tatp minimises: hopbytes (default), or congestion, the largest load of a link",
             0},
            {0},
        },
    .parser = parse_problem_option,
    .children = (const struct argp_child[]){{&tatp_solver_argp, 0, NULL, 0}, {0}},
    .help_filter = list_strategies,
};

/* ---- files ---- */

static int read_problem_blocks(tatp_problem *p, const tatp_problem_options *options)
{
    int status = tool_read_market(options->blocks, &p->blocks);
    if (status != 0 || (p->blocks.rows == p->requests.rows && p->blocks.cols == p->requests.cols))
        return status;
    return tool_fail("%s: %zu rows and %zu columns, but %s has %zu and %zu", options->blocks,
                     p->blocks.rows, p->blocks.cols, options->requests, p->requests.rows,
                     p->requests.cols);
}

int tatp_problem_read(tatp_problem *p, const tatp_problem_options *options)
{
    *p = (tatp_problem){.requests = {0}};
    int status = tool_read_market(options->requests, &p->requests);
    if (status == 0 && options->blocks != NULL)
        status = read_problem_blocks(p, options);
    if (status == 0)
        status =
            tatp_network_read(&options->network, options->requests, p->requests.rows, &p->network);
    p->in = (plan_input){.requests = &p->requests,
                         .blocks = options->blocks != NULL ? &p->blocks : NULL,
                         .node_of_rank = p->network.node_of_rank,
                         .topology = &p->network.topology,
                         .per_node = options->per_node,
                         .objective = options->objective};
    return status;
}

void tatp_problem_release(tatp_problem *p)
{
    tatp_network_release(&p->network);
    matrix_release(&p->requests);
    matrix_release(&p->blocks);
}

/* ---- results ---- */

double *tatp_problem_workload(const plan_input *in)
{
    size_t numbers;
    if (__builtin_mul_overflow(in->requests->rows, in->requests->cols, &numbers)) {
        tool_fail("the hop-bytes of %zu ranks and %zu domains are too many", in->requests->rows,
                  in->requests->cols);
        return NULL;
    }
    double *workload = tool_allocate(numbers, sizeof *workload);
    int rc = plan_workload(in, workload);
    if (rc == 0)
        return workload;
    free(workload);
    tool_fail("the hop-bytes: %s", strerror(-rc));
    return NULL;
}

void tatp_problem_put_workload(json_writer *w, const double *workload, size_t rows, size_t columns)
{
    json_begin_array(w, "workload");
    for (size_t i = 0; i < rows; i++) {
        json_begin_array(w, NULL);
        for (size_t j = 0; j < columns; j++)
            json_put_real(w, NULL, workload[j * rows + i]);
        json_end_array(w);
    }
    json_end_array(w);
}

void tatp_problem_begin_plan(json_writer *w, const char *key, const char *name,
                             const size_t *rank_of_domain, size_t domains,
                             const plan_report *report)
{
    json_begin_object(w, key);
    json_put_string(w, "name", name);
    json_put_sizes(w, "assignment", rank_of_domain, domains);
    json_put_real(w, "hop_bytes", report->hop_bytes);
    json_put_real(w, "max_link_bytes", report->max_link_bytes);
    json_put_int64(w, "crossing_bytes", report->crossing_bytes);
}
