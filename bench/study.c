/* SPDX-License-Identifier: BSD-3-Clause */
/* One access pattern on one machine. */
#include "study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/pieces.h"
#include "plan/plan.h"
#include "setmatch/setmatch.h"
#include "mpipp.h"
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

/* Cut as fcoll/tatp cuts them; an empty domain has no bytes of any rank. */
static int sum_even(study *s)
{
    const division_settings settings = {
        .kind = DIVISION_EVEN, .aggregators = (int64_t)s->aggregators, .stripe = s->stripe};
    const file_domains *domains = &s->division.domains;
    size_t a = s->aggregators;
    int64_t bytes = s->array.bytes, *bound = calloc(a + 1, sizeof *bound);
    int rc = bound == NULL ? -ENOMEM : division_make(&settings, 0, bytes, &s->division);
    for (size_t j = 0; rc == 0 && j <= a; j++)
        bound[j] = bytes;
    for (size_t i = domains->ranges; rc == 0 && i-- > 0;)
        for (size_t j = domains->range[i].domain + 1; j-- > 0;)
            bound[j] = domains->range[i].lo;
    if (rc == 0)
        rc = sum_domains(s, bound);
    free(bound);
    return rc;
}

int study_begin(study *s)
{
    s->aggregators = s->nodes * s->per_node;
    if (s->aggregators > s->array.ranks)
        s->aggregators = s->array.ranks;
    const division_settings striped = {.stripe = s->stripe};
    s->unit = pieces_of(&striped, s->aggregators, 0, s->array.bytes).unit;
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
    division_release(&s->division);
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

static double sum_uplinks(const struct traffic *t, const topo *topology)
{
    double sum = 0;
    for (size_t v = topology->nodes; v + 1 < topology->tree.vertices; v++)
        sum += t->up[v];
    return sum;
}

static void look_at_links(const struct traffic *t, const study *s, forecast *f)
{
    const topo *topology = &s->topology;
    f->uplink_bytes = sum_uplinks(t, topology);
    for (size_t v = 0; v + 1 < topology->tree.vertices; v++) {
        double busier = larger(t->up[v], t->down[v]);
        double *busiest = v < topology->nodes ? &f->busiest_node_bytes : &f->busiest_uplink_bytes;
        *busiest = larger(*busiest, busier);
        if (busier > 0)
            f->link_seconds =
                larger(f->link_seconds, busier / machine_link_rate(&s->machine, topology, v));
    }
}

static int traffic_init(struct traffic *t, const study *s, size_t domains)
{
    int rc = 0;
    t->up = base_zeroed(s->topology.tree.vertices, sizeof *t->up, &rc);
    t->down = base_zeroed(s->topology.tree.vertices, sizeof *t->down, &rc);
    t->domain = base_zeroed(domains, sizeof *t->domain, &rc);
    return rc;
}

static void traffic_release(struct traffic *t)
{
    free(t->up);
    free(t->down);
    free(t->domain);
}

/* ---- drafts ---- */

/* What ranks have of domains, and who owns these. */
struct draft {
    const study *s;
    plan_input in;
    size_t *rank; /* of each domain */
};

static void draft_release(struct draft *d)
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
static int draft_init(struct draft *d, const study *s, const matrix *requests)
{
    *d = (struct draft){
        .s = s,
        .in = {.requests = requests, .node_of_rank = s->node_of_rank, .topology = &s->topology},
        .rank = calloc(requests->cols, sizeof *d->rank)};
    return d->rank == NULL ? -ENOMEM : even_per_node(s, requests->cols, &d->in.per_node);
}

static int assign(struct draft *d, const char *strategy)
{
    const plan_strategy *chosen = plan_find_strategy(strategy);
    return chosen == NULL ? -ENOENT : chosen->assign(&d->in, d->rank);
}

static int follow_bytes(const struct draft *d, forecast *f)
{
    const study *s = d->s;
    size_t domains = d->in.requests->cols;
    struct traffic t;
    int rc = traffic_init(&t, s, domains);
    if (rc == 0) {
        send_all(&t, s, d->in.requests, d->rank);
        look_at_links(&t, s, f);
        for (size_t j = 0; j < domains; j++)
            f->copy_seconds = larger(f->copy_seconds, t.domain[j] / s->machine.copy_rate);
    }
    traffic_release(&t);
    return rc;
}

static int assess(const struct draft *d, forecast *f)
{
    int rc = plan_hop_bytes(&d->in, d->rank, &f->hop_bytes);
    if (rc != 0)
        return rc;
    f->crossing_bytes = plan_crossing_bytes(&d->in, d->rank);
    return follow_bytes(d, f);
}

/* ---- strategies ---- */

/* Of even domains; release it also after an error. */
static int draft_even(struct draft *d, const study *s, const char *strategy)
{
    int rc = draft_init(d, s, &s->even);
    d->in.blocks = &s->blocks;
    return rc == 0 ? assign(d, strategy) : rc;
}

static int forecast_even(const study *s, const char *strategy, forecast *f)
{
    struct draft d;
    int rc = draft_even(&d, s, strategy);
    if (rc == 0)
        rc = assess(&d, f);
    draft_release(&d);
    return rc;
}

/* As fcoll/tatp assigns domains of other borders. */
static int forecast_domains(const study *s, const matrix *requests, forecast *f)
{
    struct draft d;
    int rc = draft_init(&d, s, requests);
    if (rc == 0)
        rc = assign(&d, "tatp");
    if (rc == 0)
        rc = assess(&d, f);
    draft_release(&d);
    return rc;
}

/* ---- dynamic segmentation ---- */

/* Ranks are in equal groups by number, the first of a group collects what the group has. */
static int collect_groups(const study *s, matrix *requests, size_t *first)
{
    size_t ranks = s->array.ranks, a = s->aggregators;
    matrix_builder builder = {.rows = ranks, .cols = a};
    int rc = 0;
    for (size_t k = ranks; rc == 0 && k-- > 0;) {
        int64_t bytes = 0;
        for (size_t e = s->units.row_start[k]; e < s->units.row_start[k + 1]; e++)
            bytes += s->units.value[e];
        first[k * a / ranks] = k;
        rc = matrix_builder_add(&builder, k, k * a / ranks, bytes);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&builder, requests);
    matrix_builder_clear(&builder);
    return rc;
}

static int forecast_segments(const study *s, forecast *f)
{
    struct draft d = {0};
    matrix requests = {0};
    size_t *first = calloc(s->aggregators, sizeof *first);
    int rc = first == NULL ? -ENOMEM : collect_groups(s, &requests, first);
    if (rc == 0)
        rc = draft_init(&d, s, &requests);
    for (size_t j = 0; j < s->aggregators && rc == 0; j++)
        d.rank[j] = first[j];
    if (rc == 0)
        rc = assess(&d, f);
    draft_release(&d);
    matrix_release(&requests);
    free(first);
    return rc;
}

/* ---- fitted domains ---- */

/* As fcoll/tatp does it: the aggregators' nodes are those of even domains, units are dealt to
 * these, and what they got is then assigned once more. units: none where these do not pay. */
static int fit(const struct draft *even, division_kind kind, pieces *units)
{
    const study *s = even->s;
    const division_settings settings = {.kind = kind, .stripe = s->stripe};
    const pieces whole = pieces_of(&settings, s->aggregators, 0, s->array.bytes);
    size_t *node = calloc(s->aggregators, sizeof *node);
    matrix bytes = {0};
    double hop_bytes;
    int rc = node == NULL ? -ENOMEM : plan_hop_bytes(&even->in, even->rank, &hop_bytes);
    if (rc == 0 && pieces_may_pay(&whole, &settings, s->aggregators, hop_bytes,
                                  plan_crossing_bytes(&even->in, even->rank))) {
        const pieces_fit_input in = {&settings, &s->topology, node, s->aggregators, hop_bytes};
        for (size_t j = 0; j < s->aggregators; j++)
            node[j] = s->node_of_rank[even->rank[j]];
        rc = units_by_node(&s->units, s->node_of_rank, s->topology.nodes, &bytes);
        if (rc == 0)
            rc = pieces_fit(&whole, &bytes, &in, units);
    }
    matrix_release(&bytes);
    free(node);
    return rc;
}

static int sum_fitted(const study *s, const pieces *fitted, matrix *requests)
{
    const matrix *units = &s->units;
    matrix_builder builder = {.rows = units->rows, .cols = s->aggregators};
    int rc = 0;
    for (size_t k = 0; k < units->rows && rc == 0; k++)
        for (size_t e = units->row_start[k]; e < units->row_start[k + 1] && rc == 0; e++)
            rc = matrix_builder_add(&builder, k, fitted->domain[units->col[e]], units->value[e]);
    if (rc == 0)
        rc = matrix_builder_finish(&builder, requests);
    matrix_builder_clear(&builder);
    return rc;
}

static int assess_fitted(const study *s, const pieces *units, forecast *f)
{
    matrix requests = {0};
    int rc = sum_fitted(s, units, &requests);
    *f = (forecast){.unit = units->unit};
    if (rc == 0)
        rc = forecast_domains(s, &requests, f);
    matrix_release(&requests);
    return rc;
}

/* Even domains where fitted ones are no better. */
static int forecast_fitted(const study *s, division_kind kind, forecast *f)
{
    struct draft even;
    pieces units = {0};
    int rc = draft_even(&even, s, "tatp");
    if (rc == 0)
        rc = assess(&even, f);
    if (rc == 0)
        rc = fit(&even, kind, &units);
    if (rc == 0 && units.unit > 0)
        rc = assess_fitted(s, &units, f);
    pieces_release(&units);
    draft_release(&even);
    return rc;
}

int study_forecast(const study *s, const char *strategy, forecast *f)
{
    *f = (forecast){0};
    if (strcmp(strategy, "auto") == 0)
        return forecast_fitted(s, DIVISION_AUTO, f);
    if (strcmp(strategy, "fitted") == 0)
        return forecast_fitted(s, DIVISION_FITTED, f);
    if (strcmp(strategy, "segments") == 0)
        return forecast_segments(s, f);
    return forecast_even(s, strategy, f);
}
