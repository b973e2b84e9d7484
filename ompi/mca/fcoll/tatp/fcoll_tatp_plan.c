/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a plan: rank 0 decides by src/plan and broadcasts which rank owns which domain.
 *
 * No rank leaves between two collective steps: an error is carried to the next broadcast. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "opal/util/output.h"
#include "ompi/mca/fcoll/base/base.h"

/* ---- a draft ---- */

static void release_draft(tatp_draft *draft)
{
    pieces_release(&draft->units);
    division_release(&draft->division);
    domains_free_shares(draft->share, draft->view.shares);
    free(draft->aggregator);
    matrix_release(&draft->requests);
    matrix_release(&draft->savings);
    matrix_release(&draft->blocks);
    *draft = (tatp_draft){0};
}

static int divide_range(const tatp_planning *planning, tatp_draft *draft)
{
    const tatp_plan_input *in = planning->in;
    size_t domains = planning->domains;
    draft->aggregator = calloc(domains, sizeof *draft->aggregator);
    if (NULL == draft->aggregator)
        return -ENOMEM;
    int rc = draft->units.unit > 0
                 ? pieces_divide(&draft->units, &planning->division, domains, &draft->division)
                 : division_make(&planning->division, in->lo, in->hi, &draft->division);
    if (0 == rc)
        rc =
            domains_cut(&draft->division.domains, in->accesses, &draft->share, &draft->view.shares);
    return rc;
}

/* Hop-bytes of the fixed aggregators of plain two-phase I/O, with its contiguous domains. */
static int assess_otp(const plan_input *in, size_t *rank_of_domain, double *hop_bytes)
{
    int rc = plan_find_strategy("otp")->assign(in, lap_solvers, rank_of_domain);
    return 0 != rc ? rc : plan_hop_bytes(in, rank_of_domain, hop_bytes);
}

/* On rank 0: all but those of otp. Fitted domains count ranks of a node one hop apart. Negative
 * errno. */
static int assess_plan(const plan_input *in, const size_t *rank_of_domain, tatp_plan_costs *costs)
{
    plan_input apart = *in;
    apart.savings = NULL;
    int rc = plan_hop_bytes(in, rank_of_domain, &costs->hop_bytes);
    costs->apart_hop_bytes = costs->hop_bytes;
    if (0 == rc && NULL != in->savings)
        rc = plan_hop_bytes(&apart, rank_of_domain, &costs->apart_hop_bytes);
    if (0 != rc)
        return rc;
    costs->per_node = in->per_node;
    costs->crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    return 0;
}

/* On rank 0. Negative errno. */
static int assign_domains(const tatp_planning *planning, const plan_input *in, bool fitted,
                          size_t *rank_of_domain, tatp_plan_costs *costs)
{
    const tatp_plan_settings *settings = planning->in->settings;
    const plan_strategy *strategy = settings->strategy;
    int rc = 0;
    if (!fitted)
        rc = assess_otp(in, rank_of_domain, &costs->hop_bytes_otp);
    if (0 == rc)
        rc = strategy->assign(in, lap_solvers, rank_of_domain);
    if (0 == rc)
        rc = assess_plan(in, rank_of_domain, costs);
    if (0 != rc)
        return rc;
    opal_output_verbose(
        20, ompi_fcoll_base_framework.framework_output,
        "fcoll:tatp: %lu domains by %s: %.15g hop-bytes, %lld bytes between nodes; by otp "
        "%.15g hop-bytes",
        (unsigned long)planning->domains, strategy->name, costs->hop_bytes,
        (long long)costs->crossing_bytes, costs->hop_bytes_otp);
    return 0;
}

static plan_input pose_problem(const tatp_planning *planning, const rows *c)
{
    const tatp_node_map *map = tatp_nodes_map(planning->in->nodes);
    const tatp_plan_settings *settings = planning->in->settings;
    return (plan_input){
        .requests = &c->requests,
        .node_bytes = &c->node_bytes,
        .savings = NULL != c->savings.row_start ? &c->savings : NULL,
        .node_of_rank = map->node_of_rank,
        .topology = &map->topology,
        .per_node = plan_even_per_node(map->ranks_on_node, map->nodes, planning->domains),
        .blocks = settings->strategy->by_blocks ? &c->blocks : NULL,
        .node_blocks = settings->strategy->by_blocks ? &c->node_blocks : NULL,
        .nearness = c->nearness,
    };
}

/* On rank 0: from C to the aggregators in the broadcast. */
static int decide_on_root(const tatp_planning *planning, rows *c, tatp_draft *draft)
{
    size_t domains = planning->domains;
    int64_t *aggregator = planning->broadcast + PLAN_ELEMENTS, *contributors = aggregator + domains;
    size_t *rank_of_domain = calloc(domains, sizeof *rank_of_domain);
    if (NULL == rank_of_domain)
        return -ENOMEM;
    const plan_input in = pose_problem(planning, c);
    int rc = assign_domains(planning, &in, draft->units.unit > 0, rank_of_domain, &draft->costs);
    for (size_t j = 0; j < domains && 0 == rc; j++) {
        aggregator[j] = (int64_t)rank_of_domain[j];
        contributors[j] = matrix_get(&c->accessing, 0, j);
    }
    free(rank_of_domain);
    return rc;
}

