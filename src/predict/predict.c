/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of recorded calls, whose source are the bins of the record. */
#include "predict/predict.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "predict/overlap.h"

/* Entries of requests; a record has fewer, but a large bin is in many domains. */
#define MOST_REQUESTS ((size_t)1 << 20)

/* ---- the source of a plan ---- */

typedef struct recorded {
    const predict_job *job;
    const matrix *bytes; /* ranks x bins */
    matrix node_bins;    /* nodes x bins */
    recorded_range range;
    size_t *ranks_on_node;
} recorded;

/* Requests of many ranks that share large bins are left out: then no rank counts as the owner of
 * its bytes, which of the bytes of a node are a small part. */
static int sum_domains(void *context, const plan_draft *draft, rows_matrices *c)
{
    const recorded *r = context;
    const file_domains *domains = &draft->division.domains;
    matrix parts;
    int rc = overlap_find(&r->range, domains, &parts);
    if (rc != 0)
        return rc;
    if (overlap_count(r->bytes, &parts) <= MOST_REQUESTS) {
        rc = overlap_spread(r->bytes, &parts, &c->requests);
        if (rc == 0)
            rc = matrix_sum_rows(&c->node_bytes, &c->requests, r->job->node_of_rank,
                                 r->job->topology->nodes);
    } else {
        rc = matrix_allocate(&c->requests, r->bytes->rows, domains->count, 0);
        if (rc == 0)
            rc = overlap_spread(&r->node_bins, &parts, &c->node_bytes);
    }
    matrix_release(&parts);
    return rc;
}

/* The part of each bin in each unit. */
static int find_unit_parts(const recorded *r, const pieces *units, matrix *parts)
{
    division single;
    int rc = pieces_divide_singly(units, &single);
    if (rc != 0)
        return rc;
    rc = overlap_find(&r->range, &single.domains, parts);
    division_release(&single);
    return rc;
}

static bool has_too_many(const matrix *of_nodes, size_t most)
{
    for (size_t n = 0; n < of_nodes->rows; n++)
        if (of_nodes->row_start[n + 1] - of_nodes->row_start[n] > most)
            return true;
    return false;
}

static int sum_units(void *context, const pieces *units, matrix *bytes)
{
    const recorded *r = context;
    matrix parts, of_nodes;
    int rc = find_unit_parts(r, units, &parts);
    if (rc != 0)
        return rc;
    if (overlap_count(&r->node_bins, &parts) <= PIECES_MOST_ENTRIES) {
        rc = overlap_spread(&r->node_bins, &parts, &of_nodes);
        if (rc == 0) {
            if (!has_too_many(&of_nodes, pieces_most_of_node(units, of_nodes.rows)))
                rc = matrix_transpose(bytes, &of_nodes);
            matrix_release(&of_nodes);
        }
    }
    matrix_release(&parts);
    return rc;
}

/* ---- the calls of a pattern ---- */

static int count_ranks(recorded *r)
{
    const predict_job *job = r->job;
    r->ranks_on_node = calloc(job->topology->nodes + 1, sizeof *r->ranks_on_node);
    if (r->ranks_on_node == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < job->ranks; i++) {
        if (job->node_of_rank[i] >= job->topology->nodes)
            return -EINVAL;
        r->ranks_on_node[job->node_of_rank[i]]++;
    }
    return 0;
}

static planner planner_of(const recorded *r, const access_division *d)
{
    const predict_job *job = r->job;
    int64_t most = (int64_t)job->ranks;
    planner p = {
        .lo = r->range.lo,
        .hi = r->range.hi,
        .division = {.kind = d->kind,
                     .aggregators = d->aggregators < most ? d->aggregators : most,
                     .stripe = d->stripe,
                     .targets = d->targets},
        .strategy = plan_strategies,
        .nodes = job->topology->nodes,
        .ranks_on_node = r->ranks_on_node,
        .node_of_rank = job->node_of_rank,
        .topology = job->topology,
    };
    planner_start(&p);
    return p;
}

static int plan_calls(recorded *r, const access_pattern *pattern, plan_draft *plan)
{
    int rc = count_ranks(r);
    if (rc == 0)
        rc =
            matrix_sum_rows(&r->node_bins, r->bytes, r->job->node_of_rank, r->job->topology->nodes);
    if (rc != 0)
        return rc;
    r->range = recorded_range_of(pattern, r->bytes);
    const planner p = planner_of(r, &pattern->division);
    const plan_source source = {sum_domains, sum_units, r};
    plan_draft even;
    rc = planner_make(&p, &source, plan, &even);
    if (rc == 0)
        plan_draft_release(&even);
    return rc;
}

int predict_calls(const predict_job *job, const access_pattern *pattern, const matrix *bytes,
                  plan_draft *plan)
{
    recorded r = {.job = job, .bytes = bytes};
    int64_t total;
    if (bytes->rows != job->ranks || job->ranks > INT_MAX || !matrix_is_nonnegative(bytes))
        return -EINVAL;
    int rc = matrix_sum(bytes, &total);
    if (rc == 0 && total > 0)
        rc = plan_calls(&r, pattern, plan);
    else if (rc == 0)
        *plan = (plan_draft){0};
    free(r.ranks_on_node);
    matrix_release(&r.node_bins);
    return rc;
}

/* ---- a whole record ---- */

/* Adds bytes whose node and aggregator are in different groups. */
static int add_crossing(const plan_draft *plan, const predict_levels *levels, int64_t *crossing)
{
    const matrix *bytes = &plan->c.node_bytes;
    int rc = 0;
    for (size_t n = 0; n < bytes->rows; n++) {
        for (size_t i = bytes->row_start[n]; i < bytes->row_start[n + 1] && rc == 0; i++) {
            size_t owner = plan->node_of_rank[plan->rank_of_domain[bytes->col[i]]];
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
        plan_draft plan = {0};
        rc = predict_calls(job, &file->pattern[k], &file->bytes[k], &plan);
        if (rc == 0)
            rc = add_crossing(&plan, levels, sum);
        plan_draft_release(&plan);
    }
    if (rc == 0)
        memcpy(crossing, sum, (levels->levels + 1) * sizeof *sum);
    free(sum);
    return rc;
}
