/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "dla_problem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* ---- options ---- */

static void set_spec_item(problem_options *options, const char *key, const char *value,
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

/* Options have the names of the items of --map-by dla: that they set. */
static error_t set_spec_option(const struct argp_option *table, int key, const char *arg,
                               const struct argp_state *state)
{
    for (; table->name != NULL; table++)
        if (table->key == key) {
            set_spec_item(state->input, table->name, arg, state);
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option data_options[] = {
    {"cart", 'c', "AxB[xC...]", 0, "The view of a process grid instead of a file", 0},
    {"order", 'O', "C|Fortran", 0,
     "Dimension that is contiguous in the file: the last (C, default) or the first", 0},
    {"nodes", 'n', "NAME[:SLOTS],...", 0, "The nodes, as n0:4,n[1-3]:8; default 1 slot", 0},
    {"hostfile", 'H', "FILE", 0, "The nodes, as an Open MPI hostfile", 0},
    {"topology", 'T', "FILE", 0,
     "The network: ranks that do not fit on one node are placed under one switch", 0},
    {"bandwidth", 'B', "FILE", 0, "The network, as 'dla pingpong' measured it", 0},
    {"threshold", 't', "PERCENT", 0,
     "Only values at most PERCENT below the largest count (default 10)", 0},
    {"domains", 'd', "DOMAINS", 0,
     "Kind of file domains assumed for a profile: even, fitted or auto (default)", 0},
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
    default: return set_spec_option(data_options, key, arg, state);
    }
}

const struct argp problem_argp = {.options = data_options, .parser = parse_data_option};

static const struct argp_option method_options[] = {
    {"file", 'f', "FILE", 0, "View file, as recorded", 0},
    {"method", 'm', "METHOD", 0, "Placement method: auto (default), setmatch, ...; see dla(1)", 0},
    {"objective", 'o', "OBJECTIVE", 0,
     "Objective to minimise: neighbours, profile or auto (default)", 0},
    {"refine", 'r', "on|off", 0, "Improve the placement pair by pair of nodes (default on)", 0},
    {0},
};

static error_t parse_method_option(int key, char *arg, struct argp_state *state)
{
    return set_spec_option(method_options, key, arg, state);
}

const struct argp problem_method_argp = {.options = method_options, .parser = parse_method_option};

void problem_check_options(const problem_options *options, const struct argp_state *state)
{
    if ((options->spec.file != NULL) + (options->spec.cart.ndims > 0) != 1)
        argp_error(state, "one of a view file and --cart is needed");
    if ((options->hostfile != NULL) + (options->nodes.count > 0) != 1)
        argp_error(state, "one of --nodes and --hostfile is needed");
    if (options->spec.has_choice[DLA_ORDER] && options->spec.cart.ndims == 0)
        argp_error(state, "--order is that of --cart");
    if (options->spec.topology != NULL && options->spec.bandwidth != NULL)
        argp_error(state, "--topology and --bandwidth exclude each other; specify only one");
}

/* ---- files ---- */

static int read_view_stream(FILE *stream, void *object, matrix_error *error)
{
    return view_file_read(stream, object, error);
}

void problem_read_view(const char *name, view_file *file)
{
    tool_read(name, read_view_stream, file);
}

static int fail_slots(size_t ranks)
{
    return tool_fail("%zu ranks are more than the nodes have slots", ranks);
}

/* Before memory is taken for them: an extent may be mistyped. */
static void check_grid(const problem *p, const dla_cart *cart)
{
    size_t ranks = 1, slots = 0;
    for (size_t i = 0; i < cart->ndims; i++)
        ranks *= cart->dims[i];
    for (size_t n = 0; n < p->nodes->count && slots < ranks; n++)
        slots += p->nodes->slots[n] < ranks - slots ? p->nodes->slots[n] : ranks - slots;
    if (slots < ranks)
        exit(fail_slots(ranks));
}

static void load_problem_view(problem *p, const dla_spec *spec)
{
    const dla_cart *cart = &spec->cart;
    if (spec->file != NULL) {
        problem_read_view(spec->file, &p->data.file);
        return;
    }
    check_grid(p, cart);
    int rc = setmatch_cartesian(cart->dims, cart->ndims, (setmatch_order)spec->choice[DLA_ORDER],
                                &p->data.file.view);
    if (rc != 0)
        exit(tool_fail("the grid: %s", strerror(-rc)));
}

static void load_problem_network(problem *p, const dla_spec *spec)
{
    const dla_nodes nodes = {(const char *const *)p->nodes->name, p->nodes->count};
    matrix_error error;
    const char *name = spec->topology != NULL ? spec->topology : spec->bandwidth;
    if (name == NULL)
        return;
    FILE *stream = tool_open(name);
    int rc = dla_network_read(spec, stream, &nodes, &p->data, &error);
    fclose(stream);
    if (rc != 0)
        exit(rc == -EINVAL ? tool_fail("%s: nothing was measured", name)
                           : tool_fail_reading(name, rc, &error));
}

void problem_load(problem *p, problem_options *options)
{
    const dla_spec *spec = &options->spec;
    *p = (problem){.nodes = &options->nodes};
    if (options->hostfile != NULL)
        nodes_read(&options->nodes, options->hostfile);
    load_problem_view(p, spec);
    load_problem_network(p, spec);
    p->data.profile = (setmatch_profile){p->data.file.patterns, p->data.file.bytes};
    p->input = dla_spec_input(spec, &p->data);
    p->input.slots = p->nodes->slots;
    p->input.nodes = p->nodes->count;
    if (p->input.objective == SETMATCH_OBJECTIVE_PROFILE && p->input.profile == NULL)
        exit(tool_fail("%s: there is no profile, which the objective needs",
                       spec->file != NULL ? spec->file : "the grid"));
}

void problem_release(problem *p, problem_options *options)
{
    dla_data_release(&p->data);
    dla_spec_release(&options->spec);
    nodes_release(&options->nodes);
}

/* ---- placements ---- */

size_t *problem_place(const problem *p, const setmatch_method *method, double *seconds)
{
    size_t *node = tool_allocate(p->input.view->rows, sizeof *node);
    const dla_judge judge = {&p->input, &p->data};
    setmatch_input input = p->input;
    input.load = dla_judge_load;
    input.load_context = &judge;
    double begin = tool_seconds();
    int rc = method->place(&input, node);
    *seconds = tool_seconds() - begin;
    if (rc != 0)
        exit(rc == -ENOSPC ? fail_slots(p->input.view->rows)
                           : tool_fail("placing: %s", strerror(-rc)));
    return node;
}

bool problem_has_bytes(const problem *p)
{
    return dla_has_bytes(&p->data.file);
}

int64_t problem_bytes(const problem *p)
{
    int64_t bytes;
    if (dla_recorded_bytes(&p->data.file, &bytes) != 0)
        exit(tool_fail("the bytes of the profile: %s", strerror(ERANGE)));
    return bytes;
}

int64_t *problem_crossing(const problem *p, const size_t *node)
{
    int64_t *crossing = tool_allocate(p->input.network->levels + 1, sizeof *crossing);
    int rc = dla_predict(&p->input, &p->data, node, crossing);
    if (rc != 0)
        exit(tool_fail("the bytes of the profile: %s", strerror(-rc)));
    return crossing;
}

dla_benefit problem_keep_stock(const problem *p, const dla_spec *spec, size_t *node)
{
    dla_benefit benefit = {.kept = DLA_STOCK_NONE};
    double seconds;
    if (!dla_may_keep_stock(spec, p->input.nodes))
        return benefit;
    size_t *by_slot = problem_place(p, setmatch_find_method("byslot"), &seconds);
    size_t *by_node = problem_place(p, setmatch_find_method("bynode"), &seconds);
    int rc = dla_keep_stock(&p->input, &p->data, by_slot, by_node, node, &benefit);
    if (rc != 0)
        exit(tool_fail("comparing with the stock mappings: %s", strerror(-rc)));
    free(by_slot);
    free(by_node);
    return benefit;
}

problem_weight problem_judge(const problem *p, const size_t *node)
{
    problem_weight w;
    int rc = setmatch_weight(p->input.view, node, &w.inside, &w.total);
    if (rc == 0)
        rc = setmatch_cost(&p->input, node, &w.cost);
    if (rc != 0)
        exit(tool_fail("the weights: %s", strerror(-rc)));
    return w;
}

void problem_put_report(json_writer *w, const problem *p, const size_t *node)
{
    problem_weight weight = problem_judge(p, node);
    json_put_int64(w, "weight_inside", weight.inside);
    json_put_int64(w, "weight_total", weight.total);
    json_put_real(w, "cost", weight.cost);
    if (problem_has_bytes(p)) {
        int64_t *by_level = problem_crossing(p, node);
        json_put_int64(w, "crossing_bytes", by_level[0]);
        json_put_int64s(w, "crossing_by_level", by_level, p->input.network->levels + 1);
        json_put_int64(w, "total_bytes", problem_bytes(p));
        free(by_level);
    }
}
