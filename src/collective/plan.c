/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a plan: rank 0 runs the planner, whose source are the ranks. These answer each division
 * into domains with what they access of them, until rank 0 broadcasts the aggregators.
 *
 * No rank leaves between two collective steps: an error is carried to the next broadcast. */
#include "collective/plan_internal.h"

#include <errno.h>
#include <stdlib.h>

/* This rank's part of the domains, in place of that of earlier ones. */
static int cut_accesses(const coll_planning *planning, const plan_draft *draft,
                        domain_layout *layout)
{
    domains_free_shares(layout->share, layout->shares);
    layout->share = NULL;
    layout->shares = 0;
    if (layout->aggregator == NULL)
        layout->aggregator = calloc(planning->planner.domains, sizeof *layout->aggregator);
    if (layout->aggregator == NULL)
        return -ENOMEM;
    return domains_cut(&draft->division.domains, planning->in->accesses, &layout->share,
                       &layout->shares);
}

/* ---- rank 0 ---- */

/* What rank 0 asks, and has learned. */
typedef struct coll_questions {
    const coll_planning *planning;
    domain_layout *layout;
    coll_gathered answers;
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
    rc = coll_gather_requests(q->planning, draft, q->layout, rc, &q->answers);
    *c = q->answers.c;
    q->answers.c = (rows_matrices){.nearness = NULL};
    return rc;
}

/* As they were sent with the answers for even domains. */
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

