/* SPDX-License-Identifier: BSD-3-Clause */
/* One access pattern on one machine. */
#include "study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/pieces.h"
#include "plan/plan.h"
#include "setmatch/setmatch.h"
#include "tally.h"

/* ---- who accesses how much of what ---- */

static int sum_units(study *s)
{
    matrix_builder bytes = {.rows = s->array.ranks, .cols = units_of(s->array.bytes, s->unit)};
    int rc = add_units(&s->array, 0, s->unit, &bytes);
    if (rc == 0)
        rc = matrix_builder_finish(&bytes, &s->units);
    matrix_builder_clear(&bytes);
    return rc;
}

static int sum_domains(study *s, const int64_t *bound)
{
    matrix_builder bytes = {.rows = s->array.ranks, .cols = s->aggregators}, blocks = bytes;
    int rc = add_parts(&s->array, 0, bound, s->aggregators, &bytes, &blocks);
    if (rc == 0)
        rc = matrix_builder_finish(&bytes, &s->even);
    if (rc == 0)
        rc = matrix_builder_finish(&blocks, &s->blocks);
    matrix_builder_clear(&bytes);
    matrix_builder_clear(&blocks);
    return rc;
}

/* Cut as fcoll/tatp cuts them; an empty domain has bytes of nobody. */
static int sum_even(study *s)
{
    const division_settings settings = {
        .kind = DIVISION_EVEN, .aggregators = (int64_t)s->aggregators, .stripe = s->stripe};
    division even = {0};
    const file_domains *domains = &even.domains;
    size_t a = s->aggregators;
    int64_t bytes = s->array.bytes, *bound = calloc(a + 1, sizeof *bound);
    int rc = bound == NULL ? -ENOMEM : division_make(&settings, 0, bytes, &even);
    for (size_t j = 0; rc == 0 && j <= a; j++)
        bound[j] = bytes;
    for (size_t i = domains->ranges; rc == 0 && i-- > 0;)
        for (size_t j = domains->range[i].domain + 1; j-- > 0;)
            bound[j] = domains->range[i].lo;
    if (rc == 0)
        rc = sum_domains(s, bound);
    division_release(&even);
    free(bound);
    return rc;
}

int study_begin(study *s)
{
    s->aggregators = s->nodes * s->per_node;
    if (s->aggregators > s->array.ranks)
        s->aggregators = s->array.ranks;
    s->unit = fitted_smallest_unit(s->unit, s->stripe, 0, s->array.bytes);
    s->node_of_rank = calloc(s->array.ranks, sizeof *s->node_of_rank);
    int rc =
        s->node_of_rank == NULL ? -ENOMEM : machine_topology(&s->machine, s->nodes, &s->topology);
    if (rc == 0)
        rc = decomposition_view(&s->array, &s->view);
    if (rc == 0)
        rc = sum_units(s);
    return rc == 0 ? sum_even(s) : rc;
}

void study_end(study *s)
{
    topo_release(&s->topology);
    matrix_release(&s->view);
    matrix_release(&s->units);
    matrix_release(&s->even);
    matrix_release(&s->blocks);
    free(s->node_of_rank);
    decomposition_release(&s->array);
}

/* ---- placement ---- */

