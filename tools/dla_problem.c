/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be placed where: the options that name it, the files behind them, and the placing. */
#define _GNU_SOURCE /* asprintf */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../orte/mca/rmaps/dla/rmaps_dla_network.h"
#include "dla.h"

/* ---- options ---- */

static void set_item(problem_options *options, const char *key, const char *value,
                     const struct argp_state *state)
{
    char reason[DLA_SPEC_REASON_SIZE], *item;
    if (asprintf(&item, "%s=%s", key, value) < 0)
        exit(tool_fail("out of memory"));
    int rc = dla_spec_set(&options->spec, item, reason);
    free(item);
    if (rc == -ENOMEM)
        exit(tool_fail("out of memory"));
    if (rc != 0)
        argp_error(state, "%s", reason);
}

/* Options that are items of --map-by dla: too are called like them. */
static error_t set_option(const struct argp_option *table, int key, const char *arg,
                          const struct argp_state *state)
{
    for (; table->name != NULL; table++)
        if (table->key == key) {
            set_item(state->input, table->name, arg, state);
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option data_options[] = {
    {"cart", 'c', "AxB[xC...]", 0, "The view of a grid of ranks instead of a file", 0},
    {"order", 'O', "C|Fortran", 0,
     "Which dimension lies closest in the file: the last (C, default) or the first", 0},
    {"nodes", 'n', "NAME[:SLOTS],...", 0,
     "The nodes, as n0:4,n[1-3]:8; 1 slot where none are given", 0},
    {"hostfile", 'H', "FILE", 0, "The nodes, as an Open MPI hostfile", 0},
    {"topology", 'T', "FILE", 0, "The network: what cannot share a node shall share a switch", 0},
    {"bandwidth", 'B', "FILE", 0, "The network, as 'dla pingpong' measured it", 0},
    {"threshold", 't', "PERCENT", 0, "Count values so near the largest (default 10)", 0},
    {"domains", 'd', "DOMAINS", 0,
     "File domains that a profile is placed for: even, fitted or auto (default)", 0},
    {0},
};

static error_t parse_data_option(int key, char *arg, struct argp_state *state)
{
    problem_options *options = state->input;
    switch (key) {
    case 'H':
        if (options->hostfile != NULL)
            argp_error(state, "hostfile is given twice");
        options->hostfile = arg;
        return 0;
    case 'n':
        if (nodes_parse(&options->nodes, arg) != 0)
            exit(TOOL_USAGE);
        return 0;
    default: return set_option(data_options, key, arg, state);
    }
}

const struct argp problem_argp = {.options = data_options, .parser = parse_data_option};

static const struct argp_option method_options[] = {
    {"file", 'f', "FILE", 0, "View file: what was recorded", 0},
    {"method", 'm', "METHOD", 0, "How to place: auto (default), setmatch, ...; see dla(1)", 0},
    {"objective", 'o', "OBJECTIVE", 0, "What shall be least: neighbours, profile or auto (default)",
     0},
    {"refine", 'r', "on|off", 0, "Improve the placement pair by pair of nodes (default on)", 0},
    {0},
};

static error_t parse_method_option(int key, char *arg, struct argp_state *state)
{
    return set_option(method_options, key, arg, state);
}

const struct argp method_argp = {.options = method_options, .parser = parse_method_option};

void check_problem_options(const problem_options *options, const struct argp_state *state)
{
    bool twice;
    if ((options->spec.file != NULL) + (options->spec.cart.ndims > 0) != 1)
        argp_error(state, "one of a view file and --cart is needed");
    if ((options->hostfile != NULL) + (options->nodes.count > 0) != 1)
        argp_error(state, "one of --nodes and --hostfile is needed");
    if (options->spec.has_order && options->spec.cart.ndims == 0)
        argp_error(state, "--order is that of --cart");
    dla_network_file(&options->spec, &twice);
    if (twice)
        argp_error(state, "one of --topology and --bandwidth is too many");
}

void problem_options_release(problem_options *options)
{
    dla_spec_release(&options->spec);
    nodes_release(&options->nodes);
}

/* ---- files ---- */

static int read_view_file(FILE *stream, void *made, matrix_error *error)
{
    return view_file_read(stream, made, error);
}

int read_view(const char *name, view_file *file)
{
    return tool_read(name, read_view_file, file);
}

static int load_view(problem *p, const dla_spec *spec)
{
    const dla_cart *cart = &spec->cart;
    if (spec->file != NULL)
        return read_view(spec->file, &p->file);
    int rc = setmatch_cartesian(cart->dims, cart->ndims, cart->order, &p->file.view);
    return rc == 0 ? 0 : tool_fail("the grid: %s", strerror(-rc));
}

static int load_network(problem *p, const dla_spec *spec)
{
    const dla_nodes nodes = {(const char *const *)p->nodes->name, p->nodes->count};
    matrix_error error;
    bool twice;
    const char *name = dla_network_file(spec, &twice);
    if (name == NULL)
        return 0;
    FILE *stream = tool_open(name);
    if (stream == NULL)
        return TOOL_FAILURE;
    int rc = dla_network_read(spec, stream, &nodes, &p->network, &error);
    fclose(stream);
    if (rc == -EINVAL)
        return tool_fail("%s: nothing was measured", name);
    return rc == 0 ? 0 : tool_fail_reading(name, rc, &error);
}

int problem_load(problem *p, problem_options *options)
{
    const dla_spec *spec = &options->spec;
    *p = (problem){.nodes = &options->nodes};
    int status = options->hostfile != NULL ? nodes_read(&options->nodes, options->hostfile) : 0;
    if (status == 0)
        status = load_view(p, spec);
    if (status == 0)
        status = load_network(p, spec);
    p->profile = (setmatch_profile){p->file.patterns, p->file.bytes};
    p->input = (setmatch_input){
        .view = &p->file.view,
        .slots = p->nodes->slots,
        .nodes = p->nodes->count,
        .network = &p->network,
        .threshold = spec->has_threshold ? spec->threshold : SETMATCH_DEFAULT_THRESHOLD,
        .refine = !spec->has_refine || spec->refine,
        .profile = p->profile.calls > 0 ? &p->profile : NULL,
        .objective = spec->objective,
        .domains = spec->domains,
    };
    if (status == 0 && spec->objective == SETMATCH_OBJECTIVE_PROFILE && p->profile.calls == 0)
        status = tool_fail("%s: there is no profile, which the objective needs",
                           spec->file != NULL ? spec->file : "the grid");
    return status;
}

void problem_release(problem *p)
{
    view_file_release(&p->file);
    setmatch_network_release(&p->network);
}

/* ---- placing ---- */

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t *problem_place(const problem *p, const setmatch_method *method, double *seconds)
{
    size_t *node = tool_allocate(p->input.view->rows, sizeof *node);
    double begun = seconds_now();
    int rc = method->place(&p->input, node);
    *seconds = seconds_now() - begun;
    if (rc == 0)
        return node;
    free(node);
    if (rc == -ENOSPC)
        tool_fail("%zu ranks are more than the nodes have slots", p->input.view->rows);
    else
        tool_fail("placing: %s", strerror(-rc));
    return NULL;
}

int64_t *problem_crossing(const problem *p, const size_t *node)
{
    int64_t *crossing = tool_allocate(p->network.levels + 1, sizeof *crossing);
    int rc = setmatch_crossing_levels(&p->input, node, crossing);
    if (rc != 0)
        exit(tool_fail("the bytes of the profile: %s", strerror(-rc)));
    return crossing;
}

setmatch_report problem_judge(const problem *p, const size_t *node)
{
    setmatch_report report;
    int rc = setmatch_judge(&p->input, node, &report);
    if (rc != 0)
        exit(tool_fail("the weights: %s", strerror(-rc)));
    return report;
}
