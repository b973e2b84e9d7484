/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a plan: rank 0 decides by src/plan and broadcasts which rank owns which domain.
 *
 * No rank leaves between two collective steps: an error is carried to the next broadcast. */
#include "collective/plan_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a draft ---- */

static void release_draft(coll_draft *draft)
{
    pieces_release(&draft->units);
    division_release(&draft->division);
    domains_free_shares(draft->layout.share, draft->layout.shares);
    free(draft->layout.aggregator);
    matrix_release(&draft->requests);
    matrix_release(&draft->blocks);
    *draft = (coll_draft){0};
}

static int divide_range(const coll_planning *planning, coll_draft *draft)
{
    const coll_plan_input *in = planning->in;
    size_t domains = planning->domains;
    draft->layout.aggregator = calloc(domains, sizeof *draft->layout.aggregator);
    if (draft->layout.aggregator == NULL)
        return -ENOMEM;
    int rc = draft->units.unit > 0
                 ? pieces_divide(&draft->units, &planning->division, domains, &draft->division)
                 : division_make(&planning->division, in->lo, in->hi, &draft->division);
    if (rc == 0)
        rc = domains_cut(&draft->division.domains, in->accesses, &draft->layout.share,
                         &draft->layout.shares);
    return rc;
}

/* Hop-bytes of the fixed aggregators of plain two-phase I/O, with its contiguous domains. */
static int assess_otp(const plan_input *in, size_t *rank_of_domain, double *hop_bytes)
{
    int rc = plan_find_strategy("otp")->assign(in, rank_of_domain);
    return rc != 0 ? rc : plan_hop_bytes(in, rank_of_domain, hop_bytes);
}

/* On rank 0: all but those of otp. Negative errno. */
static int assess_plan(const plan_input *in, const size_t *rank_of_domain, coll_plan_costs *costs)
{
    int rc = plan_hop_bytes(in, rank_of_domain, &costs->hop_bytes);
    if (rc != 0)
        return rc;
    costs->per_node = in->per_node;
    costs->crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    return 0;
}

/* On rank 0. Negative errno. */
static int assign_domains(const coll_planning *planning, const plan_input *in, bool fitted,
                          size_t *rank_of_domain, coll_plan_costs *costs)
{
    const coll_plan_settings *settings = planning->in->settings;
    const plan_strategy *strategy = settings->strategy;
    int rc = 0;
    if (!fitted)
        rc = assess_otp(in, rank_of_domain, &costs->hop_bytes_otp);
    if (rc == 0)
        rc = strategy->assign(in, rank_of_domain);
    if (rc == 0)
        rc = assess_plan(in, rank_of_domain, costs);
    if (rc != 0)
        return rc;
    coll_log(planning->in->group->runtime->process, 20,
             "%zu domains by %s: %.15g hop-bytes, %lld bytes between nodes; by otp %.15g hop-bytes",
             planning->domains, strategy->name, costs->hop_bytes, (long long)costs->crossing_bytes,
             costs->hop_bytes_otp);
    return 0;
}

static plan_input pose_problem(const coll_planning *planning, const rows *c)
{
    const coll_node_map *map = coll_nodes_map(planning->in->nodes);
    const coll_plan_settings *settings = planning->in->settings;
    return (plan_input){
        .requests = &c->requests,
        .node_bytes = &c->node_bytes,
        .node_of_rank = map->node_of_rank,
        .topology = &map->topology,
        .per_node = plan_even_per_node(map->ranks_on_node, map->nodes, planning->domains),
        .blocks = settings->strategy->by_blocks ? &c->blocks : NULL,
        .node_blocks = settings->strategy->by_blocks ? &c->node_blocks : NULL,
        .nearness = c->nearness,
    };
}

/* On rank 0: from C to the aggregators in the broadcast. */
static int decide_on_root(const coll_planning *planning, rows *c, coll_draft *draft)
{
    size_t domains = planning->domains;
    int64_t *aggregator = planning->in->broadcast + PLAN_ELEMENTS,
            *contributors = aggregator + domains;
    size_t *rank_of_domain = calloc(domains, sizeof *rank_of_domain);
    if (rank_of_domain == NULL)
        return -ENOMEM;
    const plan_input in = pose_problem(planning, c);
    int rc = assign_domains(planning, &in, draft->units.unit > 0, rank_of_domain, &draft->costs);
    for (size_t j = 0; j < domains && rc == 0; j++) {
        aggregator[j] = (int64_t)rank_of_domain[j];
        contributors[j] = matrix_get(&c->accessing, 0, j);
    }
    free(rank_of_domain);
    return rc;
}

