/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp plan: which rank owns which file domain, and what that loads on the links. */
#define _DEFAULT_SOURCE /* strsep */
#include "tatp.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tatp_problem.h"
#include "tool.h"
#include "tool_json.h"

/* A larger matrix of hop-bytes is printed with --workload only. */
#define MOST_HOP_BYTES ((size_t)1 << 20)

struct plan_options {
    tatp_problem_options problem;
    const char *aggregators;
    bool json, quiet, by_node, wants_workload;
};

/* One strategy's plan. */
struct outcome {
    const plan_strategy *strategy;
    size_t *rank_of_domain; /* NULL if there is no plan */
    plan_report report;
    double seconds;
};

struct planning {
    const struct plan_options *options;
    plan_input in;
    double *workload; /* NULL if it is not printed */
    struct outcome *outcome;
    size_t outcomes;
};

/* ---- options ---- */

static error_t parse_plan_option(int key, char *arg, struct argp_state *state)
{
    struct plan_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->problem;
        state->child_inputs[1] = &options->json;
        return 0;
    case 'q': options->quiet = true; return 0;
    case 'g': options->aggregators = arg; return 0;
    case 'w':
        options->wants_workload = true;
        options->by_node = strcmp(arg, "node") == 0;
        if (!options->by_node && strcmp(arg, "rank") != 0)
            argp_error(state, "hop-bytes are those of each 'rank' or 'node', not '%s'", arg);
        return 0;
    case ARGP_KEY_END:
        if (options->problem.view != NULL && options->aggregators != NULL)
            argp_error(state, "--aggregators is not for --view");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp plan_argp = {
    .options =
        (const struct argp_option[]){
            {"quiet", 'q', NULL, 0, "Do not print the hop-bytes of every rank and domain", 0},
            {"aggregators", 'g', "N,N,...", 0,
             "With --json: also for these ranks as owners of the domains", 0},
            {"workload", 'w', "rank|node", 0,
             "With --json: hop-bytes of each rank, the default, or of the best rank of each node",
             0},
            {0},
        },
    .parser = parse_plan_option,
    .children = (const struct argp_child[]){{&tatp_problem_argp, 0, NULL, 0},
                                            {&tool_json_argp, 0, NULL, 0},
                                            {0}},
    .doc = "Plans which rank owns which file domain.",
};

/* ---- planning ---- */

static int report_infeasible(const struct planning *p)
{
    size_t domains = p->in.requests->cols, ranks = p->in.requests->rows;
    if (domains > ranks)
        tool_fail("%s: no plan: %zu domains for %zu ranks, which own at most one each",
                  p->options->problem.requests, domains, ranks);
    else
        tool_fail("%s: no plan: with --per-node=%zu the %zu nodes cannot own %zu domains: write "
                  "--per-node=%zu or more",
                  p->options->problem.requests, p->in.per_node, p->in.topology->nodes, domains,
                  (domains + p->in.topology->nodes - 1) / p->in.topology->nodes);
    return TOOL_INFEASIBLE;
}

static void make_outcome(struct planning *p, const plan_strategy *strategy)
{
    struct outcome *o = &p->outcome[p->outcomes++];
    *o = (struct outcome){.strategy = strategy};
    o->rank_of_domain = tool_allocate(p->in.requests->cols, sizeof *o->rank_of_domain);
    double begin = tool_seconds();
    int rc = strategy->assign(&p->in, o->rank_of_domain);
    o->seconds = tool_seconds() - begin;
    if (rc == 0)
        rc = plan_assess(&p->in, o->rank_of_domain, &o->report);
    if (rc != 0 && rc != -EINVAL)
        exit(tool_fail("%s: %s", strategy->name, strerror(-rc)));
    if (rc == 0)
        return;
    free(o->rank_of_domain);
    o->rank_of_domain = NULL;
}

/* Hop-bytes if rank i owns domain j at [j * ranks + i]; the caller frees them. Ends the program
 * after a message on failure. */
static double *compute_workload(const plan_input *in)
{
    size_t numbers;
    if (__builtin_mul_overflow(in->requests->rows, in->requests->cols, &numbers))
        exit(tool_fail("the hop-bytes of %zu ranks and %zu domains are too many",
                       in->requests->rows, in->requests->cols));
    double *workload = tool_allocate(numbers, sizeof *workload);
    int rc = plan_workload(in, workload);
    if (rc != 0)
        exit(tool_fail("the hop-bytes: %s", strerror(-rc)));
    return workload;
}

static void make_workload(struct planning *p)
{
    const struct plan_options *options = p->options;
    size_t numbers;
    bool is_small = !__builtin_mul_overflow(p->in.requests->rows, p->in.requests->cols, &numbers) &&
                    numbers <= MOST_HOP_BYTES;
    if (!options->quiet && (is_small || options->wants_workload))
        p->workload = compute_workload(&p->in);
}

/* ---- printing ---- */

/* A row for each rank, a column for each domain. */
static void print_workload(const struct planning *p)
{
    size_t ranks = p->in.requests->rows, domains = p->in.requests->cols;
    char *align = tool_allocate(domains + 2, 1);
    memset(align, 'r', domains + 1);
    tool_table table = {.align = align};
    tool_table_add(&table, "rank");
    for (size_t j = 0; j < domains; j++)
        tool_table_add(&table, "%zu", j);
    for (size_t i = 0; i < ranks; i++) {
        tool_table_add(&table, "%zu", i);
        for (size_t j = 0; j < domains; j++)
            tool_table_add(&table, "%.15g", p->workload[j * ranks + i]);
    }
    printf("Hop-bytes of each rank and domain:\n");
    tool_table_print(&table);
    putchar('\n');
    free(align);
}

static void add_owners(tool_table *table, const struct outcome *o, size_t domains)
{
    size_t length;
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);
    for (size_t j = 0; out != NULL && j < domains; j++)
        fprintf(out, j > 0 ? " %zu" : "%zu", o->rank_of_domain[j]);
    if (out == NULL || fclose(out) != 0)
        exit(tool_fail("out of memory"));
    tool_table_add(table, "%s", text);
    free(text);
}

