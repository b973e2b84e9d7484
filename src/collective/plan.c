/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a plan: rank 0 runs the planner, whose source are the ranks. These answer each division
 * into domains with what they access of them, until rank 0 broadcasts the aggregators.
 *
 * No rank leaves between two collective steps: an error is carried to the next broadcast. */
#include "collective/plan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/requests.h"

static void drop_shares(domain_layout *layout)
{
    domains_free_shares(layout->share, layout->shares);
    layout->share = NULL;
    layout->shares = 0;
}

static int make_aggregators(const coll_planning *planning, domain_layout *layout)
{
    int rc = 0;
    if (layout->aggregator == NULL)
        layout->aggregator = base_zeroed(planning->planner.domains, sizeof(int), &rc);
    return rc;
}

/* This rank's part of the domains, in place of that of earlier ones. */
static int cut_accesses(const coll_planning *planning, const plan_draft *draft,
                        domain_layout *layout)
{
    drop_shares(layout);
    int rc = make_aggregators(planning, layout);
    return rc != 0 ? rc
                   : domains_cut(&draft->division.domains, planning->in->accesses,
                                 planning->planner.division.margin > 0, &layout->share,
                                 &layout->shares);
}

/* Forgets the ranges of all other domains, as far as a table has them. */
static void keep_own_domain(coll_plan *plan)
{
    const domain_layout *layout = &plan->layout;
    domains_keep(&plan->draft.division.domains, layout->aggregates ? layout->domain : SIZE_MAX);
}

/* ---- what rank 0 gathers ---- */

/* What decides on rank 0; elsewhere empty. */
typedef struct gathered {
    rows_matrices c;    /* as far as a decision needs it */
    pieces_bytes units; /* of each node, with even domains that fitted ones may replace */
} gathered;

static request_sums start_request_sums(const coll_planning *planning)
{
    const coll_plan_input *in = planning->in;
    const planner *p = &planning->planner;
    const int *local = in->group->local;
    size_t locals = (size_t)in->group->locals;
    size_t most = in->wishes.all_entries || !in->group->is_leader ? locals : p->per_node;
    bool by_blocks = p->strategy->by_blocks;
    return (request_sums){
        .node = {.by_blocks = by_blocks,
                 .most = most,
                 .low = local[(most < locals ? most : locals) - 1],
                 .domains = p->domains,
                 .most_domains =
                     in->wishes.all_entries ? p->domains : rows_most_domains(p->nodes, p->domains),
                 .first = (size_t)((int64_t)p->domains * in->group->rank / in->group->size),
                 .rank = local,
                 .ranks = locals,
                 .nearness = in->nodes->nearness},
        .all = rows_builder_new((size_t)in->group->size, p->nodes, p->domains, by_blocks),
        .node_of_rank = p->node_of_rank,
    };
}

/* Gathers C of a draft's domains, of which this rank accesses the shares of the layout, by way of
 * the node leaders and without the row of each rank, and the bytes of each node in each unit
 * (src/plan/requests.h). rc: this rank's status so far; an error of any rank becomes an error of
 * rank 0. Collective. */
static int gather_requests(const coll_planning *planning, const plan_draft *draft,
                           const domain_layout *layout, int rc, gathered *all)
{
    coll_group *group = planning->in->group;
    const planner *p = &planning->planner;
    const pieces *units = p->may_fit && draft->units.unit == 0 ? &p->units : NULL;
    request_sums sums = start_request_sums(planning);
    coll_message own = {.from = group->rank}, node = {.from = group->rank}, unlisted = {0};
    *all = (gathered){0};
    sums.units = units != NULL ? units->count : 0;
    sums.most_units = pieces_most_of_node(&p->units, p->nodes);
    sums.all_units = &all->units;
    if (rc == 0)
        rc = requests_describe(layout->share, layout->shares, units, planning->in->accesses,
                               &own.element, &own.count);
    rc = coll_gather_node(group, COLL_TAG_ROWS, &own, requests_add_rank, &sums, rc);
    if (rc == 0 && group->is_leader)
        rc = requests_sum_node(&sums, &node.element, &node.count);
    if (sums.node.unlisted != NULL)
        unlisted = (coll_message){.element = sums.node.unlisted, .count = 2 * p->domains};
    if (group->is_leader)
        rc = coll_gather_leaders(group, COLL_TAG_NODE_ROWS, &node, &unlisted, requests_add_node,
                                 &sums, rc);
    if (rc == 0 && own.from == 0)
        rc = rows_builder_finish(&sums.all, &all->c);
    free(own.element);
    free(node.element);
    requests_release(&sums);
    return rc;
}

