/* SPDX-License-Identifier: BSD-3-Clause */
/* One access pattern on one machine. */
#include "study.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/pieces.h"
#include "plan/plan.h"

/* At which an aggregator puts data together in memory: between two processes of one node, as the
 * SetMatch paper measured it on long messages. Bytes a second. */
#define COPY_RATE 3.5e9

/* ---- who accesses how much of what ---- */

static int add_shares(const study *s, const file_domains *domains, size_t rank,
                      matrix_builder *bytes, matrix_builder *blocks)
{
    access_list list = {0};
    domain_share *share = NULL;
    size_t shares = 0;
    int rc = decomposition_runs(&s->array, rank, 0, &list);
    if (rc == 0)
        rc = domains_cut(domains, &list, &share, &shares);
    for (size_t i = 0; i < shares && rc == 0; i++) {
        rc = matrix_builder_add(bytes, rank, share[i].domain, share[i].list.bytes);
        if (rc == 0)
            rc = matrix_builder_add(blocks, rank, share[i].domain, access_blocks(&share[i].list));
    }
    domains_free_shares(share, shares);
    access_release(&list);
    return rc;
}

/* Bytes and contiguous blocks of each rank in each domain; an empty domain has none. */
static int sum_requests(const study *s, const file_domains *domains, requests *r)
{
    matrix_builder bytes = {.rows = s->array.ranks, .cols = s->aggregators}, blocks = bytes;
    int rc = 0;
    for (size_t rank = 0; rank < s->array.ranks && rc == 0; rank++)
        rc = add_shares(s, domains, rank, &bytes, &blocks);
    if (rc == 0)
        rc = matrix_builder_finish(&bytes, &r->bytes);
    if (rc == 0)
        rc = matrix_builder_finish(&blocks, &r->blocks);
    matrix_builder_clear(&bytes);
    matrix_builder_clear(&blocks);
    return rc;
}

static void requests_release(requests *r)
{
    matrix_release(&r->bytes);
    matrix_release(&r->blocks);
}

