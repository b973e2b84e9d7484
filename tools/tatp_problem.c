/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "tatp_problem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* ---- options ---- */

void tatp_append_choice(char **list, int width, const char *name, const char *note)
{
    char *shorter = *list;
    if (asprintf(list, "%s  %-*s %s\n", shorter, width, name, note) < 0)
        exit(tool_fail("out of memory"));
    free(shorter);
}

static void check_problem_options(const tatp_problem_options *options, struct argp_state *state)
{
    const tatp_network_options *network = &options->network;
    const char *const files[] = {options->requests,  options->blocks,   options->view,
                                 network->distances, network->topology, network->hosts};
    tool_check_input(state, files, sizeof files / sizeof *files);
    if ((options->requests != NULL) + (options->view != NULL) != 1)
        argp_error(state, "one of --requests and --view is needed");
    if (options->view != NULL &&
        (options->blocks != NULL || options->strategy != NULL || options->per_node > 0))
        argp_error(state, "--blocks, --strategy and --per-node are not for --view");
    if (network->distances != NULL && network->topology != NULL)
        argp_error(state, "--distances and --topology exclude each other");
    if (network->distances == NULL && network->hosts == NULL)
        argp_error(state, network->topology != NULL
                              ? "--topology needs --hosts"
                              : "--hosts, as n0:4,n1:4, or --distances between ranks is needed");
}

static error_t parse_problem_option(int key, char *arg, struct argp_state *state)
{
    tatp_problem_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: return 0;
    case 'r': options->requests = arg; return 0;
    case 'b': options->blocks = arg; return 0;
    case 'v': options->view = arg; return 0;
    case 'd': options->network.distances = arg; return 0;
    case 't': options->network.topology = arg; return 0;
    case 'H': options->network.hosts = arg; return 0;
    case 'S':
        options->strategy =
            strcmp(arg, "all") == 0
                ? NULL
                : tool_choose(state, "strategy", arg, plan_strategies, sizeof *plan_strategies);
        return 0;
    case 'm':
        if (tool_number(arg, 0, SIZE_MAX, &options->per_node) != 0)
            argp_error(state, "'%s' is not a number of domains", arg);
        return 0;
    case ARGP_KEY_ARG: return tool_refuse_argument(arg, state);
    case ARGP_KEY_END: check_problem_options(options, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static char *list_strategies(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *list = tool_copy("Strategies:\n");
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++)
        tatp_append_choice(&list, 12, s->name, s->note);
    return list;
}

const struct argp tatp_problem_argp = {
    .options =
        (const struct argp_option[]){
            {"requests", 'r', "FILE", 0,
             "Bytes that each rank (row) accesses in each domain (column)", 0},
            {"blocks", 'b', "FILE", 0,
             "For latp_count: number of contiguous blocks of each request (default: 1)", 0},
            {"view", 'v', "FILE", 0,
             "In place of requests, the calls that --mca fcoll_tatp_record has recorded", 0},
            {"distances", 'd', "FILE", 0, "Hops between ranks or, with --hosts, between nodes", 0},
            {"topology", 't', "FILE", 0,
             "Instead of hops, the network in any format that 'tatp topology' reads", 0},
            {"hosts", 'H', "LIST", 0, "Hosts of the ranks in rank order: n[0-3]:32,login or @FILE",
             0},
            {"strategy", 'S', "NAME", 0, "One strategy (default: all)", 0},
            {"per-node", 'm', "N", 0, "At most N domains per node (default: unlimited)", 0},
            {0},
        },
    .parser = parse_problem_option,
    .help_filter = list_strategies,
};

/* ---- files ---- */

static int read_market_matrix(FILE *stream, void *object, matrix_error *error)
{
    return matrix_read_market(stream, object, NULL, error);
}

/* Of the shape of C. */
static void read_blocks(tatp_problem *p, const tatp_problem_options *options)
{
    const matrix *m = &p->blocks;
    tool_read(options->blocks, read_market_matrix, &p->blocks);
    if (m->rows != p->requests.rows || m->cols != p->requests.cols)
        exit(tool_fail("%s: %zu rows and %zu columns, but %s has %zu and %zu", options->blocks,
                       m->rows, m->cols, options->requests, p->requests.rows, p->requests.cols));
}

void tatp_problem_read(tatp_problem *p, const tatp_problem_options *options)
{
    *p = (tatp_problem){.requests = {0}};
    tool_read(options->requests, read_market_matrix, &p->requests);
    if (options->blocks != NULL)
        read_blocks(p, options);
    tatp_network_read(&options->network, options->requests, p->requests.rows, &p->network);
    p->in = (plan_input){.requests = &p->requests,
                         .blocks = options->blocks != NULL ? &p->blocks : NULL,
                         .node_of_rank = p->network.node_of_rank,
                         .topology = &p->network.topology,
                         .per_node = options->per_node};
}

void tatp_problem_release(tatp_problem *p)
{
    tatp_network_release(&p->network);
    matrix_release(&p->requests);
    matrix_release(&p->blocks);
}

/* ---- results ---- */

/* Of a topology that is not a tree, one switch is above all nodes. */
void tatp_problem_put_tree(json_writer *w, const topo *t)
{
    bool is_tree = t->tree.vertices > 0;
    size_t vertices = is_tree ? t->tree.vertices : t->nodes + 1;
    json_put_bool(w, "is_tree", is_tree);
    json_begin_array(w, "parent");
    for (size_t v = 0; v < vertices; v++)
        json_put_size(w, NULL, is_tree ? t->tree.parent[v] : t->nodes);
    json_end_array(w);
    json_begin_array(w, "cables");
    for (size_t v = 0; v < vertices; v++)
        json_put_size(w, NULL, is_tree ? t->tree.width[v] : v < t->nodes);
    json_end_array(w);
}

void tatp_problem_put_loads(json_writer *w, const plan_input *in, const size_t *rank_of_domain)
{
    plan_loads loads;
    int rc = plan_load_links(in, rank_of_domain, &loads);
    if (rc != 0)
        exit(tool_fail("the loads of links: %s", strerror(-rc)));
    json_put_reals(w, "up", loads.up, loads.vertices);
    json_put_reals(w, "down", loads.down, loads.vertices);
    plan_release_loads(&loads);
}

void tatp_problem_begin_plan(json_writer *w, const char *key, const char *name,
                             const size_t *rank_of_domain, size_t domains,
                             const plan_report *report)
{
    json_begin_object(w, key);
    json_put_string(w, "name", name);
    if (rank_of_domain == NULL && domains > 0) {
        json_put_null(w, "assignment");
        json_put_null(w, "hop_bytes");
        json_put_null(w, "max_link_bytes");
        json_put_null(w, "crossing_bytes");
        return;
    }
    json_put_sizes(w, "assignment", rank_of_domain, domains);
    json_put_real(w, "hop_bytes", report->hop_bytes);
    json_put_real(w, "max_link_bytes", report->max_link_bytes);
    json_put_int64(w, "crossing_bytes", report->crossing_bytes);
}