/* On rank 0: the units that replace the domains of a draft, or none. */
static int fit_on_root(const coll_planning *planning, const pieces_bytes *all,
                       const coll_draft *draft, pieces *units)
{
    const coll_plan_costs *costs = &draft->costs;
    if (!planning->may_fit || draft->units.unit > 0 || all->too_many ||
        !pieces_may_pay(&planning->pieces, &planning->division, planning->domains, costs->hop_bytes,
                        costs->crossing_bytes))
        return 0;
    return coll_fit_units(planning, planning->in->broadcast + PLAN_ELEMENTS, costs, all, units);
}

/* On rank 0: what it broadcasts in any case. Returns the number of elements. */
static int fill_broadcast(const coll_planning *planning, int rc, coll_gathered *all,
                          coll_draft *draft, pieces *units)
{
    const coll_runtime *runtime = planning->in->group->runtime;
    size_t at = 0;
    if (rc == 0)
        rc = decide_on_root(planning, &all->c, draft);
    if (rc == 0)
        rc = fit_on_root(planning, &all->units, draft, units);
    if (rc == 0 && planning->in->wishes.keep_entries) {
        draft->requests = all->c.requests;
        draft->blocks = all->c.blocks;
        all->c.requests = all->c.blocks = (matrix){0};
    }
    planning->in->broadcast[PLAN_ERROR] = runtime->error_class(rc);
    planning->in->broadcast[PLAN_ID] = ++runtime->process->plans;
    planning->in->broadcast[PLAN_UNIT] = units->unit;
    return units->unit > 0 ? coll_put_units(planning, units, &at)
                           : PLAN_ELEMENTS + 2 * (int)planning->domains;
}

static void take_aggregators(const coll_planning *planning, coll_draft *draft)
{
    const int64_t *aggregator = planning->in->broadcast + PLAN_ELEMENTS;
    const int64_t *contributors = aggregator + planning->domains;
    int rank = planning->in->group->rank;
    draft->layout.id = planning->in->broadcast[PLAN_ID];
    for (size_t j = 0; j < planning->domains; j++) {
        draft->layout.aggregator[j] = (int)aggregator[j];
        draft->parts = contributors[j] > draft->parts ? contributors[j] : draft->parts;
        if (draft->layout.aggregator[j] == rank && draft->division.domains.size[j] > 0) {
            draft->layout.aggregates = true;
            draft->layout.domain = j;
            draft->layout.contributors = (size_t)contributors[j];
        }
    }
}

/* Room for a broadcast. */
static size_t broadcast_room(size_t domains)
{
    size_t elements = PLAN_ELEMENTS + 2 * domains;
    return elements > COLL_PLAN_PIECE ? elements : COLL_PLAN_PIECE;
}

/* rc: this rank's status so far; errors are those of all ranks. The draft has no aggregators where
 * other domains are better. Collective. */
static int make_draft(const coll_planning *planning, int rc, coll_draft *draft, coll_fit *better)
{
    coll_group *group = planning->in->group;
    int count = (int)broadcast_room(planning->domains);
    coll_gathered all;
    if (rc == 0)
        rc = divide_range(planning, draft);
    rc = coll_gather_requests(planning, draft, rc, &all);
    if (group->rank == 0)
        count = fill_broadcast(planning, rc, &all, draft, &better->units);
    coll_gathered_release(&all);
    rc = coll_bcast(group, planning->in->broadcast, &count);
    if (rc == 0)
        rc = (int)planning->in->broadcast[PLAN_ERROR];
    if (rc == 0 && planning->in->broadcast[PLAN_UNIT] > 0)
        return coll_take_units(planning, count, better);
    if (rc == 0)
        take_aggregators(planning, draft);
    return rc;
}

/* ---- the plan ---- */

coll_plan *coll_plan_new(void)
{
    return calloc(1, sizeof(coll_plan));
}

void coll_plan_free(coll_plan *plan)
{
    if (plan == NULL)
        return;
    coll_plan_reset(plan);
    free(plan);
}

