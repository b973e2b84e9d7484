/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a file that has no data yet. */
#include "plan/layouts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

/* Halves of a stretch at most; further counts differ by little. */
enum { MOST_HALVES = 3, FEW_COUNTS = 8 };

#define NOBODY SIZE_MAX

/* ---- what a node has without a gap ---- */

/* The node that accesses most of a unit; of several, that of the unit before, else the first. */
static size_t owner_of_unit(const matrix *bytes, size_t unit, size_t before)
{
    int64_t most = 0;
    size_t owner = NOBODY;
    for (size_t e = bytes->row_start[unit]; e < bytes->row_start[unit + 1]; e++) {
        if (bytes->value[e] > most || (bytes->value[e] == most && bytes->col[e] == before))
            owner = bytes->col[e];
        most = bytes->value[e] > most ? bytes->value[e] : most;
    }
    return most > 0 ? owner : NOBODY;
}

/* Stretches of units of one owner; units without bytes belong to the stretch before them. */
typedef struct stretches {
    size_t *units;    /* of each stretch */
    size_t *distance; /* in stretches, between those of the same owner */
    size_t count, distances;
} stretches;

static void release_stretches(stretches *s)
{
    free(s->units);
    free(s->distance);
}

static void begin_stretch(stretches *s, size_t owner, size_t *last)
{
    if (last[owner] != NOBODY)
        s->distance[s->distances++] = s->count - last[owner];
    last[owner] = s->count;
    s->units[s->count++] = 0;
}

/* Safe to release also after an error. */
static int find_stretches(const matrix *bytes, stretches *s)
{
    int rc = 0;
    size_t before = NOBODY, *last = base_zeroed(bytes->cols, sizeof *last, &rc);
    *s = (stretches){0};
    s->units = base_zeroed(bytes->rows, sizeof *s->units, &rc);
    s->distance = base_zeroed(bytes->rows, sizeof *s->distance, &rc);
    for (size_t n = 0; n < bytes->cols && rc == 0; n++)
        last[n] = NOBODY;
    for (size_t u = 0; u < bytes->rows && rc == 0; u++) {
        size_t owner = owner_of_unit(bytes, u, before);
        if (owner != NOBODY && owner != before) {
            begin_stretch(s, owner, last);
            before = owner;
        }
        if (s->count > 0)
            s->units[s->count - 1]++;
    }
    free(last);
    return rc;
}

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The number whose occurrences weigh most, all alike or each as much as its value; of several the
 * largest; 0: there is none. Sorts. */
static size_t most_common(size_t *number, size_t count, bool by_value)
{
    size_t best = 0, heaviest = 0;
    if (count > 0)
        qsort(number, count, sizeof *number, compare_sizes);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && number[end] == number[i];)
            end++;
        size_t weight = (end - i) * (by_value ? number[i] : 1);
        if (weight >= heaviest) {
            heaviest = weight;
            best = number[i];
        }
    }
    return best;
}

/* ---- candidates ---- */

typedef struct candidates {
    const file_striping_limits *limits;
    int64_t bytes;  /* that the file will have */
    size_t repeats; /* stretches until the same owner comes again */
    file_striping *list;
    size_t count, capacity;
} candidates;

static int64_t to_grain(int64_t bytes, int64_t grain)
{
    int64_t units = (bytes + grain / 2) / grain;
    return (units > 0 ? units : 1) * grain;
}

static int add_candidate(candidates *c, file_striping striping)
{
    int rc = base_reserve(&c->list, &c->capacity, c->count + 1, sizeof *c->list);
    if (rc == 0)
        c->list[c->count++] = striping;
    return rc;
}

/* So many objects in turn, which are as large as may be, or half of that. */
static int add_turns(candidates *c, int64_t unit, size_t count)
{
    int64_t most = c->limits->most_object, large = most / unit * unit,
            half = most / 2 / unit * unit;
    int rc = 0;
    if (large > unit && large >= c->limits->least_object)
        rc = add_candidate(c, (file_striping){unit, large, count});
    if (rc == 0 && half > unit && half >= c->limits->least_object && half != large)
        rc = add_candidate(c, (file_striping){unit, half, count});
    return rc;
}

