/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp: solves assignment problems, and plans which rank serves which file domain as the
 * fcoll/tatp component does. */
#include "tatp.h"
#include "tool.h"

#include "lap/lap.h"
#include "plan/plan.h"
#include "topo/topo.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *argp_program_version = "tatp (" PACKAGE_STRING ")";

static const lap_solver *parse_solver(const char *arg, struct argp_state *state)
{
    const lap_solver *solver = lap_find_solver(arg);
    if (solver == NULL)
        argp_error(state, "'%s' is not a solver", arg);
    return solver;
}

/* Closes --help with the table of solvers. */
static char *list_solvers(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *list = NULL;
    size_t length;
    FILE *out = open_memstream(&list, &length);
    if (out == NULL)
        return NULL;
    fprintf(out, "Solvers:\n");
    for (const lap_solver *s = lap_solvers; s->name != NULL; s++)
        fprintf(out, "  %-10s %s\n", s->name, s->note);
    fclose(out);
    return list;
}

/* ---- tatp assign ---- */

struct assign_options {
    const char *file;
    const lap_solver *solver;
};

static error_t parse_assign_option(int key, char *arg, struct argp_state *state)
{
    struct assign_options *options = state->input;
    switch (key) {
    case 's':
        options->solver = parse_solver(arg, state);
        return 0;
    case ARGP_KEY_ARG:
        if (options->file != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        options->file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no file is given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp assign_argp = {
    .options = (const struct argp_option[]){{"solver", 's', "NAME", 0, "Solver to use", 0}, {0}},
    .parser = parse_assign_option,
    .args_doc = "COST",
    .doc = "Gives each column of a cost matrix to a row, no row twice, at the least cost.\v",
    .help_filter = list_solvers,
};

/* cost[j * rows + i], as the solvers want it; a dense array even of a sparse matrix. */
static double *dense_cost(const matrix *m)
{
    size_t places;
    if (__builtin_mul_overflow(m->rows, m->cols, &places))
        exit(tool_fail("%zu times %zu is too much", m->rows, m->cols));
    double *cost = tool_allocate(places, sizeof *cost);
    for (size_t row = 0; row < m->rows; row++)
        for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
            cost[m->col[i] * m->rows + row] = (double)m->value[i];
    return cost;
}

static int solve(const lap_solver *solver, const lap_problem *problem, lap_solution *solution)
{
    int rc = solver->solve(problem, solution);
    if (rc != 0)
        return tool_fail("%s: %s", solver->name,
                         rc < 0 ? strerror(-rc) : "no assignment obeys the constraints");
    for (size_t j = 0; j < problem->cols; j++) {
        size_t row = solution->row_of_col[j];
        printf("%zu %zu %.17g\n", j, row, problem->cost[j * problem->rows + row]);
    }
    printf("# total %.17g\n", solution->total);
    return 0;
}

static int assign(const char *file, const lap_solver *solver, const matrix *m)
{
    if (m->cols > m->rows)
        return tool_fail("%s: %zu columns for %zu rows", file, m->cols, m->rows);
    lap_problem problem = {.rows = m->rows, .cols = m->cols};
    lap_solution solution = {.row_of_col = tool_allocate(m->cols, sizeof *solution.row_of_col)};
    double *cost = dense_cost(m);
    problem.cost = cost;
    printf("# column row cost\n");
    int status = solve(solver, &problem, &solution);
    free(cost);
    free(solution.row_of_col);
    return status;
}

static int run_assign(int argc, char **argv)
{
    struct assign_options options = {.solver = lap_solvers};
    matrix m;
    if (argp_parse(&assign_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = tool_read_market(options.file, &m);
    if (status != 0)
        return status;
    status = assign(options.file, options.solver, &m);
    matrix_release(&m);
    return status;
}

/* ---- tatp plan ---- */

/* The ranks' nodes and, by node, their hosts' names. */
struct nodes {
    size_t *of_rank;
    size_t ranks;
    char **host;
    size_t count;
};

struct plan_options {
    const char *requests, *hops;
    struct nodes nodes;
    size_t per_node;
    const lap_solver *solver;
    plan_objective objective;
    int with_workload;
};

static size_t find_host(const struct nodes *nodes, const char *host)
{
    size_t n = 0;
    while (n < nodes->count && strcmp(nodes->host[n], host) != 0)
        n++;
    return n;
}

static void add_host(struct nodes *nodes, const char *host)
{
    nodes->host = tool_grow(nodes->host, nodes->count, sizeof *nodes->host);
    nodes->host[nodes->count] = tool_allocate(strlen(host) + 1, 1);
    strcpy(nodes->host[nodes->count++], host);
}

static void add_rank(struct nodes *nodes, size_t node)
{
    nodes->of_rank = tool_grow(nodes->of_rank, nodes->ranks, sizeof *nodes->of_rank);
    nodes->of_rank[nodes->ranks++] = node;
}

/* The host of each rank: nodes are numbered as they first occur. Cuts `list` up. */
static int parse_hosts(char *list, struct nodes *nodes)
{
    char *host;
    while ((host = strsep(&list, ",")) != NULL) {
        size_t node = find_host(nodes, host);
        if (*host == '\0')
            return -1;
        if (node == nodes->count)
            add_host(nodes, host);
        add_rank(nodes, node);
    }
    return 0;
}

/* The node of each rank, a row of the hops file: nodes up to the highest exist and are called by
 * their numbers. More nodes than 2^20 are taken for a slip. */
static int parse_nodes(char *list, struct nodes *nodes)
{
    char *item;
    while ((item = strsep(&list, ",")) != NULL) {
        size_t node;
        if (tool_number(item, 0, ((size_t)1 << 20) - 1, &node) != 0)
            return -1;
        add_rank(nodes, node);
        while (nodes->count <= node) {
            char name[24];
            snprintf(name, sizeof name, "%zu", nodes->count);
            add_host(nodes, name);
        }
    }
    return 0;
}

static void release_nodes(struct nodes *nodes)
{
    for (size_t n = 0; n < nodes->count; n++)
        free(nodes->host[n]);
    free(nodes->host);
    free(nodes->of_rank);
}

static void check_plan_options(const struct plan_options *options, struct argp_state *state)
{
    if (options->requests == NULL)
        argp_error(state, "--requests is needed");
    if (options->nodes.ranks == 0)
        argp_error(state, "one of --nodes and --hosts is needed");
}

static void parse_ranks(int (*parse)(char *, struct nodes *), char *arg, const char *form,
                        struct argp_state *state)
{
    struct plan_options *options = state->input;
    if (options->nodes.ranks > 0)
        argp_error(state, "--nodes and --hosts are given once");
    else if (parse(arg, &options->nodes) != 0)
        argp_error(state, "%s", form);
}

static plan_objective parse_objective(const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "hopbytes") != 0 && strcmp(arg, "congestion") != 0)
        argp_error(state, "'%s' is not an objective", arg);
    return arg[0] == 'h' ? PLAN_HOP_BYTES : PLAN_CONGESTION;
}

static error_t parse_plan_option(int key, char *arg, struct argp_state *state)
{
    struct plan_options *options = state->input;
    switch (key) {
    case 'r':
        options->requests = arg;
        return 0;
    case 'd':
        options->hops = arg;
        return 0;
    case 'n':
        parse_ranks(parse_nodes, arg, "the nodes are numbers, one for each rank", state);
        return 0;
    case 'H':
        parse_ranks(parse_hosts, arg, "the hosts are names, one for each rank", state);
        return 0;
    case 'm':
        if (tool_number(arg, 0, SIZE_MAX, &options->per_node) != 0)
            argp_error(state, "'%s' is not a number of domains", arg);
        return 0;
    case 's':
        options->solver = parse_solver(arg, state);
        return 0;
    case 'o':
        options->objective = parse_objective(arg, state);
        return 0;
    case 'q':
        options->with_workload = 0;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is one argument too many", arg);
        return 0;
    case ARGP_KEY_END:
        check_plan_options(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp plan_argp = {
    .options =
        (const struct argp_option[]){
            {"requests", 'r', "FILE", 0, "Bytes of each domain (column) that each rank (row) accesses", 0},
            {"nodes", 'n', "N,N,...", 0, "The node of each rank, as a row number of the hops from 0", 0},
            {"hosts", 'H', "NAME,...", 0, "The host of each rank instead", 0},
            {"hops", 'd', "FILE", 0, "Hops between nodes (default: 2 between any two)", 0},
            {"per-node", 'm', "N", 0, "At most N domains on one node (default: any number)", 0},
            {"solver", 's', "NAME", 0, "Solver to use", 0},
            {"objective", 'o', "NAME", 0,
             "What tatp makes least: hopbytes (default), or congestion, the most bytes of a link", 0},
            {"quiet", 'q', NULL, 0, "Do not print the hop-bytes of every rank and domain", 0},
            {0},
        },
    .parser = parse_plan_option,
    .doc = "Plans which rank serves which file domain, by every strategy.\v",
    .help_filter = list_solvers,
};

static int print_workload(const plan_input *in)
{
    size_t rows = in->requests->rows, cols = in->requests->cols, places;
    if (__builtin_mul_overflow(rows, cols, &places))
        return tool_fail("%zu times %zu is too much", rows, cols);
    double *workload = tool_allocate(places, sizeof *workload);
    int rc = plan_workload(in, workload);
    if (rc == 0)
        printf("# hop-bytes: a row for each rank, a column for each domain\n");
    for (size_t i = 0; rc == 0 && i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            printf("%.17g%c", workload[j * rows + i], j + 1 < cols ? ' ' : '\n');
    free(workload);
    return rc == 0 ? 0 : tool_fail("the hop-bytes: %s", strerror(-rc));
}

static int assign_by(const plan_input *in, const lap_solver *solver, const plan_strategy *strategy,
                     size_t *rank_of_domain, double *bound)
{
    if (strategy->assign_bounded != NULL && in->objective == PLAN_HOP_BYTES)
        return strategy->assign_bounded(in, solver, rank_of_domain, bound);
    return strategy->assign(in, solver, rank_of_domain);
}

static void print_assignment(const plan_input *in, const plan_strategy *strategy,
                             const plan_report *report, const size_t *rank_of_domain)
{
    printf("%s %.17g %" PRId64 " %.17g", strategy->name, report->hop_bytes, report->crossing_bytes,
           report->max_link_bytes);
    for (size_t j = 0; j < in->requests->cols; j++)
        printf(" %zu", rank_of_domain[j]);
    putchar('\n');
}

static int print_strategy(const plan_input *in, const lap_solver *solver,
                          const plan_strategy *strategy, size_t *rank_of_domain)
{
    plan_report report;
    double bound = 0.0;
    int rc = assign_by(in, solver, strategy, rank_of_domain, &bound);
    if (rc == 0)
        rc = plan_assess(in, rank_of_domain, &report);
    if (rc == -EINVAL)
        return tool_fail("%s: %zu ranks cannot serve %zu domains%s", strategy->name,
                         in->requests->rows, in->requests->cols,
                         in->per_node > 0 ? " with so few on a node" : "");
    if (rc != 0)
        return tool_fail("%s: %s", strategy->name, strerror(-rc));
    print_assignment(in, strategy, &report, rank_of_domain);
    if (bound > 0.0 && report.hop_bytes > bound)
        printf("# %s: at most %.17g above the least hop-bytes\n", strategy->name, report.hop_bytes - bound);
    return 0;
}

static int print_strategies(const plan_input *in, const lap_solver *solver)
{
    int status = 0;
    size_t *rank_of_domain = tool_allocate(in->requests->cols, sizeof *rank_of_domain);
    printf("# strategy hop-bytes bytes-between-nodes most-bytes-of-a-link rank-of-each-domain\n");
    for (const plan_strategy *s = plan_strategies; status == 0 && s->name != NULL; s++)
        status = print_strategy(in, solver, s, rank_of_domain);
    free(rank_of_domain);
    return status;
}

static int read_hops(const struct plan_options *options, topo *t)
{
    matrix_error error;
    if (options->hops == NULL) {
        topo_flat(t, options->nodes.count);
        return 0;
    }
    FILE *stream = tool_open(options->hops);
    if (stream == NULL)
        return TOOL_FAILURE;
    int rc = topo_read(stream, (const char *const *)options->nodes.host, options->nodes.count, t,
                       &error);
    fclose(stream);
    return rc == 0 ? 0 : tool_fail_reading(options->hops, rc, &error);
}

static int read_requests(const struct plan_options *options, matrix *requests)
{
    int status = tool_read_market(options->requests, requests);
    if (status != 0)
        return status;
    for (size_t i = 0; i < requests->row_start[requests->rows]; i++)
        if (requests->value[i] < 0)
            return tool_fail("%s: negative bytes: %" PRId64, options->requests, requests->value[i]);
    if (requests->rows != options->nodes.ranks)
        return tool_fail("%s: %zu rows, but %zu ranks have a node", options->requests,
                         requests->rows, options->nodes.ranks);
    return 0;
}

static int print_plan(const struct plan_options *options, const matrix *requests, const topo *t)
{
    plan_input in = {.requests = requests, .node_of_rank = options->nodes.of_rank, .topology = t,
                     .per_node = options->per_node, .objective = options->objective};
    int status = options->with_workload ? print_workload(&in) : 0;
    return status == 0 ? print_strategies(&in, options->solver) : status;
}

static int run_plan(int argc, char **argv)
{
    struct plan_options options = {.solver = lap_solvers, .with_workload = 1};
    matrix requests = {0};
    topo t = {0};
    if (argp_parse(&plan_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = read_requests(&options, &requests);
    if (status == 0)
        status = read_hops(&options, &t);
    if (status == 0)
        status = print_plan(&options, &requests, &t);
    topo_release(&t);
    matrix_release(&requests);
    release_nodes(&options.nodes);
    return status;
}

int main(int argc, char **argv)
{
    static const tool_command commands[] = {{"assign", run_assign}, {"plan", run_plan},
                                            {"topology", run_topology}, {NULL, NULL}};
    return tool_run(commands,
                    "Assigns file domains to ranks by the network's topology.\v"
                    "Commands:\n"
                    "  assign    solve an assignment problem\n"
                    "  plan      plan which rank serves which file domain\n"
                    "  topology  print what a file says about the network\n"
                    "'tatp COMMAND --help' lists the options of a command.",
                    argc, argv);
}