/* On rank 0: the units that replace the domains of a draft, or none. */
static int fit_on_root(const tatp_planning *planning, const pieces_bytes *all,
                       const tatp_draft *draft, pieces *units)
{
    const tatp_plan_costs *costs = &draft->costs;
    if (!planning->may_fit || draft->units.unit > 0 || all->too_many ||
        !pieces_may_pay(&planning->pieces, &planning->division, planning->domains,
                        costs->apart_hop_bytes, costs->crossing_bytes))
        return OMPI_SUCCESS;
    return tatp_fit_units(planning, planning->broadcast + PLAN_ELEMENTS, costs, all, units);
}

/* On rank 0: what it broadcasts in any case. Returns the number of elements. */
static int fill_broadcast(const tatp_planning *planning, int rc, tatp_gathered *all,
                          tatp_draft *draft, pieces *units)
{
    static _Atomic int64_t last_id; /* of this process */
    size_t at = 0;
    if (OMPI_SUCCESS == rc)
        rc = decide_on_root(planning, &all->c, draft);
    if (OMPI_SUCCESS == rc)
        rc = fit_on_root(planning, &all->units, draft, units);
    if (OMPI_SUCCESS == rc && planning->in->keep_entries) {
        draft->requests = all->c.requests;
        draft->savings = all->c.savings;
        draft->blocks = all->c.blocks;
        all->c.requests = all->c.savings = all->c.blocks = (matrix){0};
    }
    planning->broadcast[PLAN_ERROR] = tatp_error_class(rc);
    planning->broadcast[PLAN_ID] = ++last_id;
    planning->broadcast[PLAN_UNIT] = units->unit;
    return units->unit > 0 ? tatp_put_units(planning, units, &at)
                           : PLAN_ELEMENTS + 2 * (int)planning->domains;
}

static void take_aggregators(const tatp_planning *planning, tatp_draft *draft)
{
    const int64_t *aggregator = planning->broadcast + PLAN_ELEMENTS;
    const int64_t *contributors = aggregator + planning->domains;
    int rank = planning->in->group->rank;
    draft->view.id = planning->broadcast[PLAN_ID];
    for (size_t j = 0; j < planning->domains; j++) {
        draft->aggregator[j] = (int)aggregator[j];
        draft->parts = contributors[j] > draft->parts ? contributors[j] : draft->parts;
        if (draft->aggregator[j] == rank && draft->division.domains.size[j] > 0) {
            draft->view.aggregates = true;
            draft->view.domain = j;
            draft->view.contributors = (size_t)contributors[j];
        }
    }
}

/* Room for a broadcast. */
static size_t broadcast_room(size_t domains)
{
    size_t elements = PLAN_ELEMENTS + 2 * domains;
    return elements > TATP_PLAN_PIECE ? elements : TATP_PLAN_PIECE;
}

/* rc: this rank's status so far; errors are those of all ranks. The draft has no aggregators where
 * other domains are better. Collective. */
static int make_draft(const tatp_planning *planning, int rc, tatp_draft *draft, tatp_fit *better)
{
    coll_group *group = planning->in->group;
    int count = (int)broadcast_room(planning->domains);
    tatp_gathered all;
    if (OMPI_SUCCESS == rc)
        rc = divide_range(planning, draft);
    rc = tatp_gather_requests(planning, draft, rc, &all);
    if (group->rank == 0)
        count = fill_broadcast(planning, rc, &all, draft, &better->units);
    tatp_gathered_release(&all);
    rc = coll_bcast(group, planning->broadcast, &count);
    if (OMPI_SUCCESS == rc)
        rc = (int)planning->broadcast[PLAN_ERROR];
    if (OMPI_SUCCESS == rc && planning->broadcast[PLAN_UNIT] > 0)
        return tatp_take_units(planning, count, better);
    if (OMPI_SUCCESS == rc)
        take_aggregators(planning, draft);
    return rc;
}

/* ---- the plan ---- */

tatp_plans *tatp_plans_new(void)
{
    return calloc(1, sizeof(tatp_plans));
}

void tatp_plans_free(tatp_plans *plans)
{
    if (NULL == plans)
        return;
    for (size_t slot = 0; slot < TATP_PLANS; slot++)
        tatp_plans_reset(plans, slot);
    free(plans->broadcast);
    free(plans);
}

int tatp_plans_prepare(tatp_plans *plans, int ranks)
{
    if (NULL == plans->broadcast)
        plans->broadcast = calloc(broadcast_room((size_t)ranks), sizeof *plans->broadcast);
    return NULL != plans->broadcast ? OMPI_SUCCESS : -ENOMEM;
}