/* ---- rank 0 ---- */

/* What rank 0 asks, and has learned. */
typedef struct coll_questions {
    const coll_planning *planning;
    domain_layout *layout;
    gathered answers;
    bool asked; /* the others have sent what they access of even domains */
    bool lost;  /* a broadcast has failed, and the others wait for no other */
} coll_questions;

static int ask_for_domains(void *context, const plan_draft *draft, rows_matrices *c)
{
    coll_questions *q = context;
    int rc = draft->units.unit > 0 ? coll_put_units(q->planning, &draft->units) : 0;
    q->lost = rc != 0;
    if (q->lost)
        return rc;
    q->asked = true;
    rc = cut_accesses(q->planning, draft, q->layout);
    rc = gather_requests(q->planning, draft, q->layout, rc, &q->answers);
    *c = q->answers.c;
    q->answers.c = (rows_matrices){.nearness = NULL};
    return rc;
}

/* Ranks have sent them with the answers for even domains. */
static int ask_for_units(void *context, const pieces *units, matrix *bytes)
{
    coll_questions *q = context;
    pieces_bytes *all = &q->answers.units;
    int rc = 0;
    if (!all->too_many)
        rc = matrix_from_entries(bytes, units->count, q->planning->planner.nodes, all->entry,
                                 all->count);
    free(all->entry);
    *all = (pieces_bytes){0};
    return rc;
}

/* The aggregators are the fixed ones of plain two-phase I/O, with its contiguous domains. */
static int assess_otp(const plan_draft *even, double *hop_bytes)
{
    const plan_input in = plan_draft_problem(even);
    int64_t crossing;
    size_t *rank_of_domain = calloc(in.requests->cols, sizeof *rank_of_domain);
    if (rank_of_domain == NULL)
        return -ENOMEM;
    int rc = plan_find_strategy("otp")->assign(&in, rank_of_domain);
    if (rc == 0)
        rc = plan_draft_assess(even, rank_of_domain, hop_bytes, &crossing);
    free(rank_of_domain);
    return rc;
}

static void log_draft(const planner *p, coll_process *process, const plan_draft *draft,
                      double hop_bytes_otp)
{
    coll_log(process, 20,
             "%zu domains by %s: %.15g hop-bytes, %lld bytes between nodes; by otp %.15g hop-bytes",
             p->domains, p->strategy->name, draft->hop_bytes, (long long)draft->crossing_bytes,
             hop_bytes_otp);
}

static int decide(coll_questions *q, coll_plan *made)
{
    const planner *p = &q->planning->planner;
    const plan_source source = {ask_for_domains, ask_for_units, q};
    coll_process *process = q->planning->in->group->runtime->process;
    plan_draft *plan = &made->draft, even;
    int rc = planner_make(p, &source, plan, &even);
    if (rc != 0)
        return rc;
    bool fitted = plan->kind == DIVISION_FITTED;
    rc = assess_otp(fitted ? &even : plan, &made->hop_bytes_otp);
    if (fitted)
        log_draft(p, process, &even, made->hop_bytes_otp);
    log_draft(p, process, plan, made->hop_bytes_otp);
    if (q->planning->in->wishes.keep_entries) {
        made->even_requests = even.c.requests;
        even.c.requests = (matrix){0};
    }
    plan_draft_release(&even);
    return rc;
}

