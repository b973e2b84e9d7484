/* SPDX-License-Identifier: BSD-3-Clause */
/* One access pattern on one machine. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "study.h"

#include <math.h>

#include "must.h"

/* At which an aggregator puts data together in memory: between two processes of one node, as the
 * SetMatch paper measured it on long messages. Bytes a second. */
#define COPY_RATE 3.5e9

static const char counting[] = "counting bytes", planning[] = "planning";

/* ---- who accesses how much of what ---- */

static void add_shares(const study *s, const file_domains *domains, size_t rank,
                       matrix_builder *bytes, matrix_builder *blocks)
{
    access_list list = {0};
    domain_share *share;
    size_t shares;
    must(decomposition_runs(&s->array, rank, &list), counting);
    must(domains_cut(domains, &list, false, &share, &shares), counting);
    for (size_t i = 0; i < shares; i++) {
        const access_list *part = &share[i].list;
        must(matrix_builder_add(bytes, rank, share[i].domain, part->bytes), counting);
        must(matrix_builder_add(blocks, rank, share[i].domain, access_blocks(part)), counting);
    }
    domains_free_shares(share, shares);
    access_release(&list);
}

static matrix finish(matrix_builder *builder)
{
    matrix sums;
    must(matrix_builder_finish(builder, &sums), counting);
    matrix_builder_clear(builder);
    return sums;
}

/* An empty domain has no bytes. */
static rows_matrices sum_requests(const study *s, const file_domains *domains)
{
    matrix_builder bytes = {.rows = s->array.ranks, .cols = s->aggregators}, blocks = bytes;
    for (size_t rank = 0; rank < s->array.ranks; rank++)
        add_shares(s, domains, rank, &bytes, &blocks);
    return (rows_matrices){.requests = finish(&bytes), .blocks = finish(&blocks)};
}

static int64_t unit_of(const study *s)
{
    const division_settings settings = {.kind = DIVISION_FITTED, .stripe = s->stripe};
    return pieces_of(&settings, s->aggregators, 0, s->array.bytes).unit;
}

void study_begin(study *s)
{
    s->aggregators = s->nodes * s->per_node;
    if (s->aggregators > s->array.ranks)
        s->aggregators = s->array.ranks;
    s->node_of_rank = allocate(s->array.ranks, sizeof *s->node_of_rank);
    machine_topology(&s->machine, s->nodes, &s->topology);
    must(decomposition_view(&s->array, &s->view), counting);
    must(decomposition_profile(&s->array, unit_of(s), &s->units), counting);
}

void study_end(study *s)
{
    topo_release(&s->topology);
    matrix_release(&s->view);
    matrix_release(&s->units);
    rows_release(&s->even);
    free(s->node_of_rank);
    decomposition_release(&s->array);
}

/* ---- placement ---- */

typedef struct placement {
    const char *name;
    setmatch_method_fn place;
    bool cartesian; /* from the process grid in place of the recorded view */
} placement;

static const placement placements[] = {
    {"byslot", setmatch_byslot, false}, {"bynode", setmatch_bynode, false},
    {"dla", setmatch_auto, false},      {"setmatch", setmatch_paper, false},
    {"mpipp", mpipp_place, false},      {"setmatch-cart", setmatch_paper, true},
    {"mpipp-cart", mpipp_place, true},
};

static const placement *find_placement(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof placements / sizeof *placements; i++)
        if (strlen(placements[i].name) == length && memcmp(placements[i].name, name, length) == 0)
            return &placements[i];
    refuse("--placements: no such placement", name);
}

/* Neighbours of a grid of ranks in C order, whoever owns what: what a program knows without
 * recording. Of a multipartition the ranks are a square. */
static matrix cartesian_view(const decomposition *d)
{
    size_t dims[DECOMPOSITION_DIMS], count = 0, cells = 1;
    matrix view;
    for (int k = 0; k < d->dims; k++) {
        dims[count++] = (size_t)d->cells[k];
        cells *= (size_t)d->cells[k];
    }
    if (cells != d->ranks)
        dims[0] = dims[1], count = 2;
    must(setmatch_cartesian(dims, count, SETMATCH_ORDER_C, &view), counting);
    return view;
}

void study_measure(study *s)
{
    int64_t inside, total;
    must(setmatch_weight(&s->view, s->node_of_rank, &inside, &total), counting);
    s->inside = total > 0 ? (double)inside / (double)total : 1;
}

void study_place(study *s, const char *name)
{
    size_t length = strcspn(name, ":"), cores = s->machine.cores;
    size_t limit = name[length] == ':' ? strtoull(name + length + 1, NULL, 10) : cores;
    const placement *chosen = find_placement(name, length);
    if (limit == 0)
        refuse("--placements: no such placement", name);
    size_t *slots = allocate(s->nodes, sizeof *slots);
    for (size_t n = 0; n < s->nodes; n++)
        slots[n] = limit < cores ? limit : cores;
    matrix cartesian = chosen->cartesian ? cartesian_view(&s->array) : (matrix){0};
    const setmatch_input input = {.view = chosen->cartesian ? &cartesian : &s->view,
                                  .slots = slots,
                                  .nodes = s->nodes,
                                  .refine = chosen->place == setmatch_auto};
    must(chosen->place(&input, s->node_of_rank), name);
    matrix_release(&cartesian);
    free(slots);
    study_measure(s);
}