/* Cut as fcoll/tatp cuts them. */
static int sum_even(study *s)
{
    const division_settings settings = {
        .kind = DIVISION_EVEN, .aggregators = (int64_t)s->aggregators, .stripe = s->stripe};
    division even = {0};
    int rc = division_make(&settings, 0, s->array.bytes, &even);
    if (rc == 0)
        rc = sum_requests(s, &even.domains, &s->even);
    division_release(&even);
    return rc;
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

int study_begin(study *s)
{
    s->aggregators = s->nodes * s->per_node;
    if (s->aggregators > s->array.ranks)
        s->aggregators = s->array.ranks;
    s->node_of_rank = calloc(s->array.ranks, sizeof *s->node_of_rank);
    int rc =
        s->node_of_rank == NULL ? -ENOMEM : machine_topology(&s->machine, s->nodes, &s->topology);
    if (rc == 0)
        rc = decomposition_view(&s->array, &s->view);
    if (rc == 0)
        rc = decomposition_profile(&s->array, whole_file(s).unit, &s->units);
    return rc == 0 ? sum_even(s) : rc;
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

static const struct {
    const char *name;
    setmatch_method_fn place;
    bool cartesian; /* from the process grid in place of the recorded view */
} placements[] = {
    {"byslot", setmatch_byslot, false}, {"bynode", setmatch_bynode, false},
    {"dla", setmatch_auto, false},      {"setmatch", setmatch_paper, false},
    {"mpipp", mpipp_place, false},      {"setmatch-cart", setmatch_paper, true},
    {"mpipp-cart", mpipp_place, true},
};

static size_t find_placement(const char *name, size_t length)
{
    size_t i = 0, count = sizeof placements / sizeof *placements;
    while (i < count &&
           (strlen(placements[i].name) != length || strncmp(placements[i].name, name, length) != 0))
        i++;
    return i < count ? i : SIZE_MAX;
}

/* Neighbours of a grid of ranks in C order, whoever owns what: what a program knows without
 * recording. Of a multipartition the ranks are a square. */
static int cartesian_view(const decomposition *d, matrix *view)
{
    size_t dims[DECOMPOSITION_DIMS], count = 0, cells = 1;
    for (int k = 0; k < d->dims; k++) {
        dims[count++] = (size_t)d->cells[k];
        cells *= (size_t)d->cells[k];
    }
    if (cells != d->ranks)
        dims[0] = dims[1], count = 2;
    return setmatch_cartesian(dims, count, SETMATCH_ORDER_C, view);
}

static int measure_inside(study *s)
{
    int64_t inside, total;
    int rc = setmatch_weight(&s->view, s->node_of_rank, &inside, &total);
    s->inside = rc == 0 && total > 0 ? (double)inside / (double)total : 1;
    return rc;
}

int study_place_given(study *s, const size_t *node_of_rank)
{
    for (size_t k = 0; k < s->array.ranks; k++) {
        if (node_of_rank[k] >= s->nodes)
            return -EINVAL;
        s->node_of_rank[k] = node_of_rank[k];
    }
    return measure_inside(s);
}

int study_place(study *s, const char *placement)
{
    size_t length = strcspn(placement, ":"), which = find_placement(placement, length);
    size_t limit =
        placement[length] == ':' ? strtoull(placement + length + 1, NULL, 10) : s->machine.cores;
    if (which == SIZE_MAX || limit == 0)
        return -ENOENT;
    size_t *slots = calloc(s->nodes, sizeof *slots);
    matrix cartesian = {0};
    int rc = slots == NULL ? -ENOMEM : 0;
    for (size_t n = 0; rc == 0 && n < s->nodes; n++)
        slots[n] = limit < s->machine.cores ? limit : s->machine.cores;
    if (rc == 0 && placements[which].cartesian)
        rc = cartesian_view(&s->array, &cartesian);
    if (rc == 0) {
        const setmatch_input input = {.view = placements[which].cartesian ? &cartesian : &s->view,
                                      .slots = slots,
                                      .nodes = s->nodes,
                                      .threshold = SETMATCH_DEFAULT_THRESHOLD,
                                      .refine = placements[which].place == setmatch_auto};
        rc = placements[which].place(&input, s->node_of_rank);
    }
    matrix_release(&cartesian);
    free(slots);
    return rc == 0 ? measure_inside(s) : rc;
}

/* ---- drafts ---- */

/* Who owns the domains of what ranks access. */
typedef struct draft {
    plan_input in;
    size_t *rank; /* of each domain */
} draft;

static void draft_release(draft *d)
{
    free(d->rank);
}

static int even_per_node(const study *s, size_t domains, size_t *per_node)
{
    size_t *ranks = calloc(s->nodes, sizeof *ranks);
    if (ranks == NULL)
        return -ENOMEM;
    for (size_t k = 0; k < s->array.ranks; k++)
        ranks[s->node_of_rank[k]]++;
    *per_node = plan_even_per_node(ranks, s->nodes, domains);
    free(ranks);
    return 0;
}

/* Release the draft also after an error. */
static int draft_assign(draft *d, const study *s, const requests *r, const char *strategy)
{
    const plan_strategy *chosen = plan_find_strategy(strategy);
    *d = (draft){.in = {.requests = &r->bytes,
                        .blocks = &r->blocks,
                        .node_of_rank = s->node_of_rank,
                        .topology = &s->topology},
                 .rank = calloc(r->bytes.cols, sizeof *d->rank)};
    if (chosen == NULL)
        return -ENOENT;
    int rc = d->rank == NULL ? -ENOMEM : even_per_node(s, r->bytes.cols, &d->in.per_node);
    return rc == 0 ? chosen->assign(&d->in, d->rank) : rc;
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

static int look_at_domains(const draft *d, forecast *f)
{
    const matrix *bytes = d->in.requests;
    double *sum = calloc(bytes->cols, sizeof *sum);
    if (sum == NULL)
        return -ENOMEM;
    for (size_t e = 0; e < matrix_entries(bytes); e++)
        sum[bytes->col[e]] += (double)bytes->value[e];
    for (size_t j = 0; j < bytes->cols; j++)
        f->copy_seconds = fmax(f->copy_seconds, sum[j] / COPY_RATE);
    free(sum);
    return 0;
}

static int assess(const study *s, const draft *d, forecast *f)
{
    plan_loads loads = {0};
    int rc = plan_hop_bytes(&d->in, d->rank, &f->hop_bytes);
    if (rc == 0)
        rc = plan_load_links(&d->in, d->rank, &loads);
    if (rc != 0)
        return rc;
    f->crossing_bytes = plan_crossing_bytes(&d->in, d->rank);
    look_at_links(s, &loads, f);
    plan_release_loads(&loads);
    return look_at_domains(d, f);
}

/* ---- strategies ---- */

static int forecast_requests(const study *s, const requests *r, const char *strategy, forecast *f)
{
    draft d;
    int rc = draft_assign(&d, s, r, strategy);
    if (rc == 0)
        rc = assess(s, &d, f);
    draft_release(&d);
    return rc;
}

/* Dynamic segmentation: ranks are in equal groups by number, the first of a group collects what the
 * group has. */
static int collect_groups(const study *s, matrix *bytes, size_t *first)
{
    size_t ranks = s->array.ranks, a = s->aggregators;
    matrix_builder builder = {.rows = ranks, .cols = a};
    const matrix *even = &s->even.bytes;
    int rc = 0;
    for (size_t k = ranks; rc == 0 && k-- > 0;) {
        int64_t sum = 0;
        for (size_t e = even->row_start[k]; e < even->row_start[k + 1]; e++)
            sum += even->value[e];
        first[k * a / ranks] = k;
        rc = matrix_builder_add(&builder, k, k * a / ranks, sum);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&builder, bytes);
    matrix_builder_clear(&builder);
    return rc;
}

static int forecast_segments(const study *s, forecast *f)
{
    matrix bytes = {0};
    draft d = {
        .in = {.requests = &bytes, .node_of_rank = s->node_of_rank, .topology = &s->topology},
        .rank = calloc(s->aggregators, sizeof *d.rank)};
    int rc = d.rank == NULL ? -ENOMEM : collect_groups(s, &bytes, d.rank);
    if (rc == 0)
        rc = assess(s, &d, f);
    draft_release(&d);
    matrix_release(&bytes);
    return rc;
}

/* Bytes of each node in each unit, dealt to the aggregators of even domains. units: none where
 * these do not pay. */
static int fit(const study *s, const draft *even, const forecast *f, pieces *units)
{
    const division_settings settings = fitted_settings(s);
    const pieces whole = whole_file(s);
    if (!pieces_may_pay(&whole, &settings, s->aggregators, f->hop_bytes, f->crossing_bytes))
        return 0;
    matrix of_nodes = {0}, bytes = {0};
    int rc = 0;
    size_t *node = base_zeroed(s->aggregators, sizeof *node, &rc);
    for (size_t j = 0; j < s->aggregators && rc == 0; j++)
        node[j] = s->node_of_rank[even->rank[j]];
    if (rc == 0)
        rc = matrix_sum_rows(&of_nodes, &s->units, s->node_of_rank, s->nodes);
    if (rc == 0)
        rc = matrix_transpose(&bytes, &of_nodes);
    const pieces_fit_input in = {&settings, &s->topology, node, s->aggregators, f->hop_bytes};
    if (rc == 0)
        rc = pieces_fit(&whole, &bytes, &in, units);
    matrix_release(&of_nodes);
    matrix_release(&bytes);
    free(node);
    return rc;
}

/* As fcoll/tatp assigns them: what the aggregators got is assigned once more. */
static int assess_fitted(const study *s, const pieces *units, forecast *f)
{
    const division_settings settings = fitted_settings(s);
    requests r = {0};
    division fitted = {0};
    int rc = pieces_divide(units, &settings, s->aggregators, &fitted);
    if (rc == 0)
        rc = sum_requests(s, &fitted.domains, &r);
    *f = (forecast){.unit = units->unit};
    if (rc == 0)
        rc = forecast_requests(s, &r, "tatp", f);
    requests_release(&r);
    division_release(&fitted);
    return rc;
}

/* Even domains where fitted ones are no better. */
static int forecast_fitted(const study *s, forecast *f)
{
    draft even;
    pieces units = {0};
    int rc = draft_assign(&even, s, &s->even, "tatp");
    if (rc == 0)
        rc = assess(s, &even, f);
    if (rc == 0)
        rc = fit(s, &even, f, &units);
    if (rc == 0 && units.unit > 0)
        rc = assess_fitted(s, &units, f);
    pieces_release(&units);
    draft_release(&even);
    return rc;
}

int study_forecast(const study *s, const char *strategy, forecast *f)
{
    *f = (forecast){0};
    if (strcmp(strategy, "fitted") == 0)
        return forecast_fitted(s, f);
    if (strcmp(strategy, "segments") == 0)
        return forecast_segments(s, f);
    return forecast_requests(s, &s->even, strategy, f);
}
