/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of recorded calls, whose source are the bins of the record. */
#include "predict/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Entries of requests; a record has fewer, but a large bin is in many domains. */
#define MOST_REQUESTS ((size_t)1 << 17)

/* ---- bins of a record, and the file domains or units that they overlap ---- */

/* The range that the calls of a pattern access, as if all were at the place of the first. */
typedef struct recorded_range {
    int64_t lo, hi;
    int64_t unit; /* bytes of a bin */
    size_t bins;
} recorded_range;

/* hi is known to a bin; bytes in the last one count as contiguous. */
static recorded_range recorded_range_of(const access_pattern *pattern, const matrix *bytes)
{
    size_t last = 0;
    __int128 inside = 0;
    for (size_t i = 0; i < matrix_entries(bytes); i++)
        if (bytes->col[i] > last)
            last = bytes->col[i];
    for (size_t i = 0; i < matrix_entries(bytes); i++)
        if (bytes->col[i] == last)
            inside += bytes->value[i];
    __int128 length = (inside + pattern->calls - 1) / pattern->calls;
    if (length > pattern->unit)
        length = pattern->unit;
    return (recorded_range){
        .lo = pattern->first,
        .hi = pattern->first + (int64_t)last * pattern->unit + (length > 0 ? (int64_t)length : 1),
        .unit = pattern->unit,
        .bins = last + 1,
    };
}

/* parts: bins x domains, the bytes of each bin that belong to each domain; of a bin that is longer
 * than a period of striped domains, those of a period. -ENOMEM. Release with matrix_release. */
static int overlap_find(const recorded_range *range, const file_domains *domains, matrix *parts)
{
    matrix_builder builder = {.rows = range->bins, .cols = domains->count};
    int64_t period = range->hi - range->lo;
    size_t near = 0;
    int rc = 0;
    if (domains->stripe > 0 && (int64_t)domains->columns < period / domains->stripe)
        period = (int64_t)domains->columns * domains->stripe;
    for (size_t b = 0; b < range->bins && rc == 0; b++) {
        int64_t from = range->lo + (int64_t)b * range->unit;
        int64_t end = from + access_least(access_least(range->unit, range->hi - from), period);
        while (from < end && rc == 0) {
            domain_range at = domains_range_at(domains, from, &near);
            int64_t to = access_least(at.hi, end);
            rc = matrix_builder_add(&builder, b, at.domain, to - from);
            from = to;
        }
    }
    if (rc == 0)
        rc = matrix_builder_finish(&builder, parts);
    matrix_builder_clear(&builder);
    return rc;
}

/* ---- bytes by domain ---- */

/* The entries that overlap_spread takes before entries of one domain are added up. */
static size_t overlap_count(const matrix *bytes, const matrix *parts)
{
    size_t count = 0;
    for (size_t i = 0; i < matrix_entries(bytes); i++)
        count += parts->row_start[bytes->col[i] + 1] - parts->row_start[bytes->col[i]];
    return count;
}

/* The parts add up to the bytes of the bin. */
static int spread_bin(int64_t bytes, const matrix *parts, size_t bin, size_t row,
                      matrix_builder *sum)
{
    size_t first = parts->row_start[bin], end = parts->row_start[bin + 1];
    __int128 length = 0, before = 0;
    int64_t given = 0;
    int rc = 0;
    for (size_t i = first; i < end; i++)
        length += parts->value[i];
    for (size_t i = first; i < end && rc == 0; i++) {
        before += parts->value[i];
        int64_t upto = i + 1 < end ? (int64_t)(bytes * before / length) : bytes;
        int64_t share = upto - given;
        given = upto;
        if (share > 0)
            rc = matrix_builder_add(sum, row, parts->col[i], share);
    }
    return rc;
}

/* result: rows x domains, the bytes of each row of a profile (a rank's or a node's) in each domain:
 * those of a bin in proportion to its parts. -ENOMEM. Release with matrix_release. */
static int overlap_spread(const matrix *bytes, const matrix *parts, matrix *result)
{
    matrix_builder sum = {.rows = bytes->rows, .cols = parts->cols};
    int rc = 0;
    for (size_t r = 0; r < bytes->rows; r++)
        for (size_t i = bytes->row_start[r]; i < bytes->row_start[r + 1] && rc == 0; i++)
            rc = spread_bin(bytes->value[i], parts, bytes->col[i], r, &sum);
    if (rc == 0)
        rc = matrix_builder_finish(&sum, result);
    matrix_builder_clear(&sum);
    return rc;
}

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