/* Stripes of one size in each way. Objects that take one stripe each follow each other in the file,
 * whatever the count is. */
static int add_unit(candidates *c, int64_t unit)
{
    size_t most = (size_t)((c->bytes - 1) / unit) + 1;
    int rc = 0;
    most = most < c->limits->targets ? most : c->limits->targets;
    if (unit >= c->limits->least_object)
        rc = add_candidate(c, (file_striping){unit, unit, 1});
    for (size_t count = 2; count <= most && count <= FEW_COUNTS && rc == 0; count++)
        rc = add_turns(c, unit, count);
    if (rc == 0 && c->repeats > FEW_COUNTS && c->repeats <= most)
        rc = add_turns(c, unit, c->repeats);
    return rc;
}

/* A stretch that is longer than an object is cut evenly. */
static int add_units(candidates *c, int64_t stretch)
{
    const file_striping_limits *limits = c->limits;
    int64_t parts = (stretch - 1) / limits->most_object + 1, last = 0;
    int64_t unit = to_grain(stretch / parts, limits->grain);
    int rc = 0;
    unit = unit < limits->most_object ? unit : limits->most_object;
    for (int halves = MOST_HALVES; halves > 0 && rc == 0; halves--) {
        int64_t part = to_grain(unit >> halves, limits->grain);
        if (part != last && part != unit)
            rc = add_unit(c, part);
        last = part;
    }
    for (; unit <= limits->most_object && rc == 0; unit *= 2) {
        rc = add_unit(c, unit);
        if (unit >= c->bytes)
            break;
    }
    return rc;
}

int layouts_list(const pieces *units, const matrix *bytes, const file_striping_limits *limits,
                 file_striping **list, size_t *count)
{
    candidates c = {.limits = limits, .bytes = units->hi};
    stretches s;
    int rc = find_stretches(bytes, &s);
    if (rc == 0 && s.count > 0) {
        size_t length = most_common(s.units, s.count, true);
        c.repeats = most_common(s.distance, s.distances, false);
        rc = add_units(&c, (int64_t)length * units->unit);
    }
    release_stretches(&s);
    if (rc != 0) {
        free(c.list);
        return rc;
    }
    *list = c.list;
    *count = c.count;
    return 0;
}

/* ---- choice ---- */

/* What pieces_fit asks. */
struct asked {
    const layouts_servers *servers;
    const file_striping *striping;
};

static int find_of_units(const void *context, const file_domains *domains, const matrix *node_bytes,
                         matrix *bytes)
{
    const struct asked *asked = context;
    layouts_stored stored;
    int rc = asked->servers->find(asked->servers->context, asked->striping, domains, node_bytes,
                                  &stored);
    if (rc == 0)
        *bytes = stored.bytes;
    return rc;
}

/* bytes: of nodes and, weighted, of servers in each unit, as pieces_fit leaves them. */
static void add_up_units(const layouts_input *in, const pieces *fitted, const matrix *bytes,
                         const size_t *node_of_aggregator, layouts_costs *costs)
{
    *costs = (layouts_costs){0.0, 0};
    for (size_t u = 0; u < bytes->rows; u++) {
        size_t to = node_of_aggregator[fitted->domain[u]];
        for (size_t e = bytes->row_start[u]; e < bytes->row_start[u + 1]; e++) {
            size_t from = bytes->col[e];
            int64_t value = bytes->value[e];
            costs->hop_bytes += (double)value * topo_hops(in->problem->topology, from, to, 0);
            if (from != to &&
                __builtin_add_overflow(costs->crossing_bytes, value, &costs->crossing_bytes))
                costs->crossing_bytes = INT64_MAX;
        }
    }
}

/* Replaces the costs of even domains, of which those with ranks of a node one hop apart are `even`,
 * where fitted ones pay. */