tatp_plan *tatp_plans_at(tatp_plans *plans, size_t slot)
{
    return &plans->plan[slot];
}

void tatp_plans_reset(tatp_plans *plans, size_t slot)
{
    tatp_plan *plan = &plans->plan[slot];
    release_draft(&plan->draft);
    matrix_release(&plan->even_requests);
    matrix_release(&plan->even_savings);
    *plan = (tatp_plan){0};
}

int64_t tatp_plans_bytes(const tatp_plans *plans, size_t slot)
{
    const tatp_plan_view *view = &plans->plan[slot].draft.view;
    int64_t bytes = 0;
    for (size_t i = 0; i < view->shares; i++)
        bytes += (int64_t)(view->share[i].list.capacity * sizeof(access_run));
    return bytes;
}

static void adopt_draft(tatp_plan *plan, const tatp_plan_input *in, const tatp_draft *draft)
{
    const file_domains *domains = &draft->division.domains;
    division_cycles cycles = in->settings->cycles;
    tatp_plan_view *view = &plan->draft.view;
    if (0 == in->settings->division.aggregators)
        cycles.buffer =
            division_buffer(cycles.buffer, domains->count, tatp_nodes_map(in->nodes)->nodes);
    cycles.parts = draft->parts;
    cycles.message = tatp_message_size(in->group);
    plan->draft = *draft;
    view->lo = in->lo;
    view->hi = in->hi;
    view->period = draft->division.period;
    view->message_size = cycles.message;
    view->cycle_size = division_cycle_size(domains, &cycles);
    view->num_cycles = division_num_cycles(domains, view->cycle_size);
    view->aggregator = draft->aggregator;
    view->share = draft->share;
}

static tatp_planning start_planning(const tatp_plans *plans, const tatp_plan_input *in)
{
    tatp_planning planning = {
        .in = in, .division = in->settings->division, .broadcast = plans->broadcast};
    const tatp_node_map *map = tatp_nodes_map(in->nodes);
    planning.division.capacity = division_chosen_capacity(map->ranks_on_node, map->nodes);
    planning.division.nodes = (int64_t)map->nodes;
    planning.domains = division_count(&planning.division, in->lo, in->hi);
    planning.pieces = pieces_of(&planning.division, planning.domains, in->lo, in->hi);
    planning.may_fit =
        map->nodes > 1 && pieces_may_fit(&planning.pieces, &planning.division, planning.domains);
    return planning;
}

int tatp_plans_make(tatp_plans *plans, size_t slot, const tatp_plan_input *in, int rc)
{
    const tatp_planning planning = start_planning(plans, in);
    tatp_plan *plan = &plans->plan[slot];
    tatp_draft even = {0}, fitted = {0}, *draft = &even;
    tatp_fit fit = {0}, none = {0};
    tatp_plans_reset(plans, slot);
    rc = make_draft(&planning, rc, &even, &fit);
    fitted.units = fit.units;
    if (OMPI_SUCCESS == rc && fitted.units.unit > 0) {
        draft = &fitted;
        fitted.costs.hop_bytes_otp = even.costs.hop_bytes_otp;
        rc = make_draft(&planning, fit.error, &fitted, &none);
    }
    if (OMPI_SUCCESS == rc) {
        adopt_draft(plan, in, draft);
        *draft = (tatp_draft){0};
        plan->even_requests = even.requests;
        plan->even_savings = even.savings;
        even.requests = even.savings = (matrix){0};
    }
    release_draft(&even);
    release_draft(&fitted);
    return rc;
}

/* ---- what is known of it ---- */

tatp_plan_view tatp_plan_get(const tatp_plan *plan)
{
    tatp_plan_view view = plan->draft.view;
    view.domains = &plan->draft.division.domains;
    return view;
}

static const matrix *kept(const matrix *m)
{
    return NULL != m->row_start ? m : NULL;
}

tatp_plan_costs tatp_plan_get_costs(const tatp_plan *plan)
{
    const tatp_draft *draft = &plan->draft;
    int64_t unit = draft->units.unit, stripe = draft->division.domains.stripe;
    tatp_plan_costs costs = draft->costs;
    costs.domains = stripe > 0 ? DIVISION_STRIPE : DIVISION_EVEN;
    if (unit > 0)
        costs.domains = DIVISION_FITTED;
    costs.unit = unit > 0 ? unit : stripe;
    costs.requests = kept(&draft->requests);
    costs.savings = kept(&draft->savings);
    costs.even_requests = kept(&plan->even_requests);
    costs.even_savings = kept(&plan->even_savings);
    costs.blocks = kept(&draft->blocks);
    return costs;
}

void tatp_plan_release_entries(tatp_plan *plan)
{
    matrix_release(&plan->draft.requests);
    matrix_release(&plan->draft.savings);
    matrix_release(&plan->draft.blocks);
    matrix_release(&plan->even_requests);
    matrix_release(&plan->even_savings);
}
