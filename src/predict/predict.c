/* SPDX-License-Identifier: BSD-3-Clause */
/* Drafts of a plan in the order of fcoll/tatp: even or striped domains, then fitted ones if these
 * may pay, all from the bins of a record. */
#include "predict/predict.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/pieces.h"
#include "predict/overlap.h"

/* Entries of requests; a record has fewer, but a large bin is in many domains. */
#define MOST_REQUESTS ((size_t)1 << 20)

/* ---- one prediction ---- */

typedef struct drafting {
    const predict_job *job;
    const matrix *bytes; /* ranks x bins */
    matrix node_bins;    /* nodes x bins */
    recorded_range range;
    division_settings settings;
    size_t *on_node; /* number of ranks on each node */
    pieces units;
} drafting;

static int count_ranks(drafting *d)
{
    const predict_job *job = d->job;
    d->on_node = calloc(job->topology->nodes + 1, sizeof *d->on_node);
    if (d->on_node == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < job->ranks; i++) {
        if (job->node_of_rank[i] >= job->topology->nodes)
            return -EINVAL;
        d->on_node[job->node_of_rank[i]]++;
    }
    return 0;
}

static division_settings settings_of(const drafting *drafts, const access_division *d)
{
    const predict_job *job = drafts->job;
    size_t nodes = job->topology->nodes;
    int64_t most = (int64_t)job->ranks, used = 0;
    for (size_t n = 0; n < nodes; n++)
        used += drafts->on_node[n] > 0;
    return (division_settings){
        .kind = d->kind,
        .aggregators = d->aggregators < most ? d->aggregators : most,
        .capacity = division_chosen_capacity(drafts->on_node, nodes),
        .nodes = used,
        .stripe = d->stripe,
        .targets = d->targets,
    };
}

/* Requests of many ranks that share large bins are left out: then no rank counts as the owner of
 * its bytes, which of the bytes of a node are a small part. */
static int sum_requests(const drafting *d, const file_domains *domains, prediction *p)
{
    matrix parts;
    int rc = overlap_find(&d->range, domains, &parts);
    if (rc != 0)
        return rc;
    if (overlap_count(d->bytes, &parts) <= MOST_REQUESTS) {
        rc = overlap_spread(d->bytes, &parts, &p->requests);
        if (rc == 0)
            rc = matrix_sum_rows(&p->node_bytes, &p->requests, d->job->node_of_rank,
                                 d->job->topology->nodes);
    } else {
        rc = matrix_allocate(&p->requests, d->bytes->rows, domains->count, 0);
        if (rc == 0)
            rc = overlap_spread(&d->node_bins, &parts, &p->node_bytes);
    }
    matrix_release(&parts);
    return rc;
}

/* ---- a draft ---- */

plan_input prediction_problem(const prediction *p, const predict_job *job)
{
    return (plan_input){
        .requests = &p->requests,
        .node_bytes = &p->node_bytes,
        .node_of_rank = job->node_of_rank,
        .topology = job->topology,
        .per_node = p->per_node,
    };
}

void prediction_release(prediction *p)
{
    matrix_release(&p->requests);
    matrix_release(&p->node_bytes);
    free(p->rank_of_domain);
    *p = (prediction){0};
}

static int make_draft(const drafting *d, const file_domains *domains, prediction *p)
{
    p->domains = domains->count;
    p->per_node = plan_even_per_node(d->on_node, d->job->topology->nodes, domains->count);
    p->rank_of_domain = calloc(domains->count, sizeof *p->rank_of_domain);
    int rc = p->rank_of_domain == NULL ? -ENOMEM : sum_requests(d, domains, p);
    if (rc != 0)
        return rc;
    plan_input in = prediction_problem(p, d->job);
    rc = plan_strategies->assign(&in, p->rank_of_domain);
    if (rc == 0)
        rc = plan_hop_bytes(&in, p->rank_of_domain, &p->hop_bytes);
    if (rc == 0)
        p->crossing_bytes = plan_crossing_bytes(&in, p->rank_of_domain);
    return rc;
}

static int make_even_draft(const drafting *d, prediction *p)
{
    division even;
    int rc = division_make(&d->settings, d->range.lo, d->range.hi, &even);
    if (rc != 0)
        return rc;
    p->kind = even.domains.stripe > 0 ? DIVISION_STRIPE : DIVISION_EVEN;
    p->unit = even.domains.stripe;
    rc = make_draft(d, &even.domains, p);
    division_release(&even);
    return rc;
}

/* ---- fitted domains ---- */

/* The part of each bin in each unit. */
static int find_unit_parts(const drafting *d, matrix *parts)
{
    division single;
    int rc = pieces_divide_singly(&d->units, &d->settings, &single);
    if (rc != 0)
        return rc;
    rc = overlap_find(&d->range, &single.domains, parts);
    division_release(&single);
    return rc;
}

/* Bytes of the nodes (columns) in each unit; without rows where they are too many. */
static int sum_units(const drafting *d, matrix *bytes)
{
    matrix parts, of_nodes;
    int rc = find_unit_parts(d, &parts);
    if (rc != 0)
        return rc;
    if (overlap_count(&d->node_bins, &parts) <= PIECES_MOST_ENTRIES) {
        rc = overlap_spread(&d->node_bins, &parts, &of_nodes);
        if (rc == 0) {
            rc = matrix_transpose(bytes, &of_nodes);
            matrix_release(&of_nodes);
        }
    }
    matrix_release(&parts);
    return rc;
}