static void print_outcomes(const struct planning *p)
{
    tool_table table = {.align = "lrrrl"};
    tool_table_add(&table,
                   "strategy\nhop-bytes\nbetween nodes\nmost of a link\nrank of each domain");
    for (size_t k = 0; k < p->outcomes; k++) {
        const struct outcome *o = &p->outcome[k];
        tool_table_add(&table, "%s\n%.15g\n%" PRId64 "\n%.15g", o->strategy->name,
                       o->report.hop_bytes, o->report.crossing_bytes, o->report.max_link_bytes);
        add_owners(&table, o, p->in.requests->cols);
    }
    tool_table_print(&table);
}

static void print_plan(const struct planning *p)
{
    if (p->workload != NULL)
        print_workload(p);
    print_outcomes(p);
}

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

/* Writes the column-major workload as an array of rows. */
static void put_rows(json_writer *w, const double *workload, size_t rows, size_t columns)
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

static void put_workload(json_writer *w, const struct planning *p)
{
    const plan_input *in = &p->in;
    size_t domains = in->requests->cols;
    if (!p->options->by_node) {
        put_rows(w, p->workload, in->requests->rows, domains);
        return;
    }
    double *least = find_least_of_nodes(in, p->workload);
    put_rows(w, least, in->topology->nodes, domains);
    free(least);
}

static void parse_aggregators(const struct planning *p, size_t *rank_of_domain)
{
    size_t ranks = p->in.requests->rows, domains = p->in.requests->cols, count = 0;
    char *list = tool_copy(p->options->aggregators), *rest = list, *item;
    while ((item = strsep(&rest, ",")) != NULL && count < domains)
        if (tool_number(item, 0, ranks - 1, &rank_of_domain[count++]) != 0)
            break;
    if (item != NULL || count != domains)
        exit(tool_fail("--aggregators: %zu ranks below %zu are wanted, one for each domain",
                       domains, ranks));
    free(list);
}

static void put_given(json_writer *w, const struct planning *p)
{
    size_t domains = p->in.requests->cols;
    size_t *rank_of_domain = tool_allocate(domains, sizeof *rank_of_domain);
    plan_report report;
    parse_aggregators(p, rank_of_domain);
    int rc = plan_assess(&p->in, rank_of_domain, &report);
    if (rc != 0)
        exit(tool_fail("--aggregators: %s", strerror(-rc)));
    tatp_problem_begin_plan(w, "given", "given", rank_of_domain, domains, &report);
    tatp_problem_put_loads(w, &p->in, rank_of_domain);
    json_end_object(w);
    free(rank_of_domain);
}

static void print_plan_json(const struct planning *p)
{
    const plan_input *in = &p->in;
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_put_size(w, "ranks", in->requests->rows);
    json_put_size(w, "domains", in->requests->cols);
    json_put_size(w, "nodes", in->topology->nodes);
    json_put_string(w, "distances", in->topology->source);
    tatp_problem_put_tree(w, in->topology);
    json_begin_array(w, "strategies");
    for (const struct outcome *o = p->outcome; o < p->outcome + p->outcomes; o++) {
        tatp_problem_begin_plan(w, NULL, o->strategy->name, o->rank_of_domain, in->requests->cols,
                                &o->report);
        if (o->rank_of_domain != NULL)
            tatp_problem_put_loads(w, in, o->rank_of_domain);
        json_put_real(w, "seconds", o->seconds);
        json_end_object(w);
    }
    json_end_array(w);
    if (p->options->aggregators != NULL)
        put_given(w, p);
    if (p->workload != NULL)
        put_workload(w, p);
    tool_json_end(&json);
}

/* ---- the command ---- */

static int plan_domains(const struct plan_options *options, const plan_input *in)
{
    struct planning p = {.options = options, .in = *in};
    size_t strategies = 0;
    while (plan_strategies[strategies].name != NULL)
        strategies++;
    p.outcome = tool_allocate(strategies, sizeof *p.outcome);
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++)
        if (options->problem.strategy == NULL || options->problem.strategy == s)
            make_outcome(&p, s);
    bool feasible = p.outcome[0].rank_of_domain != NULL; /* no strategy changes that */
    if (feasible)
        make_workload(&p);
    if (feasible || options->json)
        (options->json ? print_plan_json : print_plan)(&p);
    int status = feasible || options->aggregators != NULL ? 0 : report_infeasible(&p);
    for (size_t k = 0; k < p.outcomes; k++)
        free(p.outcome[k].rank_of_domain);
    free(p.outcome);
    free(p.workload);
    return status;
}

int tatp_plan(int argc, char **argv)
{
    struct plan_options options = {.json = false};
    tatp_problem problem;
    tool_parse(&plan_argp, 0, argc, argv, &options);
    if (options.problem.view != NULL)
        return tatp_plan_view(&options.problem, options.json);
    tatp_problem_read(&problem, &options.problem);
    int status = plan_domains(&options, &problem.in);
    tatp_problem_release(&problem);
    return status;
}
