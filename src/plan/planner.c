/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision between even and fitted domains. */
#include "plan/planner.h"

#include <stdlib.h>

#include "base/memory.h"
#include "plan/fitted.h"

static void describe_nodes(planner *p)
{
    p->division.nodes = 0;
    for (size_t n = 0; n < p->nodes; n++)
        p->division.nodes += p->ranks_on_node[n] > 0;
    p->division.capacity = division_chosen_capacity(p->ranks_on_node, p->nodes);
}

void planner_start(planner *p)
{
    const division_settings *d = &p->division;
    if (p->ranks_on_node != NULL)
        describe_nodes(p);
    p->domains = division_count(d, p->lo, p->hi);
    if (p->ranks_on_node != NULL)
        p->per_node = plan_even_per_node(p->ranks_on_node, p->nodes, p->domains);
    p->units = pieces_of(d, p->domains, p->lo, p->hi);
    p->may_fit = d->nodes > 1 && p->units.count > p->domains &&
                 (d->kind == DIVISION_FITTED || d->kind == DIVISION_AUTO);
}

int planner_divide(const planner *p, const pieces *units, division *result)
{
    return units->unit > 0 ? pieces_divide(units, &p->division, p->domains, result)
                           : division_make(&p->division, p->lo, p->hi, result);
}

/* ---- a draft ---- */

void plan_draft_release(plan_draft *draft)
{
    pieces_release(&draft->units);
    division_release(&draft->division);
    free(draft->rank_of_domain);
    rows_release(&draft->c);
    *draft = (plan_draft){0};
}

static const matrix *if_known(const matrix *m)
{
    return m->row_start != NULL ? m : NULL;
}

plan_input plan_draft_problem(const plan_draft *draft)
{
    return (plan_input){
        .requests = &draft->c.requests,
        .node_bytes = if_known(&draft->c.node_bytes),
        .blocks = if_known(&draft->c.blocks),
        .node_blocks = if_known(&draft->c.node_blocks),
        .nearness = draft->c.nearness,
        .node_of_rank = draft->node_of_rank,
        .topology = draft->topology,
        .per_node = draft->per_node,
    };
}

int plan_draft_assess(const plan_draft *draft, const size_t *rank_of_domain, double *hop_bytes,
                      int64_t *crossing_bytes)
{
    const plan_input in = plan_draft_problem(draft);
    int64_t unlisted;
    int rc = matrix_sum(&draft->c.unlisted, &unlisted);
    if (rc != 0)
        return rc;
    double listed = plan_hop_bytes(&in, rank_of_domain);
    int64_t crossing = plan_crossing_bytes(&in, rank_of_domain);
    *hop_bytes =
        listed + (double)unlisted * (crossing > 0 ? listed / (double)crossing : TOPO_OTHER_NODE);
    if (__builtin_add_overflow(crossing, unlisted, crossing_bytes))
        *crossing_bytes = INT64_MAX;
    return 0;
}

/* Divides by the units, if any. */
static int make_draft(const planner *p, const plan_source *source, plan_draft *draft)
{
    int rc = planner_divide(p, &draft->units, &draft->division);
    if (rc == 0)
        rc = source->sum_domains(source->context, draft, &draft->c);
    draft->rank_of_domain = base_zeroed(p->domains, sizeof *draft->rank_of_domain, &rc);
    if (rc != 0)
        return rc;
    draft->kind = draft->units.unit > 0               ? DIVISION_FITTED
                  : division_is_striped(&p->division) ? DIVISION_STRIPE
                                                      : DIVISION_EVEN;
    draft->unit = draft->kind == DIVISION_STRIPE ? p->division.stripe : draft->units.unit;
    draft->node_of_rank = p->node_of_rank;
    draft->topology = p->topology;
    draft->per_node = p->per_node;
    const plan_input in = plan_draft_problem(draft);
    rc = p->strategy->assign(&in, draft->rank_of_domain);
    return rc != 0 ? rc
                   : plan_draft_assess(draft, draft->rank_of_domain, &draft->hop_bytes,
                                       &draft->crossing_bytes);
}

/* ---- fitted domains ---- */

static double least_saving(const planner *p)
{
    return p->division.kind == DIVISION_AUTO ? PLANNER_LEAST_SAVING : 0.0;
}

/* Assigns the units to the aggregators of the even domains. They pay even if then no aggregator
 * accesses bytes of its own domain, so that they never cost more. bytes: no rows, or of the nodes
 * in each unit. fitted->unit is 0 if they do not pay. */
static int fit_units(const planner *p, const plan_draft *even, const matrix *bytes, pieces *fitted)
{
    pieces made = p->units;
    double hop_bytes = even->hop_bytes;
    int rc = 0;
    size_t *node = base_zeroed(p->domains, sizeof *node, &rc);
    made.domain = base_zeroed(made.count, sizeof *made.domain, &rc);
    for (size_t j = 0; j < p->domains && rc == 0; j++)
        node[j] = p->node_of_rank[even->rank_of_domain[j]];
    const fitted_input in = {bytes, p->topology, node, p->domains};
    if (rc == 0 && bytes->rows > 0)
        rc = fitted_assign(&in, made.domain, &hop_bytes);
    free(node);
    if (rc != 0 || hop_bytes >= (1.0 - least_saving(p)) * even->hop_bytes)
        pieces_release(&made);
    if (rc == 0)
        *fitted = made;
    return rc;
}

/* Unless even what crosses is less than they have to save. */
static int try_fitted(const planner *p, const plan_source *source, const plan_draft *even,
                      pieces *fitted)
{
    matrix bytes = {0};
    if (!p->may_fit || (double)even->crossing_bytes <= least_saving(p) * even->hop_bytes)
        return 0;
    int rc = source->sum_units(source->context, &p->units, &bytes);
    if (rc == 0)
        rc = fit_units(p, even, &bytes, fitted);
    matrix_release(&bytes);
    return rc;
}

int planner_make(const planner *p, const plan_source *source, plan_draft *plan, plan_draft *even)
{
    plan_draft first = {0}, fitted = {0};
    int rc = make_draft(p, source, &first);
    if (rc == 0)
        rc = try_fitted(p, source, &first, &fitted.units);
    bool pays = rc == 0 && fitted.units.unit > 0;
    if (pays)
        rc = make_draft(p, source, &fitted);
    if (rc == 0) {
        *plan = pays ? fitted : first;
        *even = pays ? first : fitted;
    } else {
        plan_draft_release(&first);
        plan_draft_release(&fitted);
    }
    return rc;
}
