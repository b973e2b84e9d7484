/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp plan: which rank serves which file domain. */
#include "tatp_problem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tool.h"

/* More hop-bytes than that are not printed. */
#define MOST_HOP_BYTES ((size_t)1 << 20)

struct plan_options {
    tatp_problem_options problem;
    bool quiet;
};

/* One strategy's plan. */
struct outcome {
    const plan_strategy *strategy;
    size_t *rank_of_domain;
    plan_report report;
    double seconds;
    double gap; /* hop-bytes that may be saved at the most; below 0: not known */
};

struct planning {
    const struct plan_options *options;
    plan_input in;
    double *workload; /* NULL: not wanted */
    struct outcome *outcome;
    size_t outcomes;
};

/* ---- options ---- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct plan_options *options = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->problem;
        state->child_inputs[1] = &options->problem.answer;
        return 0;
    case 'q': options->quiet = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp plan_argp = {
    .options =
        (const struct argp_option[]){
            {"quiet", 'q', NULL, 0, "Do not print the hop-bytes of every rank and domain", 0},
            {0},
        },
    .parser = parse_option,
    .children = (const struct argp_child[]){{&tatp_problem_argp, 0, NULL, 0},
                                            {&tatp_json_argp, 0, NULL, 0},
                                            {0}},
    .doc = "Plans which rank serves which file domain.",
};

/* ---- planning ---- */

static int no_plan(const struct planning *p)
{
    size_t domains = p->in.requests->cols, ranks = p->in.requests->rows;
    if (domains > ranks)
        tool_fail("%s: no plan: %zu domains for %zu ranks, which serve one each",
                  p->options->problem.requests, domains, ranks);
    else
        tool_fail("%s: no plan: with --per-node=%zu the %zu nodes do not serve %zu domains",
                  p->options->problem.requests, p->in.per_node, p->in.topology->nodes, domains);
    return TOOL_INFEASIBLE;
}

static int assign(const struct planning *p, struct outcome *o)
{
    const lap_solver *solver = p->options->problem.answer.solver;
    double bound;
    if (o->strategy->assign_bounded == NULL || p->in.objective != PLAN_HOP_BYTES)
        return o->strategy->assign(&p->in, solver, o->rank_of_domain);
    int rc = o->strategy->assign_bounded(&p->in, solver, o->rank_of_domain, &bound);
    o->gap = bound;
    return rc;
}

static int make_outcome(struct planning *p, const plan_strategy *strategy)
{
    struct outcome *o = &p->outcome[p->outcomes++];
    *o = (struct outcome){.strategy = strategy, .gap = -1.0};
    o->rank_of_domain = tool_allocate(p->in.requests->cols, sizeof *o->rank_of_domain);
    double begin = tatp_seconds();
    int rc = assign(p, o);
    o->seconds = tatp_seconds() - begin;
    if (rc == 0)
        rc = plan_assess(&p->in, o->rank_of_domain, &o->report);
    if (rc == 0 && o->gap >= 0.0)
        o->gap = o->report.hop_bytes > o->gap ? o->report.hop_bytes - o->gap : 0.0;
    if (rc == -EINVAL)
        return no_plan(p);
    return rc == 0 ? 0 : tool_fail("%s: %s", strategy->name, strerror(-rc));
}

static int make_outcomes(struct planning *p)
{
    int status = 0;
    for (const plan_strategy *s = plan_strategies; status == 0 && s->name != NULL; s++)
        if (p->options->problem.strategy == NULL || p->options->problem.strategy == s)
            status = make_outcome(p, s);
    return status;
}

static int make_workload(struct planning *p)
{
    size_t numbers;
    if (p->options->quiet ||
        __builtin_mul_overflow(p->in.requests->rows, p->in.requests->cols, &numbers) ||
        numbers > MOST_HOP_BYTES)
        return 0;
    p->workload = tatp_problem_workload(&p->in);
    return p->workload != NULL ? 0 : TOOL_FAILURE;
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

static void add_assignment(tool_table *table, const struct outcome *o, size_t domains)
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
    static const char *const head[] = {"strategy", "hop-bytes", "between nodes", "most of a link",
                                       "rank of each domain"};
    tool_table table = {.align = "lrrrl"};
    for (size_t k = 0; k < sizeof head / sizeof *head; k++)
        tool_table_add(&table, "%s", head[k]);
    for (size_t k = 0; k < p->outcomes; k++) {
        const struct outcome *o = &p->outcome[k];
        tool_table_add(&table, "%s", o->strategy->name);
        tool_table_add(&table, "%.15g", o->report.hop_bytes);
        tool_table_add(&table, "%" PRId64, o->report.crossing_bytes);
        tool_table_add(&table, "%.15g", o->report.max_link_bytes);
        add_assignment(&table, o, p->in.requests->cols);
    }
    tool_table_print(&table);
}

static int print_text(const struct planning *p)
{
    if (p->workload != NULL)
        print_workload(p);
    print_outcomes(p);
    for (size_t k = 0; k < p->outcomes; k++)
        if (p->outcome[k].gap > 0.0)
            printf("%s: at most %.15g above the least hop-bytes\n", p->outcome[k].strategy->name,
                   p->outcome[k].gap);
    return 0;
}

static json_t *describe(const struct outcome *o, size_t domains)
{
    json_t *plan = tatp_describe_plan(o->strategy->name, o->rank_of_domain, domains, &o->report);
    json_object_set_new(plan, "gap", o->gap >= 0.0 ? json_real(o->gap) : json_null());
    json_object_set_new(plan, "seconds", json_real(o->seconds));
    return plan;
}

static int print_json(const struct planning *p)
{
    const plan_input *in = &p->in;
    json_t *strategies = json_array();
    for (size_t k = 0; k < p->outcomes; k++)
        json_array_append_new(strategies, describe(&p->outcome[k], in->requests->cols));
    json_t *value = json_pack(
        "{s:I, s:I, s:I, s:s, s:s, s:s, s:o}", "ranks", (json_int_t)in->requests->rows, "domains",
        (json_int_t)in->requests->cols, "nodes", (json_int_t)in->topology->nodes, "distances",
        in->topology->source, "objective", plan_objectives[in->objective].name, "solver",
        p->options->problem.answer.solver->name, "strategies", strategies);
    if (p->workload != NULL)
        json_object_set_new(value, "workload",
                            tool_json_rows(p->workload, in->requests->rows, in->requests->cols));
    return tool_print_json(value);
}

/* ---- the command ---- */

static int plan(const struct plan_options *options, const plan_input *in)
{
    struct planning p = {.options = options, .in = *in};
    size_t strategies = 0;
    while (plan_strategies[strategies].name != NULL)
        strategies++;
    p.outcome = tool_allocate(strategies, sizeof *p.outcome);
    int status = make_outcomes(&p);
    if (status == 0)
        status = make_workload(&p);
    if (status == 0)
        status = (options->problem.answer.json ? print_json : print_text)(&p);
    for (size_t k = 0; k < p.outcomes; k++)
        free(p.outcome[k].rank_of_domain);
    free(p.outcome);
    free(p.workload);
    return status;
}

int run_plan(int argc, char **argv)
{
    struct plan_options options = {.problem.answer.solver = lap_solvers};
    tatp_problem problem;
    if (argp_parse(&plan_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = tatp_problem_read(&problem, &options.problem);
    if (status == 0)
        status = plan(&options, &problem.in);
    tatp_problem_release(&problem);
    return status;
}
