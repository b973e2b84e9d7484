/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp plan: which rank owns which file domain, and what that loads on the links. */
#define _DEFAULT_SOURCE /* strsep */
#include "tatp.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "plan/plan.h"
#include "predict/predict.h"
#include "tatp_network.h"
#include "tool.h"

/* A larger matrix of hop-bytes is printed with --workload only. */
#define MOST_HOP_BYTES ((size_t)1 << 20)

struct plan_options {
    tool_options common;
    const char *requests, *blocks, *view; /* one of requests and view */
    tatp_network_options network;
    const plan_strategy *strategy; /* NULL for all */
    size_t per_node;
    const char *aggregators;
    bool quiet, by_node, wants_workload;
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
    matrix requests, blocks;
    tatp_network network;
    plan_input in;
    double *workload; /* if rank i owns domain j at [j * ranks + i]; NULL if it is not printed */
    struct outcome *outcome;
    size_t outcomes;
};

/* ---- options ---- */

static void plan_check_options(const struct plan_options *options, struct argp_state *state)
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
    if (options->view != NULL && options->aggregators != NULL)
        argp_error(state, "--aggregators is not for --view");
    if (network->distances != NULL && network->topology != NULL)
        argp_error(state, "--distances and --topology exclude each other");
    if (network->distances == NULL && network->hosts == NULL)
        argp_error(state, network->topology != NULL
                              ? "--topology needs --hosts"
                              : "--hosts, as n0:4,n1:4, or --distances between ranks is needed");
}

static error_t parse_plan_option(int key, char *arg, struct argp_state *state)
{
    struct plan_options *options = state->input;
    switch (key) {
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
    case 'q': options->quiet = true; return 0;
    case 'g': options->aggregators = arg; return 0;
    case 'w':
        options->wants_workload = true;
        options->by_node = strcmp(arg, "node") == 0;
        if (!options->by_node && strcmp(arg, "rank") != 0)
            argp_error(state, "hop-bytes are those of each 'rank' or 'node', not '%s'", arg);
        return 0;
    case ARGP_KEY_END: plan_check_options(options, state); return 0;
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
        tool_append_choice(&list, 12, s->name, s->note);
    return list;
}

static const struct argp plan_argp = {
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
            {"quiet", 'q', NULL, 0, "Do not print the hop-bytes of every rank and domain", 0},
            {"aggregators", 'g', "N,N,...", 0,
             "With --json: also for these ranks as owners of the domains", 0},
            {"workload", 'w', "rank|node", 0,
             "With --json: hop-bytes of each rank, the default, or of the best rank of each node",
             0},
            {0},
        },
    .parser = parse_plan_option,
    .help_filter = list_strategies,
    .doc = "Plans which rank owns which file domain.",
};

/* ---- files ---- */

static int read_market_matrix(FILE *stream, void *object, matrix_error *error)
{
    return matrix_read_market(stream, object, NULL, error);
}

static void plan_read_blocks(struct planning *p)
{
    const char *file = p->options->blocks;
    const matrix *m = &p->blocks;
    tool_read(file, read_market_matrix, &p->blocks);
    if (m->rows != p->requests.rows || m->cols != p->requests.cols)
        exit(tool_fail("%s: %zu rows and %zu columns, but %s has %zu and %zu", file, m->rows,
                       m->cols, p->options->requests, p->requests.rows, p->requests.cols));
}

static void read_problem(struct planning *p)
{
    const struct plan_options *options = p->options;
    tool_read(options->requests, read_market_matrix, &p->requests);
    if (options->blocks != NULL)
        plan_read_blocks(p);
    tatp_network_read(&options->network, options->requests, p->requests.rows, &p->network);
    p->in = (plan_input){.requests = &p->requests,
                         .blocks = options->blocks != NULL ? &p->blocks : NULL,
                         .node_of_rank = p->network.node_of_rank,
                         .topology = &p->network.topology,
                         .per_node = options->per_node};
}

/* ---- plans as JSON ---- */

/* Writes members of an open object. A topology that is no tree has one switch above all nodes. */
static void put_tree(json_writer *w, const topo *t)
{
    bool is_tree = t->tree.vertices > 0;
    size_t vertices = topo_vertices(t);
    json_put_bool(w, "is_tree", is_tree);
    json_begin_array(w, "parent");
    for (size_t v = 0; v < vertices; v++)
        json_put_size(w, NULL, topo_parent(t, v));
    json_end_array(w);
    json_begin_array(w, "cables");
    for (size_t v = 0; v < vertices; v++)
        json_put_size(w, NULL, is_tree ? t->tree.width[v] : v < t->nodes);
    json_end_array(w);
}