static int plan_on_root(const coll_planning *planning, int rc, coll_plan *plan)
{
    coll_questions q = {.planning = planning, .layout = &plan->layout};
    plan_draft *draft = &plan->draft;
    if (rc == 0)
        rc = decide(&q, plan);
    if (!q.asked)
        rc = gather_requests(planning, draft, &plan->layout, rc, &q.answers);
    free(q.answers.units.entry);
    if (q.lost)
        return rc;
    int lost = coll_put_aggregators(planning, draft, rc, &plan->layout);
    if (!planning->in->wishes.keep_entries)
        rows_release(&draft->c);
    keep_own_domain(plan);
    pieces_release(&draft->units);
    return rc != 0 ? planning->in->group->runtime->error_class(rc) : lost;
}

/* ---- the other ranks ---- */

/* A rank can find out the ranges of these domains at any time. */
static int answer_table(const coll_planning *planning, coll_plan *plan)
{
    plan_draft *draft = &plan->draft;
    int rc = planner_divide(&planning->planner, &draft->units, &draft->division);
    if (rc == 0)
        rc = cut_accesses(planning, draft, &plan->layout);
    keep_own_domain(plan);
    return rc;
}

static int answer_columns(const coll_planning *planning, coll_plan *plan)
{
    pieces *units = &plan->draft.units;
    pieces_run run = {0};
    units->domain = calloc(units->count, sizeof *units->domain);
    while (coll_take_run(planning, units, &run))
        for (size_t u = run.first; u < run.first + run.count && units->domain != NULL; u++)
            units->domain[u] = run.domain;
    return units->domain != NULL ? answer_table(planning, plan) : -ENOMEM;
}

/* Fitted domains are cut range by range as they come. */
static int answer_units(const coll_planning *planning, coll_plan *plan)
{
    const pieces *units = &plan->draft.units;
    division *fitted = &plan->draft.division;
    file_domains *domains = &fitted->domains;
    domain_layout *layout = &plan->layout;
    domain_cutter cut = {.slot = NULL};
    pieces_run run = {0};
    int64_t lo, hi;
    int rc = pieces_begin(units, &planning->planner.division, planning->planner.domains, fitted);
    if (rc == 0)
        rc = make_aggregators(planning, layout);
    if (rc == 0)
        rc = domains_cut_begin(&cut, domains, planning->in->accesses);
    while (coll_take_run(planning, units, &run)) {
        pieces_bounds(units, &run, &lo, &hi);
        domains->ranges = 0;
        if (rc == 0)
            rc = domains_append(domains, lo, hi, run.domain, true);
        if (rc == 0)
            rc = domains_cut_more(&cut);
    }
    rc = rc != 0 ? rc : planning->in->stream->rc;
    return domains_cut_end(&cut, rc, &layout->share, &layout->shares);
}

static int answer_root(const coll_planning *planning, int rc, coll_plan *plan, coll_plan_head *head)
{
    plan_draft *draft = &plan->draft;
    gathered nothing;
    draft->kind = DIVISION_EVEN;
    if (rc == 0)
        rc = answer_table(planning, plan);
    (void)gather_requests(planning, draft, &plan->layout, rc, &nothing);
    int lost = coll_take_head(planning, head);
    while (lost == 0 && head->error == 0 && head->unit > 0) {
        drop_shares(&plan->layout);
        division_release(&draft->division);
        draft->units = planning->planner.units;
        draft->kind = DIVISION_FITTED;
        rc = (draft->units.columns ? answer_columns : answer_units)(planning, plan);
        (void)gather_requests(planning, draft, &plan->layout, rc, &nothing);
        lost = coll_take_head(planning, head);
    }
    return lost != 0 ? lost : head->error;
}

/* Fitted domains come again. */
static int take_own_units(const coll_planning *planning, coll_plan *plan)
{
    const pieces *units = &plan->draft.units;
    const domain_layout *layout = &plan->layout;
    file_domains *domains = &plan->draft.division.domains;
    pieces_run run = {0};
    int64_t lo, hi;
    int rc = 0;
    domains->ranges = 0;
    memset(domains->size, 0, domains->count * sizeof *domains->size);
    while (coll_take_run(planning, units, &run)) {
        bool is_own = layout->aggregates && run.domain == layout->domain;
        pieces_bounds(units, &run, &lo, &hi);
        int failed = domains_append(domains, lo, hi, run.domain, is_own);
        rc = rc != 0 ? rc : failed;
    }
    return rc;
}

