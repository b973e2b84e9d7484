/* SPDX-License-Identifier: BSD-3-Clause */
/* Fitted file domains: from the bytes of units on nodes to the aggregator of each unit. */
#include "plan/fitted.h"
#include "plan/auction.h"
#include "plan/distance.h"
#include "plan/input.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* In bytes of the average unit times one hop. FINE_EPSILON is also the gap that the bound should
 * prove, as part of all bytes. */
#define COARSE_EPSILON .01
#define FINE_EPSILON .002

/* ---- checks ---- */

static int check_aggregators(const fitted_input *in)
{
    for (size_t j = 0; j < in->aggregators; j++)
        if (in->node_of_aggregator[j] >= in->topology->nodes)
            return -EINVAL;
    return in->aggregators > 0 && in->bytes->cols == in->topology->nodes ? 0 : -EINVAL;
}

static int check_options(const fitted_input *in, const fitted_options *options)
{
    if (!(options->epsilon >= 0.0) || !(options->least_saving >= 0.0))
        return -EINVAL;
    for (size_t u = 0; options->alternative != NULL && u < in->bytes->rows; u++)
        if (options->alternative[u] >= in->aggregators)
            return -EINVAL;
    return 0;
}

/* Counts bytes and the units that have any. */
static int measure_units(const matrix *bytes, fitted_report *report)
{
    for (size_t u = 0; u < bytes->rows; u++) {
        double sum = 0.0;
        for (size_t e = bytes->row_start[u]; e < bytes->row_start[u + 1]; e++) {
            if (bytes->value[e] < 0)
                return -EINVAL;
            sum += (double)bytes->value[e];
        }
        report->bytes += sum;
        report->loaded += sum > 0.0;
    }
    return 0;
}

/* ---- the cost of an assignment ---- */

struct cost {
    double crossing, hop_bytes;
};

static double staying_bytes(const matrix *m, const size_t *node_of_unit)
{
    double staying = 0.0;
    for (size_t u = 0; u < m->rows; u++)
        for (size_t e = m->row_start[u]; e < m->row_start[u + 1]; e++)
            staying += m->col[e] == node_of_unit[u] ? (double)m->value[e] : 0.0;
    return staying;
}

static double routed_hop_bytes(const fitted_input *in, const size_t *node_of_unit)
{
    double sum = 0.0;
    for (size_t u = 0; u < in->bytes->rows; u++)
        if (node_of_unit[u] != AUCTION_NOWHERE)
            sum += auction_hop_bytes(in->bytes, in->topology, u, node_of_unit[u]);
    return sum;
}

static struct cost cost_of_units(const fitted_input *in, const size_t *node_of_unit, double bytes)
{
    double staying = staying_bytes(in->bytes, node_of_unit), crossing = bytes - staying;
    return (struct cost){
        crossing,
        is_flat(in->topology) ? TOPO_OTHER_NODE * crossing + TOPO_SAME_NODE * staying
                              : routed_hop_bytes(in, node_of_unit),
    };
}

static size_t count_runs(const size_t *aggregator_of_unit, size_t units)
{
    size_t runs = units > 0;
    for (size_t u = 1; u < units; u++)
        runs += aggregator_of_unit[u] != aggregator_of_unit[u - 1];
    return runs;
}

/* ---- the assignment ---- */

struct work {
    struct base_arena arena;
    size_t *least, *most; /* units of each node */
    size_t *node_of_unit, *aggregator_of_unit;
};

static void limit_nodes(const fitted_input *in, size_t loaded, struct work *w)
{
    size_t least = loaded / in->aggregators, most = least + (loaded % in->aggregators != 0);
    for (size_t j = 0; j < in->aggregators; j++) {
        w->least[in->node_of_aggregator[j]] += least;
        w->most[in->node_of_aggregator[j]] += most;
    }
}

static int run_auction(const fitted_input *in, double epsilon, struct work *w,
                       fitted_report *report)
{
    auction_input input = {
        .bytes = in->bytes,
        .topology = in->topology,
        .least = w->least,
        .most = w->most,
        .units = report->loaded,
        .epsilon = report->loaded > 0 ? epsilon * report->bytes / (double)report->loaded : 1.0,
    };
    auction_result result = {.node_of_unit = w->node_of_unit};
    int rc = auction_solve(&input, &result);
    if (rc == 0) {
        struct cost cost = cost_of_units(in, w->node_of_unit, report->bytes);
        report->crossing = cost.crossing;
        report->hop_bytes = cost.hop_bytes;
        report->lower_bound = fmax(report->lower_bound, result.lower_bound);
        report->bids += result.bids;
    }
    return rc;
}

/* A coarse auction is nearly always good enough; its bound shows when not. */
static int auction_to_proof(const fitted_input *in, struct work *w, fitted_report *report)
{
    int rc = run_auction(in, COARSE_EPSILON, w, report);
    if (rc == 0 && report->hop_bytes - report->lower_bound > FINE_EPSILON * report->bytes)
        rc = run_auction(in, FINE_EPSILON, w, report);
    return rc;
}

/* ---- from nodes to aggregators ---- */

/* Whether a cut before unit[i] splits no run of adjacent units. */
static int cuts_between_runs(const size_t *unit, size_t count, size_t i)
{
    return i == 0 || i == count || unit[i] != unit[i - 1] + 1;
}

/* Units for the first of `aggregators` that share `count` units: `least` or one more. */
static size_t first_share(const size_t *unit, size_t count, size_t aggregators, size_t least)
{
    size_t extra = count - aggregators * least;
    if (extra == 0)
        return least;
    if (extra < aggregators && cuts_between_runs(unit, count, least) &&
        !cuts_between_runs(unit, count, least + 1))
        return least;
    return least + 1;
}

