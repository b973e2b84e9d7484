/* SPDX-License-Identifier: BSD-3-Clause */
/* One access pattern on one machine. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "study.h"

#include <math.h>

#include "must.h"
#include "plan/pieces.h"
#include "plan/plan.h"

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
    must(domains_cut(domains, &list, &share, &shares), counting);
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

/* An empty domain has no bytes. Releases the domains. */
static requests sum_requests(const study *s, division *d)
{
    matrix_builder bytes = {.rows = s->array.ranks, .cols = s->aggregators}, blocks = bytes;
    for (size_t rank = 0; rank < s->array.ranks; rank++)
        add_shares(s, &d->domains, rank, &bytes, &blocks);
    division_release(d);
    return (requests){finish(&bytes), finish(&blocks)};
}

static void requests_release(requests *r)
{
    matrix_release(&r->bytes);
    matrix_release(&r->blocks);
}

/* Cut as fcoll/tatp cuts them. */
static requests sum_even(const study *s)
{
    const division_settings settings = {
        .kind = DIVISION_EVEN, .aggregators = (int64_t)s->aggregators, .stripe = s->stripe};
    division even;
    must(division_make(&settings, 0, s->array.bytes, &even), counting);
    return sum_requests(s, &even);
}

static division_settings fitted_settings(const study *s)
{
    return (division_settings){.kind = DIVISION_FITTED, .stripe = s->stripe};
}

static pieces whole_file(const study *s)
{
    const division_settings settings = fitted_settings(s);
    return pieces_of(&settings, s->aggregators, 0, s->array.bytes);
}

void study_begin(study *s)
{
    s->aggregators = s->nodes * s->per_node;
    if (s->aggregators > s->array.ranks)
        s->aggregators = s->array.ranks;
    s->node_of_rank = allocate(s->array.ranks, sizeof *s->node_of_rank);
    machine_topology(&s->machine, s->nodes, &s->topology);
    must(decomposition_view(&s->array, &s->view), counting);
    must(decomposition_profile(&s->array, whole_file(s).unit, &s->units), counting);
    s->even = sum_even(s);
}

void study_end(study *s)
{
    topo_release(&s->topology);
    matrix_release(&s->view);
    matrix_release(&s->units);
    requests_release(&s->even);
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

/* ---- drafts ---- */

/* Who owns the domains of what ranks access. */
typedef struct draft {
    plan_input in;
    size_t *rank; /* of each domain */
} draft;

static size_t even_per_node(const study *s, size_t domains)
{
    size_t *ranks = allocate(s->nodes, sizeof *ranks);
    for (size_t k = 0; k < s->array.ranks; k++)
        ranks[s->node_of_rank[k]]++;
    size_t per_node = plan_even_per_node(ranks, s->nodes, domains);
    free(ranks);
    return per_node;
}

static draft draft_assign(const study *s, const requests *r, const char *strategy)
{
    const plan_strategy *chosen = plan_find_strategy(strategy);
    draft d = {.in = {.requests = &r->bytes,
                      .blocks = &r->blocks,
                      .node_of_rank = s->node_of_rank,
                      .topology = &s->topology,
                      .per_node = even_per_node(s, r->bytes.cols)},
               .rank = allocate(r->bytes.cols, sizeof *d.rank)};
    if (chosen == NULL)
        refuse("--strategies: no such strategy", strategy);
    must(chosen->assign(&d.in, d.rank), strategy);
    return d;
}

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

static forecast assess(const study *s, const draft *d)
{
    plan_loads loads;
    forecast f = {.crossing_bytes = plan_crossing_bytes(&d->in, d->rank),
                  .copy_seconds = copy_seconds(d->in.requests)};
    must(plan_hop_bytes(&d->in, d->rank, &f.hop_bytes), planning);
    must(plan_load_links(&d->in, d->rank, &loads), planning);
    look_at_links(s, &loads, &f);
    plan_release_loads(&loads);
    return f;
}

/* ---- strategies ---- */

static forecast forecast_requests(const study *s, const requests *r, const char *strategy)
{
    draft d = draft_assign(s, r, strategy);
    forecast f = assess(s, &d);
    free(d.rank);
    return f;
}

/* Dynamic segmentation: ranks are in equal groups by number, the first of a group collects what the
 * group has. */
static forecast forecast_segments(const study *s)
{
    size_t ranks = s->array.ranks, a = s->aggregators;
    matrix_builder builder = {.rows = ranks, .cols = a};
    const matrix *even = &s->even.bytes;
    size_t *first = allocate(a, sizeof *first);
    for (size_t k = ranks; k-- > 0;) {
        int64_t sum = 0;
        for (size_t e = even->row_start[k]; e < even->row_start[k + 1]; e++)
            sum += even->value[e];
        first[k * a / ranks] = k;
        must(matrix_builder_add(&builder, k, k * a / ranks, sum), counting);
    }
    matrix bytes = finish(&builder);
    const draft d = {
        {.requests = &bytes, .node_of_rank = s->node_of_rank, .topology = &s->topology}, first};
    forecast f = assess(s, &d);
    free(first);
    matrix_release(&bytes);
    return f;
}

/* Bytes of each node in each unit, dealt to the aggregators of even domains; none where these do
 * not pay. */
static pieces fit(const study *s, const draft *even, const forecast *f)
{
    const division_settings settings = fitted_settings(s);
    const pieces whole = whole_file(s);
    pieces units = {0};
    if (!pieces_may_pay(&whole, &settings, s->aggregators, f->hop_bytes, f->crossing_bytes))
        return units;
    matrix of_nodes, bytes;
    size_t *node = allocate(s->aggregators, sizeof *node);
    for (size_t j = 0; j < s->aggregators; j++)
        node[j] = s->node_of_rank[even->rank[j]];
    must(matrix_sum_rows(&of_nodes, &s->units, s->node_of_rank, s->nodes), counting);
    must(matrix_transpose(&bytes, &of_nodes), counting);
    const pieces_fit_input in = {&settings, &s->topology, node, s->aggregators, f->hop_bytes};
    must(pieces_fit(&whole, &bytes, &in, &units), planning);
    matrix_release(&of_nodes);
    matrix_release(&bytes);
    free(node);
    return units;
}

/* As fcoll/tatp does it: what the aggregators of even domains got of the units is assigned once
 * more. Even domains where fitted ones are no better. */
static forecast forecast_fitted(const study *s)
{
    const division_settings settings = fitted_settings(s);
    draft even = draft_assign(s, &s->even, "tatp");
    forecast f = assess(s, &even);
    pieces units = fit(s, &even, &f);
    if (units.unit > 0) {
        division fitted;
        must(pieces_divide(&units, &settings, s->aggregators, &fitted), planning);
        requests r = sum_requests(s, &fitted);
        f = forecast_requests(s, &r, "tatp");
        f.unit = units.unit;
        requests_release(&r);
    }
    pieces_release(&units);
    free(even.rank);
    return f;
}

forecast study_forecast(const study *s, const char *strategy)
{
    if (strcmp(strategy, "fitted") == 0)
        return forecast_fitted(s);
    if (strcmp(strategy, "segments") == 0)
        return forecast_segments(s);
    return forecast_requests(s, &s->even, strategy);
}
