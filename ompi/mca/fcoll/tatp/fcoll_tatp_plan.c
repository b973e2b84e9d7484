/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank serves which domain: src/plan decides on rank 0, everybody hears the answer. */
#include "fcoll_tatp.h"

#include <stdlib.h>

#include "opal/util/output.h"

/* ---- the decision ---- */

/* What the fixed aggregators of plain two-phase I/O would cost, with its contiguous domains. */
static int assess_otp(const plan_input *in, const lap_solver *solver, tatp_decision *decision,
                      size_t *rank_of_domain)
{
    const plan_strategy *otp = plan_find_strategy("otp");
    int rc = otp->assign(in, solver, rank_of_domain);
    return rc != 0 ? rc : plan_hop_bytes(in, rank_of_domain, &decision->hop_bytes_otp);
}

static int assign(const plan_input *in, const tatp_settings *settings, bool fitted,
                  tatp_decision *decision, size_t *rank_of_domain)
{
    int rc = fitted ? 0 : assess_otp(in, settings->solver, decision, rank_of_domain);
    if (rc == 0)
        rc = settings->strategy->assign(in, settings->solver, rank_of_domain);
    if (rc == 0)
        rc = plan_hop_bytes(in, rank_of_domain, &decision->hop_bytes);
    if (rc == 0)
        decision->crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    return tatp_from_errno(rc);
}

/* What rank 0 tells: the aggregator of each domain follows, then how many ranks contribute to each.
 */
enum { ANSWER_ERROR, ANSWER_ID, ANSWER_PARTS, ANSWER_MAY_FIT, ANSWER_WORDS = TATP_ANSWER_WORDS };

/* Into how many equal parts a window falls when those from other nodes shall be one message each.
 * Where most contributors are on the aggregator's own node larger windows would only leave the
 * cache. */
static int64_t parts_of_window(int64_t contributors, int64_t remote)
{
    return remote > contributors / 2 ? contributors : remote;
}

/* Counts each domain's contributors, of which `ranks` has those on each node; returns the most
 * parts of a window that any aggregator has. */
static int64_t count_contributors(const plan_input *in, const matrix *ranks,
                                  const size_t *rank_of_domain, int64_t *contributors)
{
    int64_t most = 0;
    for (size_t j = 0; j < ranks->cols; j++)
        contributors[j] = 0;
    for (size_t n = 0; n < ranks->rows; n++)
        for (size_t k = ranks->row_start[n]; k < ranks->row_start[n + 1]; k++)
            contributors[ranks->col[k]] += ranks->value[k];
    for (size_t j = 0; j < ranks->cols; j++) {
        size_t node = in->node_of_rank[rank_of_domain[j]];
        int64_t remote = contributors[j] - matrix_get(ranks, node, j);
        int64_t parts = parts_of_window(contributors[j], remote);
        most = parts > most ? parts : most;
    }
    return most;
}

/* On rank 0: from the rows to the answer. */
static int decide_here(tatp_pass *pass, tatp_rows *rows, int64_t *answer)
{
    const tatp_nodes *where = &pass->module->where;
    tatp_schedule *schedule = pass->schedule;
    size_t domains = schedule->domains.count;
    size_t *rank_of_domain = calloc(domains, sizeof *rank_of_domain);
    if (NULL == rank_of_domain)
        return OMPI_ERR_OUT_OF_RESOURCE;
    plan_input in = {
        .requests = &rows->requests,
        .node_bytes = &rows->node_bytes,
        .node_of_rank = where->node_of_rank,
        .topology = &where->topology,
        .objective = pass->module->settings.objective->objective,
        .per_node = plan_even_per_node(where->ranks_on_node, where->nodes, domains),
    };
    if (pass->module->settings.strategy->by_blocks) {
        in.blocks = &rows->blocks;
        in.node_blocks = &rows->node_blocks;
    }
    int rc =
        assign(&in, &pass->module->settings, schedule->fitted, &schedule->decision, rank_of_domain);
    if (OMPI_SUCCESS == rc) {
        answer[ANSWER_PARTS] = count_contributors(&in, &rows->node_ranks, rank_of_domain,
                                                  answer + ANSWER_WORDS + domains);
        answer[ANSWER_MAY_FIT] = tatp_may_fit(pass->module, schedule, &schedule->decision);
        tatp_stats_keep(schedule, rows);
    }
    for (size_t j = 0; j < domains && OMPI_SUCCESS == rc; j++)
        answer[ANSWER_WORDS + j] = (int64_t)rank_of_domain[j];
    free(rank_of_domain);
    return rc;
}

static void tell(const tatp_pass *pass)
{
    const tatp_decision *d = &pass->schedule->decision;
    opal_output_verbose(
        20, ompi_fcoll_base_framework.framework_output,
        "fcoll:tatp: %lu domains by %s: %.15g hop-bytes, %lld bytes between nodes; by otp "
        "%.15g hop-bytes",
        (unsigned long)pass->schedule->domains.count, pass->module->settings.strategy->name,
        d->hop_bytes, (long long)d->crossing_bytes, d->hop_bytes_otp);
}

/* On rank 0: what it tells in any case. */
static void give_answer(tatp_pass *pass, int rc, tatp_rows *rows, int64_t *answer)
{
    static _Atomic int64_t given; /* schedule ids of this process */
    if (OMPI_SUCCESS == rc)
        rc = decide_here(pass, rows, answer);
    if (OMPI_SUCCESS == rc)
        tell(pass);
    answer[ANSWER_ERROR] = tatp_error_class(rc);
    answer[ANSWER_ID] = ++given;
}

/* Takes over what rank 0 decided, and finds out whether this rank is an aggregator. */
static void adopt(tatp_pass *pass, const int64_t *answer)
{
    tatp_schedule *schedule = pass->schedule;
    size_t domains = schedule->domains.count;
    schedule->id = answer[ANSWER_ID];
    schedule->decision.parts = answer[ANSWER_PARTS];
    for (size_t j = 0; j < domains; j++) {
        schedule->decision.aggregator[j] = (int)answer[ANSWER_WORDS + j];
        if (schedule->decision.aggregator[j] == pass->fh->f_rank && schedule->domains.size[j] > 0) {
            schedule->aggregates = true;
            schedule->domain = j;
            schedule->expected = (size_t)answer[ANSWER_WORDS + domains + j];
        }
    }
}

int tatp_decide(tatp_pass *pass, int rc, bool *may_fit)
{
    /* also where this rank could not divide the range */
    size_t domains = tatp_domain_count(pass->module, pass->schedule);
    int64_t *answer = pass->module->where.answer;
    int words = ANSWER_WORDS + 2 * (int)domains;
    tatp_rows rows;
    if (OMPI_SUCCESS == rc)
        pass->schedule->decision.aggregator = calloc(domains + 1, sizeof(int));
    if (OMPI_SUCCESS == rc && NULL == pass->schedule->decision.aggregator)
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    rc = tatp_gather_rows(pass, rc, &rows);
    if (pass->fh->f_rank == 0)
        give_answer(pass, rc, &rows, answer);
    tatp_rows_release(&rows);
    rc = tatp_bcast(pass->fh, answer, words);
    if (OMPI_SUCCESS == rc)
        rc = (int)answer[ANSWER_ERROR];
    if (OMPI_SUCCESS == rc)
        adopt(pass, answer);
    *may_fit = OMPI_SUCCESS == rc && answer[ANSWER_MAY_FIT];
    return rc;
}