static int find_unit_parts(const recorded *r, const pieces *units, matrix *parts)
{
    const division_settings unknown = {0};
    division single;
    int rc = pieces_divide(units, &unknown, units->count, &single);
    if (rc != 0)
        return rc;
    rc = overlap_find(&r->range, &single.domains, parts);
    division_release(&single);
    return rc;
}

/* Whether a node accesses more than `most` units: of a bin of several units perhaps only one. */
static bool has_too_many(const matrix *of_nodes, const matrix *node_bins, size_t most)
{
    for (size_t n = 0; n < of_nodes->rows; n++)
        if (of_nodes->row_start[n + 1] - of_nodes->row_start[n] > most &&
            node_bins->row_start[n + 1] - node_bins->row_start[n] > most)
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
            if (!has_too_many(&of_nodes, &r->node_bins, pieces_most_of_node(units, of_nodes.rows)))
                rc = matrix_transpose(bytes, &of_nodes);
            matrix_release(&of_nodes);
        }
    }
    matrix_release(&parts);
    return rc;
}

/* ---- the calls of a pattern ---- */

static int predict_count_ranks(recorded *r)
{
    const predict_job *job = r->job;
    r->ranks_on_node = calloc(job->topology->nodes + 1, sizeof *r->ranks_on_node);
    if (r->ranks_on_node == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < job->ranks; i++)
        r->ranks_on_node[job->node_of_rank[i]]++;
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
    int rc = predict_count_ranks(r);
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

/* Numbers the nodes that have ranks by their lowest ones, as a run does: a plan depends on that
 * where costs are equal. node[n]: what node n of the run is in the job; run: with arrays. */
static void number_nodes(const predict_job *job, size_t *number, size_t *node, size_t *of_rank,
                         topo *run)
{
    const topo *t = job->topology;
    for (size_t i = 0; i < job->ranks; i++) {
        size_t n = job->node_of_rank[i];
        if (number[n] == 0) {
            node[run->nodes] = n;
            run->place_of_node[run->nodes] = t->places > 0 ? t->place_of_node[n] : 0;
            number[n] = ++run->nodes;
        }
        of_rank[i] = number[n] - 1;
    }
}

/* Adds bytes whose node and aggregator are in different groups. */
static int add_crossing(const plan_draft *plan, const size_t *node, size_t nodes, size_t levels,
                        const size_t *group_of_node, int64_t *crossing)
{
    const matrix *bytes = &plan->c.node_bytes;
    int rc = 0;
    for (size_t n = 0; n < bytes->rows; n++) {
        for (size_t i = bytes->row_start[n]; i < bytes->row_start[n + 1] && rc == 0; i++) {
            size_t owner = plan->node_of_rank[plan->rank_of_domain[bytes->col[i]]];
            for (size_t k = 0; k <= levels && n != owner && rc == 0; k++) {
                const size_t *group = k > 0 ? group_of_node + (k - 1) * nodes : NULL;
                if (group == NULL || group[node[n]] != group[node[owner]])
                    rc = __builtin_add_overflow(crossing[k], bytes->value[i], &crossing[k])
                             ? -ERANGE
                             : 0;
            }
        }
    }
    return rc;
}

int predict_crossing(const predict_job *job, const view_file *file, size_t levels,
                     const size_t *group_of_node, int64_t *crossing)
{
    size_t nodes = job->topology->nodes;
    struct base_arena arena = {0};
    int64_t *sum = base_arena_alloc(&arena, levels + 1, sizeof *sum);
    size_t *node = base_arena_alloc(&arena, nodes, 2 * sizeof *node), *number = node + nodes;
    size_t *of_rank = base_arena_alloc(&arena, job->ranks, sizeof *of_rank);
    topo t = {.places = job->topology->places,
              .place_of_node = base_arena_alloc(&arena, nodes, sizeof *t.place_of_node),
              .between = job->topology->between};
    const predict_job run = {job->ranks, of_rank, &t};
    int rc = arena.failed ? -ENOMEM : 0;
    if (rc == 0)
        number_nodes(job, number, node, of_rank, &t);
    for (size_t k = 0; k < file->patterns && rc == 0; k++) {
        plan_draft plan = {0};
        rc = predict_calls(&run, &file->pattern[k], &file->bytes[k], &plan);
        if (rc == 0)
            rc = add_crossing(&plan, node, nodes, levels, group_of_node, sum);
        plan_draft_release(&plan);
    }
    if (rc == 0)
        memcpy(crossing, sum, (levels + 1) * sizeof *sum);
    base_arena_release(&arena);
    return rc;
}