int64_t *coll_plan_new_broadcast(int ranks)
{
    return calloc(broadcast_room((size_t)ranks), sizeof(int64_t));
}

void coll_plan_reset(coll_plan *plan)
{
    release_draft(&plan->draft);
    matrix_release(&plan->even_requests);
    *plan = (coll_plan){0};
}

int64_t coll_plan_bytes(const coll_plan *plan)
{
    const domain_layout *layout = &plan->draft.layout;
    int64_t bytes = 0;
    for (size_t i = 0; i < layout->shares; i++)
        bytes += (int64_t)(layout->share[i].list.capacity * sizeof(access_run));
    return bytes;
}

static int64_t message_size(const coll_group *group)
{
    const coll_runtime *runtime = group->runtime;
    return group->locals < group->size ? runtime->far_message_size : runtime->near_message_size;
}

static void adopt_draft(coll_plan *plan, const coll_plan_input *in, const coll_draft *draft)
{
    const file_domains *domains = &plan->draft.division.domains;
    division_cycles cycles = in->settings->cycles;
    domain_layout *layout = &plan->draft.layout;
    plan->draft = *draft;
    if (in->settings->division.aggregators == 0)
        cycles.buffer =
            division_buffer(cycles.buffer, domains->count, coll_nodes_map(in->nodes)->nodes);
    cycles.parts = draft->parts;
    cycles.message = message_size(in->group);
    layout->period = draft->division.period;
    layout->piece = in->piece;
    layout->domains = domains;
    layout->message_size = cycles.message;
    layout->cycle_size = division_cycle_size(domains, &cycles);
    layout->num_cycles = division_num_cycles(domains, layout->cycle_size);
}

static coll_planning start_planning(const coll_plan_input *in)
{
    coll_planning planning = {.in = in, .division = in->settings->division};
    const coll_node_map *map = coll_nodes_map(in->nodes);
    planning.division.capacity = division_chosen_capacity(map->ranks_on_node, map->nodes);
    planning.division.nodes = (int64_t)map->nodes;
    planning.domains = division_count(&planning.division, in->lo, in->hi);
    planning.pieces = pieces_of(&planning.division, planning.domains, in->lo, in->hi);
    planning.may_fit =
        map->nodes > 1 && pieces_may_fit(&planning.pieces, &planning.division, planning.domains);
    return planning;
}

int coll_plan_make(coll_plan *plan, const coll_plan_input *in, int rc)
{
    const coll_planning planning = start_planning(in);
    coll_draft even = {0}, fitted = {0}, *draft = &even;
    coll_fit fit = {0}, none = {0};
    coll_plan_reset(plan);
    rc = make_draft(&planning, rc, &even, &fit);
    fitted.units = fit.units;
    if (rc == 0 && fitted.units.unit > 0) {
        draft = &fitted;
        fitted.costs.hop_bytes_otp = even.costs.hop_bytes_otp;
        rc = make_draft(&planning, fit.error, &fitted, &none);
    }
    if (rc == 0) {
        adopt_draft(plan, in, draft);
        *draft = (coll_draft){0};
        plan->even_requests = even.requests;
        even.requests = (matrix){0};
    }
    release_draft(&even);
    release_draft(&fitted);
    return rc;
}

/* ---- what is known of it ---- */

const domain_layout *coll_plan_layout(const coll_plan *plan)
{
    return &plan->draft.layout;
}

static const matrix *kept(const matrix *m)
{
    return m->row_start != NULL ? m : NULL;
}

coll_plan_costs coll_plan_get_costs(const coll_plan *plan)
{
    const coll_draft *draft = &plan->draft;
    int64_t unit = draft->units.unit, stripe = draft->division.domains.stripe;
    coll_plan_costs costs = draft->costs;
    costs.domains = stripe > 0 ? DIVISION_STRIPE : DIVISION_EVEN;
    if (unit > 0)
        costs.domains = DIVISION_FITTED;
    costs.unit = unit > 0 ? unit : stripe;
    costs.requests = kept(&draft->requests);
    costs.even_requests = kept(&plan->even_requests);
    costs.blocks = kept(&draft->blocks);
    return costs;
}

void coll_plan_release_entries(coll_plan *plan)
{
    matrix_release(&plan->draft.requests);
    matrix_release(&plan->draft.blocks);
    matrix_release(&plan->even_requests);
}