/* fitted->unit is 0 if fitted domains do not pay. */
static int fit_units(const drafting *d, const prediction *even, matrix *bytes, pieces *fitted)
{
    const predict_job *job = d->job;
    size_t *node = calloc(even->domains, sizeof *node);
    if (node == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < even->domains; j++)
        node[j] = job->node_of_rank[even->rank_of_domain[j]];
    const pieces_fit_input in = {&d->settings, job->topology, node, even->domains, even->hop_bytes};
    int rc = pieces_fit(&d->units, bytes, &in, fitted);
    free(node);
    return rc;
}

static int make_fitted_draft(const drafting *d, const pieces *units, size_t domains, prediction *p)
{
    division fitted;
    int rc = pieces_divide(units, &d->settings, domains, &fitted);
    if (rc != 0)
        return rc;
    p->kind = DIVISION_FITTED;
    p->unit = units->unit;
    rc = make_draft(d, &fitted.domains, p);
    division_release(&fitted);
    return rc;
}

/* Replaces even domains by fitted ones if these pay. */
static int try_fitted(const drafting *d, prediction *p)
{
    prediction fitted = {0};
    matrix bytes = {0};
    pieces units = {0};
    int rc = sum_units(d, &bytes);
    if (rc == 0 && bytes.rows > 0)
        rc = fit_units(d, p, &bytes, &units);
    matrix_release(&bytes);
    if (rc == 0 && units.unit > 0) {
        rc = make_fitted_draft(d, &units, p->domains, &fitted);
        if (rc == 0) {
            prediction_release(p);
            *p = fitted;
        } else {
            prediction_release(&fitted);
        }
    }
    pieces_release(&units);
    return rc;
}

/* ---- the calls of a pattern ---- */

static int draft_calls(drafting *d, const access_pattern *pattern, prediction *p)
{
    int rc = count_ranks(d);
    if (rc != 0)
        return rc;
    d->settings = settings_of(d, &pattern->division);
    d->range = recorded_range_of(pattern, d->bytes);
    rc = matrix_sum_rows(&d->node_bins, d->bytes, d->job->node_of_rank, d->job->topology->nodes);
    if (rc == 0)
        rc = make_even_draft(d, p);
    if (rc != 0)
        return rc;
    d->units = pieces_of(&d->settings, p->domains, d->range.lo, d->range.hi);
    if (pieces_may_pay(&d->units, &d->settings, p->domains, p->hop_bytes, p->crossing_bytes))
        rc = try_fitted(d, p);
    return rc;
}

int predict_calls(const predict_job *job, const access_pattern *pattern, const matrix *bytes,
                  prediction *p)
{
    drafting d = {.job = job, .bytes = bytes};
    prediction made = {0};
    int64_t total;
    if (bytes->rows != job->ranks || job->ranks > INT_MAX || !matrix_is_nonnegative(bytes))
        return -EINVAL;
    int rc = matrix_sum(bytes, &total);
    if (rc == 0 && total > 0)
        rc = draft_calls(&d, pattern, &made);
    free(d.on_node);
    matrix_release(&d.node_bins);
    if (rc == 0)
        *p = made;
    else
        prediction_release(&made);
    return rc;
}

/* ---- a whole record ---- */

static size_t aggregator_of(const prediction *p, const predict_job *job, size_t domain)
{
    return job->node_of_rank[p->rank_of_domain[domain]];
}

/* Adds bytes whose node and aggregator are in different groups. */
static int add_crossing(const prediction *p, const predict_job *job, const predict_levels *levels,
                        int64_t *crossing)
{
    const matrix *bytes = &p->node_bytes;
    int rc = 0;
    for (size_t n = 0; n < bytes->rows; n++) {
        for (size_t i = bytes->row_start[n]; i < bytes->row_start[n + 1] && rc == 0; i++) {
            size_t owner = aggregator_of(p, job, bytes->col[i]);
            for (size_t k = 0; k <= levels->levels && n != owner && rc == 0; k++) {
                const size_t *group =
                    k > 0 ? levels->group_of_node + (k - 1) * levels->nodes : NULL;
                if (group == NULL || group[n] != group[owner])
                    rc = __builtin_add_overflow(crossing[k], bytes->value[i], &crossing[k])
                             ? -ERANGE
                             : 0;
            }
        }
    }
    return rc;
}

int predict_crossing(const predict_job *job, const view_file *file, const predict_levels *levels,
                     int64_t *crossing)
{
    int rc = 0;
    int64_t *sum = base_zeroed(levels->levels + 1, sizeof *sum, &rc);
    for (size_t k = 0; k < file->patterns && rc == 0; k++) {
        prediction p = {0};
        rc = predict_calls(job, &file->pattern[k], &file->bytes[k], &p);
        if (rc == 0)
            rc = add_crossing(&p, job, levels, sum);
        prediction_release(&p);
    }
    if (rc == 0)
        memcpy(crossing, sum, (levels->levels + 1) * sizeof *sum);
    free(sum);
    return rc;
}
