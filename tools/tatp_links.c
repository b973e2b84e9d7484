/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp links: what every strategy, and a given assignment, loads on each link of the network, as
 * JSON. */
#define _DEFAULT_SOURCE /* strsep */
#include "tatp_problem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

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
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp links_argp = {
    .options =
        (const struct argp_option[]){
            {"aggregators", 'a', "N,N,...", 0, "Also with these ranks for the domains", 0},
            {"workload", 'w', "rank|node", 0,
             "Also the hop-bytes of giving each domain to each rank, or to the best rank of each "
             "node",
             0},
            {0},
        },
    .parser = parse_links_option,
    .children = (const struct argp_child[]){{&tatp_problem_argp, 0, NULL, 0}, {0}},
    .doc = "Prints what each strategy for file domains loads on each link of the network, as JSON.",
};

/* ---- the network ---- */

/* As the loads have them: of a topology that is no tree one switch is above all nodes. */
static json_t *describe_tree(const topo *t)
{
    bool is_tree = t->tree.vertices > 0;
    size_t vertices = is_tree ? t->tree.vertices : t->nodes + 1;
    json_t *parent = json_array(), *cables = json_array();
    for (size_t v = 0; v < vertices; v++) {
        json_array_append_new(parent,
                              json_integer((json_int_t)(is_tree ? t->tree.parent[v] : t->nodes)));
        json_array_append_new(
            cables, json_integer((json_int_t)(is_tree ? t->tree.width[v] : v < t->nodes)));
    }
    return json_pack("{s:I, s:b, s:o, s:o}", "nodes", (json_int_t)t->nodes, "is_tree", is_tree,
                     "parent", parent, "cables", cables);
}

/* ---- hop-bytes ---- */

/* Of a node's ranks the one to which the domain costs least; laid out as the workload. */
static double *least_of_nodes(const plan_input *in, const double *workload)
{
    size_t rows = in->requests->rows, cols = in->requests->cols, nodes = in->topology->nodes;
    double *least = tool_allocate(nodes * cols, sizeof *least);
    for (size_t i = 0; i < nodes * cols; i++)
        least[i] = HUGE_VAL;
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) {
            double *place = &least[j * nodes + in->node_of_rank[i]];
            *place = fmin(*place, workload[j * rows + i]);
        }
    return least;
}

static int add_workload(json_t *all, const plan_input *in, bool by_node)
{
    double *workload = tatp_problem_workload(in);
    if (workload == NULL)
        return TOOL_FAILURE;
    size_t rows = in->requests->rows;
    if (by_node) {
        double *least = least_of_nodes(in, workload);
        free(workload);
        workload = least;
        rows = in->topology->nodes;
    }
    json_object_set_new(all, "workload", tool_json_rows(workload, rows, in->requests->cols));
    free(workload);
    return 0;
}

/* ---- assignments ---- */

/* NULL after a message. */
static json_t *describe_loads(const plan_input *in, const char *name, const size_t *rank_of_domain)
{
    plan_report report;
    plan_loads loads;
    int rc = plan_assess(in, rank_of_domain, &report);
    if (rc == 0)
        rc = plan_load_links(in, rank_of_domain, &loads);
    if (rc != 0) {
        tool_fail("%s: %s", name, strerror(-rc));
        return NULL;
    }
    json_t *plan = tatp_describe_plan(name, rank_of_domain, in->requests->cols, &report);
    json_object_set_new(plan, "up", tool_json_reals(loads.up, loads.vertices));
    json_object_set_new(plan, "down", tool_json_reals(loads.down, loads.vertices));
    plan_release_loads(&loads);
    return plan;
}

/* Where domains outnumber ranks, rows may be nodes that were summed up: then there is no assignment
 * but the given one. */
static int add_strategies(json_t *all, const struct links_options *options, const plan_input *in,
                          size_t *rank_of_domain)
{
    json_t *list = json_array();
    json_object_set_new(all, "strategies", list);
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++) {
        if (options->problem.strategy != NULL && options->problem.strategy != s)
            continue;
        int rc = s->assign(in, options->problem.answer.solver, rank_of_domain);
        if (rc == -EINVAL)
            continue;
        if (rc != 0)
            return tool_fail("%s: %s", s->name, strerror(-rc));
        if (json_array_append_new(list, describe_loads(in, s->name, rank_of_domain)) != 0)
            return TOOL_FAILURE;
    }
    return 0;
}

static int parse_given(const char *text, size_t ranks, size_t domains, size_t *rank_of_domain)
{
    char *list = tool_copy(text), *rest = list, *item;
    size_t count = 0;
    while ((item = strsep(&rest, ",")) != NULL && count < domains)
        if (tool_number(item, 0, ranks - 1, &rank_of_domain[count++]) != 0)
            break;
    bool right = item == NULL && count == domains;
    free(list);
    return right ? 0
                 : tool_fail("--aggregators: %zu ranks below %zu are wanted, one for each domain",
                             domains, ranks);
}

static int add_given(json_t *all, const char *list, const plan_input *in, size_t *rank_of_domain)
{
    int status = parse_given(list, in->requests->rows, in->requests->cols, rank_of_domain);
    if (status == 0 &&
        json_object_set_new(all, "given", describe_loads(in, "given", rank_of_domain)) != 0)
        status = TOOL_FAILURE;
    return status;
}

/* ---- the command ---- */

static int links(const struct links_options *options, const plan_input *in)
{
    size_t *rank_of_domain = tool_allocate(in->requests->cols, sizeof *rank_of_domain);
    json_t *all = describe_tree(in->topology);
    int status = options->workload ? add_workload(all, in, options->by_node) : 0;
    if (status == 0)
        status = add_strategies(all, options, in, rank_of_domain);
    if (status == 0 && options->given != NULL)
        status = add_given(all, options->given, in, rank_of_domain);
    free(rank_of_domain);
    if (status == 0)
        return tool_print_json(all);
    json_decref(all);
    return status;
}

int run_links(int argc, char **argv)
{
    struct links_options options = {.problem.answer.solver = lap_solvers};
    tatp_problem problem;
    if (argp_parse(&links_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = tatp_problem_read(&problem, &options.problem);
    if (status == 0)
        status = links(&options, &problem.in);
    tatp_problem_release(&problem);
    return status;
}