/* ---- forecasts ---- */

static void look_at_links(const study *s, const plan_loads *loads, forecast *f)
{
    for (size_t v = 0; v + 1 < loads->vertices; v++) {
        bool of_node = v < s->nodes;
        double busier = fmax(loads->up[v], loads->down[v]);
        double *busiest = of_node ? &f->busiest_node_bytes : &f->busiest_uplink_bytes;
        double rate = of_node ? s->machine.link_rate : s->machine.uplink_rate;
        f->uplink_bytes += of_node ? 0 : loads->up[v];
        *busiest = fmax(*busiest, busier);
        if (busier > 0)
            f->link_seconds = fmax(f->link_seconds, busier / rate);
    }
}

static double copy_seconds(const matrix *bytes)
{
    double *sum = allocate(bytes->cols, sizeof *sum), most = 0;
    for (size_t e = 0; e < matrix_entries(bytes); e++)
        sum[bytes->col[e]] += (double)bytes->value[e];
    for (size_t j = 0; j < bytes->cols; j++)
        most = fmax(most, sum[j]);
    free(sum);
    return most / COPY_RATE;
}

static forecast assess(const study *s, const plan_input *in, const size_t *rank_of_domain)
{
    plan_loads loads;
    forecast f = {.hop_bytes = plan_hop_bytes(in, rank_of_domain),
                  .crossing_bytes = plan_crossing_bytes(in, rank_of_domain),
                  .copy_seconds = copy_seconds(in->requests)};
    must(plan_load_links(in, rank_of_domain, &loads), planning);
    look_at_links(s, &loads, &f);
    plan_release_loads(&loads);
    return f;
}

/* Dynamic segmentation: ranks are in equal groups by number, the first of a group collects what the
 * group has. */
static forecast forecast_segments(const study *s)
{
    size_t ranks = s->array.ranks, a = s->aggregators;
    matrix_builder builder = {.rows = ranks, .cols = a};
    const matrix *units = &s->units;
    size_t *first = allocate(a, sizeof *first);
    for (size_t k = ranks; k-- > 0;) {
        int64_t sum = 0;
        for (size_t e = units->row_start[k]; e < units->row_start[k + 1]; e++)
            sum += units->value[e];
        first[k * a / ranks] = k;
        must(matrix_builder_add(&builder, k, k * a / ranks, sum), counting);
    }
    matrix bytes = finish(&builder);
    const plan_input in = {
        .requests = &bytes, .node_of_rank = s->node_of_rank, .topology = &s->topology};
    forecast f = assess(s, &in, first);
    free(first);
    matrix_release(&bytes);
    return f;
}

/* ---- plans ---- */

/* Those of even domains are lent to the plan: the next one has the same. */
static int sum_domains(void *context, const plan_draft *draft, rows_matrices *c)
{
    study *s = context;
    bool known = draft->units.unit == 0 && s->even.requests.row_start != NULL;
    *c = known ? s->even : sum_requests(s, &draft->division.domains);
    return 0;
}

static int sum_units(void *context, const pieces *units, matrix *bytes)
{
    const study *s = context;
    matrix of_nodes;
    (void)units;
    must(matrix_sum_rows(&of_nodes, &s->units, s->node_of_rank, s->nodes), counting);
    int rc = matrix_transpose(bytes, &of_nodes);
    matrix_release(&of_nodes);
    return rc;
}

static planner planner_of(const study *s, const size_t *ranks_on_node, bool fitted,
                          const plan_strategy *strategy)
{
    planner p = {.hi = s->array.bytes,
                 .division = {.kind = fitted ? DIVISION_FITTED : DIVISION_EVEN,
                              .aggregators = (int64_t)s->aggregators,
                              .stripe = s->stripe},
                 .strategy = strategy,
                 .nodes = s->nodes,
                 .ranks_on_node = ranks_on_node,
                 .node_of_rank = s->node_of_rank,
                 .topology = &s->topology};
    planner_start(&p);
    return p;
}

static forecast forecast_plan(study *s, const char *strategy)
{
    bool fitted = strcmp(strategy, "fitted") == 0;
    const plan_strategy *chosen = plan_find_strategy(fitted ? "tatp" : strategy);
    const plan_source source = {sum_domains, sum_units, s};
    size_t *ranks_on_node = allocate(s->nodes, sizeof *ranks_on_node);
    plan_draft plan, even;
    if (chosen == NULL)
        refuse("--strategies: no such strategy", strategy);
    for (size_t k = 0; k < s->array.ranks; k++)
        ranks_on_node[s->node_of_rank[k]]++;
    const planner p = planner_of(s, ranks_on_node, fitted, chosen);
    must(planner_make(&p, &source, &plan, &even), strategy);
    const plan_input in = plan_draft_problem(&plan);
    forecast f = assess(s, &in, plan.rank_of_domain);
    f.unit = plan.units.unit;
    rows_matrices *lent = plan.units.unit > 0 ? &even.c : &plan.c;
    s->even = *lent;
    *lent = (rows_matrices){.nearness = NULL};
    plan_draft_release(&plan);
    plan_draft_release(&even);
    free(ranks_on_node);
    return f;
}

forecast study_forecast(study *s, const char *strategy)
{
    return strcmp(strategy, "segments") == 0 ? forecast_segments(s) : forecast_plan(s, strategy);
}