/* Of the fixed aggregators of plain two-phase I/O, with its contiguous domains. */
static int assess_otp(const plan_draft *even, double *hop_bytes)
{
    const plan_input in = plan_draft_problem(even);
    size_t *rank_of_domain = calloc(in.requests->cols, sizeof *rank_of_domain);
    if (rank_of_domain == NULL)
        return -ENOMEM;
    int rc = plan_find_strategy("otp")->assign(&in, rank_of_domain);
    if (rc == 0)
        rc = plan_hop_bytes(&in, rank_of_domain, hop_bytes);
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

static int decide(coll_questions *q, coll_decision *decision)
{
    const planner *p = &q->planning->planner;
    const plan_source source = {ask_for_domains, ask_for_units, q};
    coll_process *process = q->planning->in->group->runtime->process;
    plan_draft *plan = &decision->draft, even;
    int rc = planner_make(p, &source, plan, &even);
    if (rc != 0)
        return rc;
    bool fitted = plan->kind == DIVISION_FITTED;
    rc = assess_otp(fitted ? &even : plan, &decision->hop_bytes_otp);
    if (fitted)
        log_draft(p, process, &even, decision->hop_bytes_otp);
    log_draft(p, process, plan, decision->hop_bytes_otp);
    if (q->planning->in->wishes.keep_entries) {
        decision->even_requests = even.c.requests;
        even.c.requests = (matrix){0};
    }
    plan_draft_release(&even);
    return rc;
}

static int plan_on_root(const coll_planning *planning, int rc, coll_plan *plan)
{
    coll_questions q = {.planning = planning, .layout = &plan->layout};
    plan_draft *draft = &plan->decision.draft;
    if (rc == 0)
        rc = decide(&q, &plan->decision);
    if (!q.asked)
        rc = coll_gather_requests(planning, draft, &plan->layout, rc, &q.answers);
    free(q.answers.units.entry);
    if (q.lost)
        return rc;
    rc = coll_put_aggregators(planning, draft, rc);
    if (!planning->in->wishes.keep_entries)
        rows_release(&draft->c);
    return rc;
}

/* ---- the other ranks ---- */

static int answer_root(const coll_planning *planning, int rc, coll_plan *plan)
{
    plan_draft *draft = &plan->decision.draft;
    coll_gathered nothing;
    int lost;
    do {
        division_release(&draft->division);
        if (rc == 0)
            rc = planner_divide(&planning->planner, &draft->units, &draft->division);
        if (rc == 0)
            rc = cut_accesses(planning, draft, &plan->layout);
        (void)coll_gather_requests(planning, draft, &plan->layout, rc, &nothing);
        lost = coll_take_broadcast(planning, &draft->units);
        rc = draft->units.domain == NULL ? -ENOMEM : 0;
    } while (lost == 0 && coll_has_units(planning));
    return lost;
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

void coll_plan_reset(coll_plan *plan)
{
    plan_draft_release(&plan->decision.draft);
    matrix_release(&plan->decision.even_requests);
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

/* From the last broadcast. Returns the most contributors of an aggregator. */
static int64_t take_aggregators(const coll_planning *planning, const file_domains *domains,
                                domain_layout *layout)
{
    const int64_t *aggregator = planning->in->broadcast->element + PLAN_ELEMENTS;
    const int64_t *contributors = aggregator + domains->count;
    int64_t most = 0;
    layout->id = planning->in->broadcast->element[PLAN_ID];
    for (size_t j = 0; j < domains->count; j++) {
        layout->aggregator[j] = (int)aggregator[j];
        most = contributors[j] > most ? contributors[j] : most;
        if (layout->aggregator[j] == planning->in->group->rank && domains->size[j] > 0) {
            layout->aggregates = true;
            layout->domain = j;
            layout->contributors = (size_t)contributors[j];
        }
    }
    return most;
}

static void complete_layout(const coll_planning *planning, coll_plan *plan)
{
    const coll_plan_input *in = planning->in;
    const file_domains *domains = &plan->decision.draft.division.domains;
    division_cycles cycles = in->settings->cycles;
    domain_layout *layout = &plan->layout;
    if (in->settings->division.aggregators == 0)
        cycles.buffer = division_buffer(cycles.buffer, domains->count, planning->planner.nodes);
    cycles.parts = take_aggregators(planning, domains, layout);
    cycles.message = message_size(in->group);
    layout->period = plan->decision.draft.division.period;
    layout->piece = in->piece;
    layout->domains = domains;
    layout->message_size = cycles.message;
    layout->cycle_size = division_cycle_size(domains, &cycles);
    layout->num_cycles = division_num_cycles(domains, layout->cycle_size);
}

static coll_planning start_planning(const coll_plan_input *in)
{
    const coll_node_map *map = coll_nodes_map(in->nodes);
    coll_planning planning = {.in = in,
                              .planner = {.lo = in->lo,
                                          .hi = in->hi,
                                          .division = in->settings->division,
                                          .strategy = in->settings->strategy,
                                          .nodes = map->nodes,
                                          .ranks_on_node = map->ranks_on_node,
                                          .node_of_rank = map->node_of_rank,
                                          .topology = &map->topology}};
    planning.planner.division.capacity = map->capacity;
    planning.planner.division.nodes = (int64_t)map->nodes;
    planner_start(&planning.planner);
    return planning;
}

int coll_plan_make(coll_plan *plan, const coll_plan_input *in, int rc)
{
    const coll_planning planning = start_planning(in);
    coll_plan_reset(plan);
    rc = coll_make_room(&planning, rc);
    if (!coll_has_room(&planning))
        return rc;
    rc = (in->group->rank == 0 ? plan_on_root : answer_root)(&planning, rc, plan);
    if (rc == 0)
        rc = (int)in->broadcast->element[PLAN_ERROR];
    if (rc == 0)
        complete_layout(&planning, plan);
    else
        coll_plan_reset(plan);
    return rc;
}

const domain_layout *coll_plan_layout(const coll_plan *plan)
{
    return &plan->layout;
}

const coll_decision *coll_plan_decision(const coll_plan *plan)
{
    return &plan->decision;
}

void coll_plan_release_entries(coll_plan *plan)
{
    rows_release(&plan->decision.draft.c);
    matrix_release(&plan->decision.even_requests);
}