/* The load of each link, as members of an open object. */
static void put_loads(json_writer *w, const plan_input *in, const size_t *rank_of_domain)
{
    plan_loads loads;
    tool_check(plan_load_links(in, rank_of_domain, &loads), "the loads of links");
    json_put_reals(w, "up", loads.up, loads.vertices);
    json_put_reals(w, "down", loads.down, loads.vertices);
    plan_release_loads(&loads);
}

/* Begins an object in an array or with a key (else NULL) and writes the name, the assignment and
 * its costs, or nulls for domains without one (NULL). The caller may add members, and ends it. */
static void begin_plan(json_writer *w, const char *key, const char *name,
                       const size_t *rank_of_domain, size_t domains, const plan_report *report)
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

/* ---- planning ---- */

static int report_infeasible(const struct planning *p)
{
    size_t domains = p->in.requests->cols, ranks = p->in.requests->rows;
    if (domains > ranks)
        tool_fail("%s: no plan: %zu domains for %zu ranks, which own at most one each",
                  p->options->requests, domains, ranks);
    else
        tool_fail("%s: no plan: with --per-node=%zu the %zu nodes cannot own %zu domains: write "
                  "--per-node=%zu or more",
                  p->options->requests, p->in.per_node, p->in.topology->nodes, domains,
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
    if (rc != -EINVAL)
        tool_check(rc, strategy->name);
    if (rc == 0)
        return;
    free(o->rank_of_domain);
    o->rank_of_domain = NULL;
}

static void make_workload(struct planning *p)
{
    size_t ranks = p->in.requests->rows, domains = p->in.requests->cols, numbers;
    bool fits = !__builtin_mul_overflow(ranks, domains, &numbers);
    if (p->options->quiet || (!p->options->wants_workload && (!fits || numbers > MOST_HOP_BYTES)))
        return;
    if (!fits)
        exit(tool_fail("the hop-bytes of %zu ranks and %zu domains are too many", ranks, domains));
    p->workload = tool_allocate(numbers, sizeof *p->workload);
    tool_check(plan_workload(&p->in, p->workload), "the hop-bytes");
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

enum { NUMBER_BYTES = 24 };

static void add_owners(tool_table *table, const struct outcome *o, size_t domains)
{
    char *text = tool_allocate(domains + 1, NUMBER_BYTES), *end = text;
    for (size_t j = 0; j < domains; j++)
        end += snprintf(end, NUMBER_BYTES, j > 0 ? " %zu" : "%zu", o->rank_of_domain[j]);
    tool_table_add(table, "%s", text);
    free(text);
}

static void print_plan(const struct planning *p)
{
    tool_table table = {.align = "lrrrl"};
    if (p->workload != NULL)
        print_workload(p);
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

/* The column-major workload of ranks or nodes, as an array of rows. */
static void put_workload(json_writer *w, const struct planning *p)
{
    const plan_input *in = &p->in;
    bool by_node = p->options->by_node;
    size_t rows = by_node ? in->topology->nodes : in->requests->rows;
    double *least = by_node ? find_least_of_nodes(in, p->workload) : NULL;
    json_begin_array(w, "workload");
    for (size_t i = 0; i < rows; i++) {
        json_begin_array(w, NULL);
        for (size_t j = 0; j < in->requests->cols; j++)
            json_put_real(w, NULL, (by_node ? least : p->workload)[j * rows + i]);
        json_end_array(w);
    }
    json_end_array(w);
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
    tool_check(plan_assess(&p->in, rank_of_domain, &report), "--aggregators");
    begin_plan(w, "given", "given", rank_of_domain, domains, &report);
    put_loads(w, &p->in, rank_of_domain);
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
    put_tree(w, in->topology);
    json_begin_array(w, "strategies");
    for (const struct outcome *o = p->outcome; o < p->outcome + p->outcomes; o++) {
        begin_plan(w, NULL, o->strategy->name, o->rank_of_domain, in->requests->cols, &o->report);
        if (o->rank_of_domain != NULL)
            put_loads(w, in, o->rank_of_domain);
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

/* ---- --view: in place of a problem, the recorded calls of a view file, with the file domains and
 * aggregators that fcoll/tatp would choose for them ---- */

/* All calls of a pattern together. */
typedef struct recorded_calls {
    int64_t bytes;
    plan_draft draft;
    plan_input in;
    plan_report report;
} recorded_calls;

typedef struct recorded {
    view_file file;
    tatp_network network;
    recorded_calls *calls; /* by pattern of the file */
} recorded;

static void predict_view(recorded *view, const char *file, const tatp_network_options *network)
{
    *view = (recorded){.calls = NULL};
    tool_read_view(file, &view->file);
    tatp_network_read(network, file, view->file.view.rows, &view->network);
    view->calls = tool_allocate(view->file.patterns, sizeof *view->calls);
    const predict_job job = {view->file.view.rows, view->network.node_of_rank,
                             &view->network.topology};
    for (size_t k = 0; k < view->file.patterns; k++) {
        recorded_calls *c = &view->calls[k];
        const matrix *bytes = &view->file.bytes[k];
        tool_check(predict_calls(&job, &view->file.pattern[k], bytes, &c->draft), file);
        (void)matrix_sum(bytes, &c->bytes); /* predict_calls has refused a larger sum */
        c->in = plan_draft_problem(&c->draft);
        if (c->draft.rank_of_domain != NULL)
            tool_check(plan_assess(&c->in, c->draft.rank_of_domain, &c->report),
                       "the loads of links");
    }
}

static void release_view(recorded *view)
{
    for (size_t k = 0; k < view->file.patterns; k++)
        plan_draft_release(&view->calls[k].draft);
    free(view->calls);
    view_file_release(&view->file);
    tatp_network_release(&view->network);
}

static void plan_print_view(const recorded *view)
{
    int64_t independent = view_file_independent(&view->file);
    tool_table table = {.align = "rrrlrrrrl"};
    if (view->file.patterns > 0)
        tool_table_add(&table, "calls\nbytes\naggregators\ndomains\nunit\nhop-bytes\nbetween "
                               "nodes\nmost of a link\nfile");
    for (size_t k = 0; k < view->file.patterns; k++) {
        const access_pattern *pattern = &view->file.pattern[k];
        const recorded_calls *c = &view->calls[k];
        const plan_draft *p = &c->draft;
        tool_table_add(&table, "%" PRId64 "\n%" PRId64 "\n%zu\n%s\n%" PRId64, pattern->calls,
                       c->bytes, p->division.domains.count, division_kind_name(p->kind), p->unit);
        tool_table_add(&table, "%.15g\n%" PRId64 "\n%.15g", p->hop_bytes, p->crossing_bytes,
                       c->report.max_link_bytes);
        tool_table_add_text(&table, pattern->file);
    }
    if (view->file.patterns > 0)
        tool_table_print(&table);
    if (independent > 0)
        printf("without aggregators: %" PRId64 " bytes, which stay on their nodes\n", independent);
}

static void put_patterns(json_writer *w, const recorded *view)
{
    json_begin_array(w, "patterns");
    for (size_t k = 0; k < view->file.patterns; k++) {
        const recorded_calls *c = &view->calls[k];
        const plan_draft *p = &c->draft;
        begin_plan(w, NULL, view->file.pattern[k].file, p->rank_of_domain,
                   p->division.domains.count, &c->report);
        json_put_int64(w, "calls", view->file.pattern[k].calls);
        json_put_int64(w, "bytes", c->bytes);
        json_put_string(w, "domains", division_kind_name(p->kind));
        json_put_int64(w, "unit", p->unit);
        if (p->rank_of_domain != NULL)
            put_loads(w, &c->in, p->rank_of_domain);
        json_end_object(w);
    }
    json_end_array(w);
}

static void plan_print_view_json(const recorded *view)
{
    const topo *topology = &view->network.topology;
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_put_size(w, "ranks", view->file.view.rows);
    json_put_size(w, "nodes", topology->nodes);
    json_put_string(w, "distances", topology->source);
    put_tree(w, topology);
    put_patterns(w, view);
    json_put_int64(w, "independent_bytes", view_file_independent(&view->file));
    tool_json_end(&json);
}

/* ---- the command ---- */

static int plan_domains(const struct plan_options *options)
{
    struct planning p = {.options = options};
    size_t strategies = 0;
    while (plan_strategies[strategies].name != NULL)
        strategies++;
    p.outcome = tool_allocate(strategies, sizeof *p.outcome);
    read_problem(&p);
    for (const plan_strategy *s = plan_strategies; s->name != NULL; s++)
        if (options->strategy == NULL || options->strategy == s)
            make_outcome(&p, s);
    bool feasible = p.outcome[0].rank_of_domain != NULL; /* no strategy changes that */
    if (feasible)
        make_workload(&p);
    if (feasible || options->common.json)
        (options->common.json ? print_plan_json : print_plan)(&p);
    int status = feasible || options->aggregators != NULL ? 0 : report_infeasible(&p);
    for (size_t k = 0; k < p.outcomes; k++)
        free(p.outcome[k].rank_of_domain);
    free(p.outcome);
    free(p.workload);
    tatp_network_release(&p.network);
    matrix_release(&p.requests);
    matrix_release(&p.blocks);
    return status;
}

int tatp_plan(int argc, char **argv)
{
    struct plan_options options = {.requests = NULL};
    recorded view;
    tool_parse(&plan_argp, TOOL_JSON, argc, argv, &options);
    if (options.view == NULL)
        return plan_domains(&options);
    predict_view(&view, options.view, &options.network);
    (options.common.json ? plan_print_view_json : plan_print_view)(&view);
    release_view(&view);
    return 0;
}