static int assess_fitted(const layouts_input *in, const file_striping *striping,
                         const layouts_costs *even, const size_t *node_of_aggregator,
                         layouts_costs *costs)
{
    const struct asked asked = {in->servers, striping};
    const pieces_servers servers = {find_of_units, &asked, in->problem->storage_weight};
    const pieces_fit_input fit = {in->settings,       in->problem->topology, node_of_aggregator,
                                  in->domains->count, even->hop_bytes,       &servers};
    pieces fitted = {0};
    matrix bytes;
    if (!pieces_may_pay(in->smallest, in->settings, in->domains->count, even->hop_bytes,
                        even->crossing_bytes))
        return 0;
    int rc = matrix_copy(&bytes, in->bytes);
    if (rc != 0)
        return rc;
    rc = pieces_fit(in->smallest, &bytes, &fit, &fitted);
    if (rc == 0 && fitted.unit > 0)
        add_up_units(in, &fitted, &bytes, node_of_aggregator, costs);
    pieces_release(&fitted);
    matrix_release(&bytes);
    return rc;
}

static int assess_costs(const plan_input *problem, const size_t *rank_of_domain,
                        layouts_costs *costs)
{
    costs->crossing_bytes = plan_whole_crossing_bytes(problem, rank_of_domain);
    return plan_whole_hop_bytes(problem, rank_of_domain, &costs->hop_bytes);
}

/* scratch: of each domain its rank, then its node. */
static int assess_stored(const layouts_input *in, const file_striping *striping,
                         const matrix *stored, size_t *scratch, layouts_costs *costs)
{
    layouts_costs apart;
    plan_input problem = *in->problem;
    problem.storage = stored;
    problem.objective = PLAN_HOP_BYTES; /* the other one does not know servers */
    int rc = in->strategy->assign(&problem, in->solver, scratch);
    if (rc == 0)
        rc = assess_costs(&problem, scratch, costs);
    problem.savings = NULL;
    if (rc == 0)
        rc = assess_costs(&problem, scratch, &apart);
    if (rc != 0 || in->smallest == NULL)
        return rc;
    for (size_t j = 0; j < in->domains->count; j++)
        scratch[j] = problem.node_of_rank[scratch[j]];
    return assess_fitted(in, striping, &apart, scratch, costs);
}

/* *most: the bytes on the target that has most of them, of which no more than `limit` are allowed:
 * -ENOENT. */
static int assess_layout(const layouts_input *in, const file_striping *striping, int64_t limit,
                         size_t *scratch, layouts_costs *costs, int64_t *most)
{
    layouts_stored stored;
    int rc = in->servers->find(in->servers->context, striping, in->domains, in->problem->node_bytes,
                               &stored);
    if (rc != 0)
        return rc;
    *most = stored.most;
    rc = stored.most > limit ? -ENOENT : assess_stored(in, striping, &stored.bytes, scratch, costs);
    matrix_release(&stored.bytes);
    return rc;
}

static bool is_better(const layouts_choice *choice, const layouts_costs *costs)
{
    return choice->changes
               ? costs->hop_bytes < choice->better.hop_bytes
               : costs->hop_bytes < choice->present.hop_bytes * (1.0 - LAYOUTS_LEAST_SAVING);
}

static int64_t twice_even_share(const layouts_input *in)
{
    int64_t bytes = in->domains->hi - in->domains->lo;
    return in->servers->targets > 0 ? 2 * (bytes / (int64_t)in->servers->targets + 1) : 0;
}

static int try_candidates(const layouts_input *in, const file_striping *candidate, size_t count,
                          size_t *scratch, layouts_choice *choice)
{
    int64_t limit, most;
    int rc = assess_layout(in, NULL, INT64_MAX, scratch, &choice->present, &limit);
    if (rc == 0 && limit < twice_even_share(in))
        limit = twice_even_share(in);
    for (size_t k = 0; k < count && rc == 0; k++) {
        layouts_costs costs;
        rc = assess_layout(in, &candidate[k], limit, scratch, &costs, &most);
        if (rc == 0 && is_better(choice, &costs)) {
            choice->changes = true;
            choice->striping = candidate[k];
            choice->better = costs;
        }
        rc = rc == -ENOENT ? 0 : rc;
    }
    return rc;
}

int layouts_choose(const layouts_input *in, const file_striping *candidate, size_t count,
                   layouts_choice *choice)
{
    layouts_choice made = {.changes = false};
    size_t *scratch = base_alloc(in->domains->count, sizeof *scratch);
    if (scratch == NULL)
        return -ENOMEM;
    int rc = try_candidates(in, candidate, count, scratch, &made);
    free(scratch);
    if (rc == 0)
        *choice = made;
    return rc;
}