static int make_own_table(const coll_planning *planning, coll_plan *plan)
{
    plan_draft *draft = &plan->draft;
    division made = {0};
    int rc = planner_divide(&planning->planner, &draft->units, &made);
    if (rc == 0) {
        division_release(&draft->division);
        draft->division = made;
        keep_own_domain(plan);
    }
    return rc;
}

/* The ranges of this rank's own domain; an error is agreed on later. */
static int make_own_domain(const coll_planning *planning, coll_plan *plan)
{
    const plan_draft *draft = &plan->draft;
    if (draft->division.domains.stripe > 0)
        return 0;
    if (draft->units.unit > 0)
        return take_own_units(planning, plan);
    return plan->layout.aggregates ? make_own_table(planning, plan) : 0;
}

static int take_plan(const coll_planning *planning, int rc, coll_plan *plan)
{
    plan_draft *draft = &plan->draft;
    coll_plan_head head;
    rc = answer_root(planning, rc, plan, &head);
    if (rc == 0)
        rc = coll_take_aggregators(planning, &draft->division.domains, &plan->layout);
    if (rc != 0)
        return rc;
    plan->layout.id = head.id;
    plan->layout.error = make_own_domain(planning, plan);
    pieces_release(&draft->units);
    return planning->in->stream->rc;
}

/* ---- the plan ---- */

void coll_plan_reset(coll_plan *plan)
{
    plan_draft_release(&plan->draft);
    matrix_release(&plan->even_requests);
    domains_free_shares(plan->layout.share, plan->layout.shares);
    free(plan->layout.aggregator);
    *plan = (coll_plan){0};
}

int64_t coll_plan_bytes(const coll_plan *plan)
{
    const domain_layout *layout = &plan->layout;
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

static void complete_layout(const coll_planning *planning, coll_plan *plan)
{
    const coll_plan_input *in = planning->in;
    const file_domains *domains = &plan->draft.division.domains;
    division_cycles cycles = in->settings->cycles;
    domain_layout *layout = &plan->layout;
    if (in->settings->division.aggregators == 0)
        cycles.buffer = division_buffer(cycles.buffer, domains->count, planning->planner.nodes);
    cycles.parts = layout->most_contributors;
    cycles.message = message_size(in->group);
    layout->margin = planning->planner.division.margin;
    layout->period = layout->margin > 0 ? 1 : plan->draft.division.period;
    layout->piece = in->piece;
    layout->domains = domains;
    layout->message_size = cycles.message;
    layout->cycle_size = division_cycle_size(domains, &cycles);
    layout->num_cycles = division_num_cycles(domains, layout->cycle_size);
}

static coll_planning start_planning(const coll_plan_input *in)
{
    const coll_nodes *nodes = in->nodes;
    coll_planning planning = {.in = in,
                              .planner = {.lo = in->lo,
                                          .hi = in->hi,
                                          .division = in->settings->division,
                                          .strategy = in->settings->strategy,
                                          .nodes = nodes->count,
                                          .ranks_on_node = nodes->ranks_on_node,
                                          .node_of_rank = nodes->node_of_rank,
                                          .topology = &nodes->topology}};
    planning.planner.division.capacity = nodes->capacity;
    planning.planner.division.nodes = (int64_t)nodes->count;
    division_settings *d = &planning.planner.division;
    if (in->widens && division_may_widen(d, in->lo, in->hi)) {
        d->margin = d->stripe;
        planning.planner.hi += d->margin;
        if (!division_is_striped(d))
            d->kind = DIVISION_EVEN;
    }
    planner_start(&planning.planner);
    return planning;
}

int coll_plan_make(coll_plan *plan, const coll_plan_input *in, int rc)
{
    const coll_planning planning = start_planning(in);
    coll_plan_reset(plan);
    in->stream->rc = 0;
    rc = (in->group->rank == 0 ? plan_on_root : take_plan)(&planning, rc, plan);
    if (rc == 0)
        complete_layout(&planning, plan);
    else
        coll_plan_reset(plan);
    return rc;
}

void coll_plan_release_entries(coll_plan *plan)
{
    rows_release(&plan->draft.c);
    matrix_release(&plan->even_requests);
}