static const struct {
    const char *name;
    setmatch_method_fn place;
    bool cartesian; /* from the process grid in place of the recorded view */
} placements[] = {
    {"byslot", setmatch_byslot, false},   {"bynode", setmatch_bynode, false},
    {"dla", setmatch_auto, false},        {"setmatch", setmatch_paper, false},
    {"mpipp", setmatch_mpipp, false},     {"setmatch-cart", setmatch_paper, true},
    {"mpipp-cart", setmatch_mpipp, true},
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

/* ---- bytes on links ---- */

struct traffic {
    double *up, *down; /* of the link above each vertex of the tree */
    double *domain;    /* of each domain */
};

/* A child comes before its parent: the lower of two vertices goes up until they meet. */
static void send(struct traffic *t, const topo_tree *tree, size_t from, size_t to, double bytes)
{
    while (from != to) {
        if (from < to) {
            t->up[from] += bytes;
            from = tree->parent[from];
        } else {
            t->down[to] += bytes;
            to = tree->parent[to];
        }
    }
}

static void send_all(struct traffic *t, const study *s, const matrix *requests,
                     const size_t *rank_of_domain)
{
    for (size_t k = 0; k < requests->rows; k++)
        for (size_t e = requests->row_start[k]; e < requests->row_start[k + 1]; e++) {
            size_t j = requests->col[e], from = s->node_of_rank[k],
                   to = s->node_of_rank[rank_of_domain[j]];
            double bytes = (double)requests->value[e];
            t->domain[j] += bytes;
            send(t, &s->topology.tree, from, to, bytes);
        }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void look_at_links(const struct traffic *t, const study *s, forecast *f)
{
    const topo *topology = &s->topology;
    for (size_t v = 0; v + 1 < topology->tree.vertices; v++) {
        double busier = larger(t->up[v], t->down[v]);
        double *busiest = v < topology->nodes ? &f->busiest_node_bytes : &f->busiest_uplink_bytes;
        *busiest = larger(*busiest, busier);
        if (v >= topology->nodes)
            f->uplink_bytes += t->up[v];
        if (busier > 0)
            f->link_seconds =
                larger(f->link_seconds, busier / machine_link_rate(&s->machine, topology, v));
    }
}

static int follow_bytes(const study *s, const matrix *requests, const size_t *rank_of_domain,
                        forecast *f)
{
    size_t vertices = s->topology.tree.vertices;
    struct traffic t = {calloc(vertices, sizeof(double)), calloc(vertices, sizeof(double)),
                        calloc(requests->cols, sizeof(double))};
    int rc = t.up == NULL || t.down == NULL || t.domain == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        send_all(&t, s, requests, rank_of_domain);
        look_at_links(&t, s, f);
        for (size_t j = 0; j < requests->cols; j++)
            f->copy_seconds = larger(f->copy_seconds, t.domain[j] / s->machine.copy_rate);
    }
    free(t.up);
    free(t.down);
    free(t.domain);
    return rc;
}

static int assess(const study *s, const plan_input *in, const size_t *rank_of_domain, forecast *f)
{
    int rc = plan_hop_bytes(in, rank_of_domain, &f->hop_bytes);
    if (rc != 0)
        return rc;
    f->crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    return follow_bytes(s, in->requests, rank_of_domain, f);
}

/* ---- strategies ---- */

static size_t *count_ranks(const study *s)
{
    size_t *ranks = calloc(s->nodes, sizeof *ranks);
    for (size_t k = 0; ranks != NULL && k < s->array.ranks; k++)
        ranks[s->node_of_rank[k]]++;
    return ranks;
}

static int even_per_node(const study *s, size_t *per_node)
{
    size_t *ranks = count_ranks(s);
    if (ranks == NULL)
        return -ENOMEM;
    *per_node = plan_even_per_node(ranks, s->nodes, s->aggregators);
    free(ranks);
    return 0;
}

/* *in is then what was assigned. */
static int assign_even(const study *s, const char *strategy, size_t *rank_of_domain, plan_input *in)
{
    const plan_strategy *chosen = plan_find_strategy(strategy);
    *in = (plan_input){.requests = &s->even,
                       .blocks = &s->blocks,
                       .node_of_rank = s->node_of_rank,
                       .topology = &s->topology};
    int rc = even_per_node(s, &in->per_node);
    if (rc != 0)
        return rc;
    return chosen == NULL ? -ENOENT : chosen->assign(in, lap_find_solver("jv"), rank_of_domain);
}

static int forecast_even(const study *s, const char *strategy, forecast *f)
{
    plan_input in;
    size_t *rank_of_domain = calloc(s->aggregators, sizeof *rank_of_domain);
    int rc = rank_of_domain == NULL ? -ENOMEM : assign_even(s, strategy, rank_of_domain, &in);
    if (rc == 0)
        rc = assess(s, &in, rank_of_domain, f);
    free(rank_of_domain);
    return rc;
}

/* Dynamic segmentation: ranks in equal groups by number, the first of a group collects what the
 * group has. */
static int forecast_segments(const study *s, forecast *f)
{
    size_t ranks = s->array.ranks, a = s->aggregators;
    matrix_builder builder = {.rows = ranks, .cols = a};
    matrix requests = {0};
    size_t *first = calloc(a, sizeof *first);
    int rc = first == NULL ? -ENOMEM : 0;
    for (size_t k = ranks; rc == 0 && k-- > 0;) {
        int64_t bytes = 0;
        for (size_t e = s->units.row_start[k]; e < s->units.row_start[k + 1]; e++)
            bytes += s->units.value[e];
        first[k * a / ranks] = k;
        rc = matrix_builder_add(&builder, k, k * a / ranks, bytes);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&builder, &requests);
    if (rc == 0) {
        const plan_input in = {
            .requests = &requests, .node_of_rank = s->node_of_rank, .topology = &s->topology};
        rc = assess(s, &in, first, f);
    }
    matrix_release(&requests);
    matrix_builder_clear(&builder);
    free(first);
    return rc;
}

/* ---- fitted domains ---- */

/* As fcoll/tatp does it: the aggregators' nodes are those of even domains, units are dealt to
 * these, and what they got is then assigned once more. */
struct fitting {
    const study *s;
    plan_input even;
    size_t *rank;    /* of each even domain, and then of each fitted one */
    size_t *node;    /* of each aggregator */
    pieces units;    /* fitted */
    matrix requests; /* ranks x fitted domains */
};

/* f->units are none where fitted domains do not pay. */
static int fit(struct fitting *f, const forecast *even)
{
    const study *s = f->s;
    const division_settings settings = {.kind = DIVISION_FITTED};
    const pieces_fit_input in = {&settings,      &s->topology,    f->node,
                                 s->aggregators, even->hop_bytes, NULL};
    const pieces smallest = pieces_cut(0, s->array.bytes, 0, s->unit);
    matrix bytes;
    if (!pieces_may_pay(&smallest, &settings, s->aggregators, even->hop_bytes,
                        even->crossing_bytes))
        return 0;
    int rc = units_by_node(&s->units, s->node_of_rank, s->nodes, &bytes);
    if (rc != 0)
        return rc;
    for (size_t j = 0; j < s->aggregators; j++)
        f->node[j] = s->node_of_rank[f->rank[j]];
    rc = pieces_fit(&smallest, &bytes, &in, &f->units);
    matrix_release(&bytes);
    return rc;
}

static int sum_fitted(struct fitting *f)
{
    const matrix *units = &f->s->units;
    matrix_builder builder = {.rows = units->rows, .cols = f->s->aggregators};
    size_t smallest = (size_t)(f->units.unit / f->s->unit);
    int rc = 0;
    for (size_t k = 0; k < units->rows && rc == 0; k++)
        for (size_t e = units->row_start[k]; e < units->row_start[k + 1] && rc == 0; e++)
            rc = matrix_builder_add(&builder, k, f->units.domain[units->col[e] / smallest],
                                    units->value[e]);
    if (rc == 0)
        rc = matrix_builder_finish(&builder, &f->requests);
    matrix_builder_clear(&builder);
    return rc;
}

static int assess_fitted(struct fitting *f, forecast *result)
{
    plan_input in = f->even;
    in.requests = &f->requests;
    in.blocks = NULL;
    *result = (forecast){.unit = f->units.unit};
    int rc = plan_find_strategy("tatp")->assign(&in, lap_find_solver("jv"), f->rank);
    return rc == 0 ? assess(f->s, &in, f->rank, result) : rc;
}

/* Even domains where fitted ones are no better. */
static int forecast_fitted(const study *s, forecast *result)
{
    struct fitting f = {.s = s,
                        .node = calloc(s->aggregators, sizeof(size_t)),
                        .rank = calloc(s->aggregators, sizeof(size_t))};
    int rc = f.node == NULL || f.rank == NULL ? -ENOMEM : assign_even(s, "tatp", f.rank, &f.even);
    if (rc == 0)
        rc = assess(s, &f.even, f.rank, result);
    if (rc == 0)
        rc = fit(&f, result);
    if (rc == 0 && f.units.unit > 0)
        rc = sum_fitted(&f);
    if (rc == 0 && f.units.unit > 0)
        rc = assess_fitted(&f, result);
    matrix_release(&f.requests);
    pieces_release(&f.units);
    free(f.node);
    free(f.rank);
    return rc;
}

int study_forecast(const study *s, const char *strategy, forecast *f)
{
    *f = (forecast){0};
    if (strcmp(strategy, "fitted") == 0)
        return forecast_fitted(s, f);
    if (strcmp(strategy, "segments") == 0)
        return forecast_segments(s, f);
    return forecast_even(s, strategy, f);
}
