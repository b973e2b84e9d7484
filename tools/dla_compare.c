/* SPDX-License-Identifier: BSD-3-Clause */
/* dla compare: every method on one view, and what its placement is worth. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dla.h"
#include "dla_formats.h"
#include "graph.h"
#include "json.h"
#include "scotch.h"

struct compare_options {
    problem_options problem;
    bool json;
};

/* A placement to be compared; node is NULL when there is none, `why` tells. */
struct candidate {
    const char *name, *why;
    size_t *node;
    double seconds;
};

/* MPIPP looks at all pairs for each swap. It is left out where one swap a rank takes longer than
 * some ten seconds, and ends early where all that it may do would. */
enum { MPIPP_SWAPS_A_RANK = 20 };
static const double mpipp_pairs = 1e10;

static error_t parse_compare_option(int key, char *arg, struct argp_state *state)
{
    struct compare_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->problem; return 0;
    case 'j': options->json = true; return 0;
    case ARGP_KEY_ARG:
        if (options->problem.spec.file != NULL)
            return tool_refuse_argument(arg, state);
        options->problem.spec.file = tool_copy(arg);
        return 0;
    case ARGP_KEY_END: check_problem_options(&options->problem, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp compare_argp = {
    .options = (const struct argp_option[]){{"json", 'j', NULL, 0, "Print JSON", 0}, {0}},
    .parser = parse_compare_option,
    .args_doc = "[FILE]",
    .doc = "Places the ranks of a view file, or of a grid, by every method, and tells what each "
           "placement is worth.",
    .children = (const struct argp_child[]){{&problem_argp, 0, NULL, 0}, {0}},
};

/* ---- placements ---- */

static struct candidate by_mpipp(const problem *p)
{
    struct candidate c = {.name = "mpipp"};
    size_t ranks = p->input.view->rows;
    double swaps = mpipp_pairs / ((double)ranks * (double)ranks + 1),
           most = MPIPP_SWAPS_A_RANK * (double)ranks;
    if (swaps < (double)ranks) {
        c.why = "too many ranks";
        return c;
    }
    size_t *node = tool_allocate(ranks, sizeof *node);
    double begun = seconds_now();
    int rc = setmatch_mpipp_from(&p->input, 1, (size_t)(swaps < most ? swaps : most), node);
    c.seconds = seconds_now() - begun;
    if (rc == 0)
        return c.node = node, c;
    free(node);
    c.why = strerror(-rc);
    return c;
}

static const char *place_by_peer(const problem *p, struct candidate *c)
{
    matrix graph;
    if (undirected_graph(p->input.view, &graph) != 0)
        return "out of memory";
    size_t *node = tool_allocate(graph.rows, sizeof *node);
    double begun = seconds_now();
    int rc = peer_place(&graph, p->input.nodes, node);
    c->seconds = seconds_now() - begun;
    matrix_release(&graph);
    if (rc == 0)
        return c->node = node, NULL;
    free(node);
    return "it failed";
}

/* A general partitioner knows of equal nodes only, and keeps to their slots about. */
static struct candidate by_peer(const problem *p)
{
    struct candidate c = {.name = peer_name};
    for (size_t n = 1; n < p->input.nodes; n++)
        if (p->input.slots[n] != p->input.slots[0])
            c.why = "nodes of different slots";
    if (c.why == NULL)
        c.why = place_by_peer(p, &c);
    return c;
}

static size_t over_slots(const problem *p, const size_t *node)
{
    size_t over = 0, *count = tool_allocate(p->input.nodes, sizeof *count);
    for (size_t rank = 0; rank < p->input.view->rows; rank++)
        over += ++count[node[rank]] > p->input.slots[node[rank]];
    free(count);
    return over;
}

/* ---- printing ---- */

/* Bytes that leave their node, and where there are groups of nodes, their group of each level. */
static void print_crossing(const problem *p, const size_t *node)
{
    int64_t *crossing = problem_crossing(p, node);
    for (size_t k = 0; k <= p->network.levels; k++)
        printf(" %14" PRId64, crossing[k]);
    free(crossing);
}

static void print_row(const problem *p, const struct candidate *c, bool crossing)
{
    if (c->node == NULL) {
        printf("%-13s # %s\n", c->name, c->why);
        return;
    }
    setmatch_report r = problem_judge(p, c->node);
    printf("%-13s %12" PRId64 " %12" PRId64 " %12.6g", c->name, r.inside, r.total - r.inside,
           r.cost);
    if (crossing)
        print_crossing(p, c->node);
    printf(" %10.6f", c->seconds);
    if (over_slots(p, c->node) > 0)
        printf("  # %zu ranks beyond the slots", over_slots(p, c->node));
    putchar('\n');
}

static json_t *describe(const problem *p, const struct candidate *c, bool crossing)
{
    json_t *row = json_object();
    json_object_set_new(row, "method", json_string(c->name));
    if (c->node == NULL) {
        json_object_set_new(row, "skipped", json_string(c->why));
        return row;
    }
    setmatch_report r = problem_judge(p, c->node);
    json_object_set_new(row, "weight_inside", json_integer(r.inside));
    json_object_set_new(row, "weight_total", json_integer(r.total));
    json_object_set_new(row, "cost", json_real(r.cost));
    if (crossing) {
        json_object_set_new(row, "crossing_bytes", json_integer(r.crossing));
        json_object_set_new(row, "crossing_by_level", list_crossing(p, c->node));
        json_object_set_new(row, "total_bytes", json_integer(r.bytes));
    }
    json_object_set_new(row, "ranks_beyond_slots",
                        json_integer((json_int_t)over_slots(p, c->node)));
    json_object_set_new(row, "seconds", json_real(c->seconds));
    return row;
}

struct table {
    const problem *problem;
    json_t *rows; /* NULL: text, printed as it comes */
    bool crossing;
};

/* Takes the placement over. */
static void add_row(struct table *t, struct candidate *c)
{
    if (t->rows != NULL)
        json_array_append_new(t->rows, describe(t->problem, c, t->crossing));
    else
        print_row(t->problem, c, t->crossing);
    fflush(stdout);
    free(c->node);
}

static void print_head(const struct table *t)
{
    printf("# method      weight inside  between      cost (V/P) %s",
           t->crossing ? "crossing bytes " : "");
    for (size_t k = 1; t->crossing && k <= t->problem->network.levels; k++)
        printf("beyond level %zu ", k);
    printf("seconds\n");
}

static int add_rows(struct table *t)
{
    if (t->rows == NULL)
        print_head(t);
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        struct candidate c = {.name = m->name};
        if (m->place == setmatch_mpipp)
            c = by_mpipp(t->problem);
        else if ((c.node = problem_place(t->problem, m, &c.seconds)) == NULL)
            return TOOL_FAILURE;
        add_row(t, &c);
    }
    if (peer_name != NULL) {
        struct candidate c = by_peer(t->problem);
        add_row(t, &c);
    }
    return 0;
}

static int compare(const problem *p, bool json)
{
    struct table t = {p, json ? json_array() : NULL, p->profile.calls > 0};
    int status = add_rows(&t);
    if (status == 0 && json)
        return tool_print_json(t.rows);
    json_decref(t.rows);
    return status;
}

int run_compare(int argc, char **argv)
{
    struct compare_options options = {.json = false};
    problem p;
    if (argp_parse(&compare_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = problem_load(&p, &options.problem);
    if (status == 0)
        status = compare(&p, options.json);
    problem_release(&p);
    problem_options_release(&options.problem);
    return status;
}
