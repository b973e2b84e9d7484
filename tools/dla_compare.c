/* SPDX-License-Identifier: BSD-3-Clause */
/* dla compare: places the ranks of one view by every method, and compares the placements. */
#include "dla.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dla_problem.h"
#include "graph.h"
#include "scotch.h"
#include "tool.h"
#include "tool_json.h"

struct compare_options {
    problem_options problem;
    bool json;
};

/* A placement; node is NULL if it was skipped, for the reason `why`. */
struct candidate {
    const char *name, *why;
    size_t *node;
    double seconds;
};

/* MPIPP examines all pairs for each swap. It is skipped if one swap per rank takes longer than some
 * ten seconds, and limited in its number of swaps if all of them would. */
enum { MPIPP_SWAPS_PER_RANK = 20 };
static const double mpipp_pairs = 1e10;

static error_t parse_compare_option(int key, char *arg, struct argp_state *state)
{
    struct compare_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->problem;
        state->child_inputs[1] = &options->json;
        return 0;
    case ARGP_KEY_ARG:
        if (options->problem.spec.file != NULL)
            return tool_refuse_argument(arg, state);
        options->problem.spec.file = tool_copy(arg);
        return 0;
    case ARGP_KEY_END: problem_check_options(&options->problem, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp compare_argp = {
    .parser = parse_compare_option,
    .args_doc = "[FILE]",
    .doc = "Places the ranks of a view file, or of a grid, by every method, and prints weights, "
           "costs and time of each placement.",
    .children = (const struct argp_child[]){{&problem_argp, 0, NULL, 0},
                                            {&tool_json_argp, 0, NULL, 0},
                                            {0}},
};

/* ---- placements ---- */

static struct candidate place_by_mpipp(const problem *p)
{
    struct candidate c = {.name = "mpipp"};
    size_t ranks = p->input.view->rows;
    double swaps = mpipp_pairs / ((double)ranks * (double)ranks + 1),
           most = MPIPP_SWAPS_PER_RANK * (double)ranks;
    if (swaps < (double)ranks) {
        c.why = "too many ranks";
        return c;
    }
    size_t *node = tool_allocate(ranks, sizeof *node);
    double begin = tool_seconds();
    int rc = setmatch_mpipp_from(&p->input, 1, (size_t)(swaps < most ? swaps : most), node);
    c.seconds = tool_seconds() - begin;
    if (rc == 0)
        return c.node = node, c;
    free(node);
    c.why = strerror(-rc);
    return c;
}

static const char *place_graph_by_peer(const problem *p, struct candidate *c)
{
    matrix graph;
    int rc = undirected_graph(p->input.view, &graph);
    if (rc != 0)
        return strerror(-rc);
    size_t *node = tool_allocate(graph.rows, sizeof *node);
    double begin = tool_seconds();
    rc = peer_place(&graph, p->input.nodes, node);
    c->seconds = tool_seconds() - begin;
    matrix_release(&graph);
    if (rc == 0)
        return c->node = node, NULL;
    free(node);
    return "it failed";
}

/* A general partitioner supports equal nodes only, and may exceed their slots slightly. */
static struct candidate place_by_peer(const problem *p)
{
    struct candidate c = {.name = peer_name};
    for (size_t n = 1; n < p->input.nodes; n++)
        if (p->input.slots[n] != p->input.slots[0])
            c.why = "nodes of different slots";
    if (c.why == NULL)
        c.why = place_graph_by_peer(p, &c);
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

static void print_crossing_by_level(const problem *p, const size_t *node)
{
    int64_t *crossing = problem_crossing(p, node);
    for (size_t k = 0; k <= p->input.network->levels; k++)
        printf(" %14" PRId64, crossing[k]);
    free(crossing);
}

static void print_candidate(const problem *p, const struct candidate *c)
{
    if (c->node == NULL) {
        printf("%-13s # %s\n", c->name, c->why);
        return;
    }
    problem_weight r = problem_judge(p, c->node);
    printf("%-13s %12" PRId64 " %12" PRId64 " %12.6g", c->name, r.inside, r.total - r.inside,
           r.cost);
    if (problem_has_bytes(p))
        print_crossing_by_level(p, c->node);
    printf(" %10.6f", c->seconds);
    if (over_slots(p, c->node) > 0)
        printf("  # %zu ranks beyond the slots", over_slots(p, c->node));
    putchar('\n');
}

static void put_candidate(json_writer *w, const problem *p, const struct candidate *c)
{
    json_begin_object(w, NULL);
    json_put_string(w, "method", c->name);
    if (c->node == NULL) {
        json_put_string(w, "skipped", c->why);
    } else {
        problem_put_report(w, p, c->node);
        json_put_size(w, "ranks_beyond_slots", over_slots(p, c->node));
        json_put_real(w, "seconds", c->seconds);
    }
    json_end_object(w);
}

/* Frees the placement. Text is flushed, because later methods may take long. */
static void add_candidate(json_writer *w, const problem *p, struct candidate *c)
{
    if (w != NULL)
        put_candidate(w, p, c);
    else
        print_candidate(p, c);
    fflush(stdout);
    free(c->node);
}

static void print_head(const problem *p)
{
    bool crossing = problem_has_bytes(p);
    printf("# method      weight inside  between      cost (V/P) %s",
           crossing ? "crossing bytes " : "");
    for (size_t k = 1; crossing && k <= p->input.network->levels; k++)
        printf("beyond level %zu ", k);
    printf("seconds\n");
}

/* w: NULL for text. */
static void add_candidates(json_writer *w, const problem *p)
{
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        struct candidate c = {.name = m->name};
        if (m->place == setmatch_mpipp)
            c = place_by_mpipp(p);
        else
            c.node = problem_place(p, m, &c.seconds);
        add_candidate(w, p, &c);
    }
    if (peer_name != NULL) {
        struct candidate c = place_by_peer(p);
        add_candidate(w, p, &c);
    }
}

int dla_compare(int argc, char **argv)
{
    struct compare_options options = {.json = false};
    problem p;
    tool_json json;
    tool_parse(&compare_argp, argc, argv, &options);
    problem_load(&p, &options.problem);
    if (options.json) {
        json_writer *w = tool_json_begin(&json);
        json_begin_array(w, NULL);
        add_candidates(w, &p);
        json_end_array(w);
        tool_json_end(&json);
    } else {
        print_head(&p);
        add_candidates(NULL, &p);
    }
    problem_release(&p, &options.problem);
    return 0;
}
