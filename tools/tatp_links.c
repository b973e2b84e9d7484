/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp links: the load of each link under every strategy, and under a given assignment, as JSON. */
#define _DEFAULT_SOURCE /* strsep */
#include "tatp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tatp_problem.h"
#include "tatp_view.h"
#include "tool.h"
#include "tool_json.h"

struct links_options {
    tatp_problem_options problem;
    const char *given;
    bool workload, by_node;
};

static error_t parse_links_option(int key, char *arg, struct argp_state *state)
{
    struct links_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->problem; return 0;
    case 'a': options->given = arg; return 0;
    case 'w':
        options->workload = true;
        options->by_node = strcmp(arg, "node") == 0;
        if (!options->by_node && strcmp(arg, "rank") != 0)
            argp_error(state, "hop-bytes are those of each 'rank' or 'node', not '%s'", arg);
        return 0;
    case ARGP_KEY_END:
        if (options->problem.view != NULL && (options->given != NULL || options->workload))
            argp_error(state, "--aggregators and --workload are not for --view");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp links_argp = {
    .options =
        (const struct argp_option[]){
            {"aggregators", 'a', "N,N,...", 0, "Also for these ranks as owners of the domains", 0},
            {"workload", 'w', "rank|node", 0,
             "Also the hop-bytes if each rank, or the best rank of each node, owns each domain", 0},
            {0},
        },
    .parser = parse_links_option,
    .children = (const struct argp_child[]){{&tatp_problem_argp, 0, NULL, 0}, {0}},
    .doc = "Prints the load of each link of the network under each strategy for file domains, as "
           "JSON.",
};

/* ---- the network ---- */

/* As in plan_loads: of a topology that is not a tree, one switch is above all nodes. */
static void put_tree(json_writer *w, const topo *t)
{
    bool is_tree = t->tree.vertices > 0;
    size_t vertices = is_tree ? t->tree.vertices : t->nodes + 1;
    json_put_size(w, "nodes", t->nodes);
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

/* ---- hop-bytes ---- */

/* The least hop-bytes of the ranks of each node, column-major as the workload. */
static double *find_least_of_nodes(const plan_input *in, const double *workload)
{
    size_t rows = in->requests->rows, cols = in->requests->cols, nodes = in->topology->nodes;
    double *least = tool_allocate(nodes, cols * sizeof *least);
    for (size_t i = 0; i < nodes * cols; i++)
        least[i] = HUGE_VAL;
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) {
            double *entry = &least[j * nodes + in->node_of_rank[i]];
            *entry = fmin(*entry, workload[j * rows + i]);
        }
    return least;
}

static void put_links_workload(json_writer *w, const plan_input *in, bool by_node)
{
    double *workload = tatp_problem_workload(in);
    size_t rows = in->requests->rows;
    if (by_node) {
        double *least = find_least_of_nodes(in, workload);
        free(workload);
        workload = least;
        rows = in->topology->nodes;
    }
    tatp_problem_put_workload(w, workload, rows, in->requests->cols);
    free(workload);
}

/* ---- assignments ---- */

static void put_loads(json_writer *w, const char *key, const char *name, const plan_input *in,
                      const size_t *rank_of_domain)
{
    plan_report report;
    plan_loads loads;
    int rc = plan_assess(in, rank_of_domain, &report);
    if (rc == 0)
        rc = plan_load_links(in, rank_of_domain, &loads);
    if (rc != 0)
        exit(tool_fail("%s: %s", name, strerror(-rc)));
    tatp_problem_begin_plan(w, key, name, rank_of_domain, in->requests->cols, &report);
    json_put_reals(w, "up", loads.up, loads.vertices);
    json_put_reals(w, "down", loads.down, loads.vertices);
    json_end_object(w);
    plan_release_loads(&loads);
}

/* -EINVAL: more domains than ranks, where the rows of requests are sums over the ranks of a node.
 * Then there is only the given assignment. */
static void put_strategies(json_writer *w, const struct links_options *options,
                           const plan_input *in, size_t *rank_of_domain)
{
    json_begin_array(w, "strategies");
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++) {
        if (options->problem.strategy != NULL && options->problem.strategy != s)
            continue;
        int rc = s->assign(in, rank_of_domain);
        if (rc == 0)
            put_loads(w, NULL, s->name, in, rank_of_domain);
        else if (rc != -EINVAL)
            exit(tool_fail("%s: %s", s->name, strerror(-rc)));
    }
    json_end_array(w);
}

static void parse_aggregators(const char *text, size_t ranks, size_t domains,
                              size_t *rank_of_domain)
{
    char *list = tool_copy(text), *rest = list, *item;
    size_t count = 0;
    while ((item = strsep(&rest, ",")) != NULL && count < domains)
        if (tool_number(item, 0, ranks - 1, &rank_of_domain[count++]) != 0)
            break;
    if (item != NULL || count != domains)
        exit(tool_fail("--aggregators: %zu ranks below %zu are wanted, one for each domain",
                       domains, ranks));
    free(list);
}

/* ---- the command ---- */

static void print_links(const struct links_options *options, const plan_input *in)
{
    size_t *rank_of_domain = tool_allocate(in->requests->cols, sizeof *rank_of_domain);
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_begin_object(w, NULL);
    put_tree(w, in->topology);
    if (options->workload)
        put_links_workload(w, in, options->by_node);
    put_strategies(w, options, in, rank_of_domain);
    if (options->given != NULL) {
        parse_aggregators(options->given, in->requests->rows, in->requests->cols, rank_of_domain);
        put_loads(w, "given", "given", in, rank_of_domain);
    }
    json_end_object(w);
    free(rank_of_domain);
    tool_json_end(&json);
}

static int print_view_links(const struct links_options *options)
{
    tatp_view view;
    tool_json json;
    tatp_view_read(&view, &options->problem);
    json_writer *w = tool_json_begin(&json);
    json_begin_object(w, NULL);
    put_tree(w, &view.network.topology);
    tatp_view_put(w, &view, true);
    json_end_object(w);
    tool_json_end(&json);
    tatp_view_release(&view);
    return 0;
}

int tatp_links(int argc, char **argv)
{
    struct links_options options = {.problem.view = NULL};
    tatp_problem problem;
    tool_parse(&links_argp, argc, argv, &options);
    if (options.problem.view != NULL)
        return print_view_links(&options);
    tatp_problem_read(&problem, &options.problem);
    print_links(&options, &problem.in);
    tatp_problem_release(&problem);
    return 0;
}