/* least: units with bytes that each aggregator gets, or one more. */
static void deal_node(const struct groups *units, const struct groups *aggregators, size_t n,
                      size_t least, size_t *aggregator_of_unit)
{
    const size_t *unit = units->item + units->start[n];
    size_t count = group_size(units, n);
    for (size_t k = aggregators->start[n]; k < aggregators->start[n + 1]; k++) {
        size_t share = first_share(unit, count, aggregators->start[n + 1] - k, least);
        for (size_t i = 0; i < share; i++)
            aggregator_of_unit[unit[i]] = aggregators->item[k];
        unit += share;
        count -= share;
    }
}

/* Units without bytes cost nothing but must not make a domain longer than an even one. load[j]:
 * units of aggregator j so far. */
static void deal_idle_units(const fitted_input *in, struct work *w, size_t *load)
{
    size_t units = in->bytes->rows, *aggregator_of_unit = w->aggregator_of_unit;
    size_t most = units / in->aggregators + (units % in->aggregators != 0), next = 0;
    for (size_t u = 0; u < units; u++)
        load[aggregator_of_unit[u]] += w->node_of_unit[u] != AUCTION_NOWHERE;
    for (size_t u = 0; u < units; u++) {
        if (w->node_of_unit[u] != AUCTION_NOWHERE)
            continue;
        size_t left = u > 0 ? aggregator_of_unit[u - 1] : 0;
        while (load[next] >= most && load[left] >= most)
            next++;
        aggregator_of_unit[u] = load[left] < most ? left : next;
        load[aggregator_of_unit[u]]++;
    }
}

static int deal_to_aggregators(const fitted_input *in, struct work *w, size_t loaded)
{
    size_t nodes = in->topology->nodes;
    struct groups units, aggregators;
    size_t *load = base_arena_alloc(&w->arena, in->aggregators, sizeof *load);
    if (load == NULL ||
        group_items(&w->arena, w->node_of_unit, in->bytes->rows, nodes, &units) != 0 ||
        group_items(&w->arena, in->node_of_aggregator, in->aggregators, nodes, &aggregators) != 0)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        deal_node(&units, &aggregators, n, loaded / in->aggregators, w->aggregator_of_unit);
    deal_idle_units(in, w, load);
    return 0;
}

/* ---- the result ---- */

/* Takes the alternative unless it is worse. */
static void compare_alternative(const fitted_input *in, const fitted_options *options,
                                struct work *w, fitted_report *report)
{
    size_t units = in->bytes->rows;
    for (size_t u = 0; u < units; u++)
        w->node_of_unit[u] = in->node_of_aggregator[options->alternative[u]];
    struct cost cost = cost_of_units(in, w->node_of_unit, report->bytes);
    report->alternative_crossing = cost.crossing;
    report->alternative_hop_bytes = cost.hop_bytes;
    if ((1.0 - options->least_saving) * cost.hop_bytes <= report->hop_bytes) {
        report->crossing = cost.crossing;
        report->hop_bytes = cost.hop_bytes;
        report->took_alternative = 1;
        memcpy(w->aggregator_of_unit, options->alternative, units * sizeof *w->aggregator_of_unit);
    }
}

static int assign_fitted(const fitted_input *in, const fitted_options *options, struct work *w,
                         fitted_report *report)
{
    limit_nodes(in, report->loaded, w);
    int rc = options->epsilon > 0.0 ? run_auction(in, options->epsilon, w, report)
                                    : auction_to_proof(in, w, report);
    if (rc == 0)
        rc = deal_to_aggregators(in, w, report->loaded);
    if (rc == 0 && options->alternative != NULL)
        compare_alternative(in, options, w, report);
    report->runs = count_runs(w->aggregator_of_unit, in->bytes->rows);
    return rc;
}

int fitted_assign(const fitted_input *in, const fitted_options *options, size_t *aggregator_of_unit,
                  fitted_report *report)
{
    static const fitted_options defaults;
    fitted_report measured = {0};
    struct work w = {0};
    options = options != NULL ? options : &defaults;
    if (check_aggregators(in) != 0 || check_options(in, options) != 0 ||
        measure_units(in->bytes, &measured) != 0)
        return -EINVAL;
    size_t nodes = in->topology->nodes, units = in->bytes->rows;
    w.least = base_arena_alloc(&w.arena, nodes, sizeof *w.least);
    w.most = base_arena_alloc(&w.arena, nodes, sizeof *w.most);
    w.node_of_unit = base_arena_alloc(&w.arena, units, sizeof *w.node_of_unit);
    w.aggregator_of_unit = base_arena_alloc(&w.arena, units, sizeof *w.aggregator_of_unit);
    int rc = w.arena.failed ? -ENOMEM : assign_fitted(in, options, &w, &measured);
    if (rc == 0) {
        memcpy(aggregator_of_unit, w.aggregator_of_unit, units * sizeof *aggregator_of_unit);
        if (report != NULL)
            *report = measured;
    }
    base_arena_release(&w.arena);
    return rc;
}

int fitted_may_serve(double even_hop_bytes, int64_t crossing_bytes, double saving)
{
    return (double)crossing_bytes > saving * even_hop_bytes;
}

int fitted_serves(const fitted_report *report, double even_hop_bytes, double saving)
{
    return report->hop_bytes < (1.0 - saving) * even_hop_bytes;
}
