/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank serves which domain: C is gathered on rank 0, src/plan decides there, everybody hears
 * the answer. */
#include "fcoll_tatp.h"

#include <stdlib.h>

/* ---- C on rank 0 ---- */

enum { PAIR_DOMAIN, PAIR_BYTES, PAIR_WORDS };
/* Pairs follow: the whole row, or its beginning. */
enum { SLOT_PAIRS, SLOT_LEADS, SLOT_WORDS };

static void put_pairs(const tatp_pass *pass, size_t pairs, int64_t *word)
{
    for (size_t i = 0; i < pairs; i++) {
        word[i * PAIR_WORDS + PAIR_DOMAIN] = (int64_t)pass->schedule->share[i].domain;
        word[i * PAIR_WORDS + PAIR_BYTES] = pass->schedule->share[i].list.bytes;
    }
}

/* This rank's row of C, (domain, bytes) for each domain that it touches, as far as it goes into a slot;
 * the slot's first word is how many there are, or an error class, negated. Collective. */
static int gather_slots(tatp_pass *pass, int rc)
{
    int64_t slot[TATP_SLOT_WORDS] = {0};
    size_t pairs = pass->schedule->shares;
    slot[SLOT_PAIRS] = rc == OMPI_SUCCESS ? (int64_t)pairs : -tatp_error_class(rc);
    slot[SLOT_LEADS] = pass->module->local[0] == pass->fh->f_rank;
    if (rc == OMPI_SUCCESS)
        put_pairs(pass, pairs < TATP_SLOT_PAIRS ? pairs : TATP_SLOT_PAIRS, slot + SLOT_WORDS);
    pass->metadata += (int64_t)sizeof slot;
    return tatp_gather_equal(pass->fh, slot, TATP_SLOT_WORDS, MPI_INT64_T,
                             pass->module->where.slots);
}

/* On rank 0: whether all ranks are well, and their rows in the slots. */
static int look_at_slots(const tatp_pass *pass, bool *whole)
{
    tatp_nodes *where = &pass->module->where;
    const int64_t *slot = where->slots;
    *whole = true;
    where->leaders = 0;
    for (int r = 0; r < pass->fh->f_size; r++, slot += TATP_SLOT_WORDS) {
        if (slot[SLOT_PAIRS] < 0)
            return (int)-slot[SLOT_PAIRS];
        where->leaders += slot[SLOT_LEADS] != 0;
        *whole = *whole && slot[SLOT_PAIRS] <= TATP_SLOT_PAIRS;
    }
    return OMPI_SUCCESS;
}

/* All rows on rank 0; *rows is the caller's to free. Collective; an error is everyone's. */
static int gather_rows(tatp_pass *pass, int64_t **rows)
{
    size_t pairs = pass->schedule->shares, words = pairs * PAIR_WORDS;
    int64_t *row = malloc((words + 1) * sizeof *row);
    int rc = row == NULL ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    if (rc == OMPI_SUCCESS)
        put_pairs(pass, pairs, row);
    rc = tatp_gather(pass->fh, &pass->module->where, row, words, rc, rows);
    pass->metadata += (int64_t)(words * sizeof *row);
    free(row);
    return rc;
}

/* A rank's row on rank 0: from all rows, or (NULL) from the slots. */
static const int64_t *row_of(const tatp_nodes *where, const int64_t *rows, size_t rank,
                             size_t *pairs)
{
    if (rows != NULL) {
        *pairs = (size_t)where->count[rank] / PAIR_WORDS;
        return rows + where->start[rank];
    }
    const int64_t *slot = where->slots + rank * TATP_SLOT_WORDS;
    *pairs = (size_t)slot[SLOT_PAIRS];
    return slot + SLOT_WORDS;
}

static int build_requests(const tatp_pass *pass, const int64_t *rows, matrix *requests)
{
    const tatp_nodes *where = &pass->module->where;
    size_t ranks = (size_t)pass->fh->f_size, entries = 0, n = 0, pairs;
    for (size_t r = 0; r < ranks; r++) {
        (void)row_of(where, rows, r, &pairs);
        entries += pairs;
    }
    matrix_entry *entry = calloc(entries + 1, sizeof *entry);
    if (entry == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t r = 0; r < ranks; r++) {
        const int64_t *word = row_of(where, rows, r, &pairs);
        for (size_t i = 0; i < pairs; i++, word += PAIR_WORDS)
            entry[n++] = (matrix_entry){r, (size_t)word[PAIR_DOMAIN], word[PAIR_BYTES]};
    }
    int rc = matrix_from_entries(requests, ranks, pass->schedule->domains.count, entry, entries);
    free(entry);
    return tatp_from_errno(rc);
}

/* ---- the decision ---- */

/* Bytes that aggregators access themselves. */
static double own_bytes(const matrix *requests, const size_t *rank_of_domain)
{
    double own = 0.0;
    for (size_t j = 0; j < requests->cols; j++)
        own += (double)matrix_get(requests, rank_of_domain[j], j);
    return own;
}

/* What the fixed aggregators of plain two-phase I/O would cost, with its contiguous domains. */
static int assess_otp(const plan_input *in, tatp_decision *decision, size_t *rank_of_domain)
{
    const plan_strategy *otp = plan_find_strategy("otp");
    int rc = otp->assign(in, mca_fcoll_tatp_component.solver, rank_of_domain);
    return rc != 0 ? rc : plan_hop_bytes(in, rank_of_domain, &decision->hop_bytes_otp);
}

static int assign(const plan_input *in, bool fitted, tatp_decision *decision, size_t *rank_of_domain)
{
    const mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    int rc = fitted ? 0 : assess_otp(in, decision, rank_of_domain);
    if (rc == 0)
        rc = c->strategy->assign(in, c->solver, rank_of_domain);
    if (rc == 0)
        rc = plan_hop_bytes(in, rank_of_domain, &decision->hop_bytes);
    if (rc == 0) {
        decision->hop_bytes_by_node =
            decision->hop_bytes + TOPO_SAME_NODE * own_bytes(in->requests, rank_of_domain);
        decision->crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    }
    return tatp_from_errno(rc);
}

/* What rank 0 tells: the aggregator of each domain follows, then how many ranks contribute to each. */
enum {
    ANSWER_ERROR,
    ANSWER_MORE,
    ANSWER_ID,
    ANSWER_REMOTE,
    ANSWER_MAY_FIT,
    ANSWER_WORDS = TATP_ANSWER_WORDS
};

/* Counts each domain's contributors; returns the most on other nodes that any aggregator has. */
static int64_t count_contributors(const plan_input *in, const size_t *rank_of_domain,
                                  int64_t *contributors)
{
    const matrix *c = in->requests;
    int64_t most = 0;
    for (size_t j = 0; j < c->cols; j++)
        contributors[j] = 0;
    for (size_t r = 0; r < c->rows; r++) {
        for (size_t k = c->row_start[r]; k < c->row_start[r + 1]; k++) {
            size_t aggregator = rank_of_domain[c->col[k]];
            contributors[c->col[k]] += in->node_of_rank[r] != in->node_of_rank[aggregator];
        }
    }
    for (size_t j = 0; j < c->cols; j++)
        most = contributors[j] > most ? contributors[j] : most;
    for (size_t r = 0; r < c->rows; r++) {
        for (size_t k = c->row_start[r]; k < c->row_start[r + 1]; k++) {
            size_t aggregator = rank_of_domain[c->col[k]];
            contributors[c->col[k]] += in->node_of_rank[r] == in->node_of_rank[aggregator];
        }
    }
    return most;
}

/* On rank 0: from the rows to the answer. */
static int decide_here(tatp_pass *pass, const int64_t *rows, int64_t *answer)
{
    const tatp_nodes *where = &pass->module->where;
    size_t domains = pass->schedule->domains.count;
    matrix requests;
    size_t *rank_of_domain = calloc(domains, sizeof *rank_of_domain);
    if (rank_of_domain == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = build_requests(pass, rows, &requests);
    if (rc == OMPI_SUCCESS) {
        plan_input in = {
            .requests = &requests,
            .node_of_rank = where->node_of_rank,
            .topology = &where->topology,
            .objective = mca_fcoll_tatp_component.objective->objective,
            .per_node = plan_even_per_node(where->ranks_on_node, where->nodes, domains),
        };
        rc = assign(&in, pass->schedule->fitted, &pass->schedule->decision, rank_of_domain);
        if (rc == OMPI_SUCCESS) {
            answer[ANSWER_REMOTE] = count_contributors(&in, rank_of_domain,
                                                       answer + ANSWER_WORDS + domains);
            answer[ANSWER_MAY_FIT] =
                tatp_may_fit(pass->module, pass->schedule, &pass->schedule->decision);
        }
        matrix_release(&requests);
    }
    for (size_t j = 0; j < domains && rc == OMPI_SUCCESS; j++)
        answer[ANSWER_WORDS + j] = (int64_t)rank_of_domain[j];
    free(rank_of_domain);
    return rc;
}

/* On rank 0: the first answer, which is the last one unless a row did not fit into its slot. */
static void answer_slots(tatp_pass *pass, int rc, int64_t *answer)
{
    static _Atomic int64_t given; /* schedule ids of this process */
    bool whole = true;
    if (rc == OMPI_SUCCESS)
        rc = look_at_slots(pass, &whole);
    if (rc == OMPI_SUCCESS && whole)
        rc = decide_here(pass, NULL, answer);
    answer[ANSWER_ERROR] = tatp_error_class(rc);
    answer[ANSWER_MORE] = !whole;
    answer[ANSWER_ID] = ++given;
}

/* Takes over what rank 0 decided, and finds out whether this rank is an aggregator. */
static void adopt(tatp_pass *pass, const int64_t *answer)
{
    tatp_schedule *schedule = pass->schedule;
    size_t domains = schedule->domains.count;
    schedule->id = answer[ANSWER_ID];
    schedule->decision.remote = answer[ANSWER_REMOTE];
    for (size_t j = 0; j < domains; j++) {
        schedule->decision.aggregator[j] = (int)answer[ANSWER_WORDS + j];
        if (schedule->decision.aggregator[j] == pass->fh->f_rank && schedule->domains.size[j] > 0) {
            schedule->aggregates = true;
            schedule->domain = j;
            schedule->expected = (size_t)answer[ANSWER_WORDS + domains + j];
        }
    }
}

/* The whole rows, where they are longer than slots. Collective; an error is everyone's. */
static int decide_by_rows(tatp_pass *pass, int64_t *answer, int words)
{
    int64_t *rows = NULL;
    int rc = gather_rows(pass, &rows);
    if (rc == OMPI_SUCCESS && pass->fh->f_rank == 0)
        answer[ANSWER_ERROR] = tatp_error_class(decide_here(pass, rows, answer));
    if (rc == OMPI_SUCCESS)
        rc = tatp_bcast(pass->fh, answer, words);
    free(rows);
    return rc != OMPI_SUCCESS ? rc : (int)answer[ANSWER_ERROR];
}

int tatp_decide(tatp_pass *pass, int rc, bool *may_fit)
{
    /* also where this rank could not divide the range */
    size_t domains = tatp_domain_count(pass->module, pass->schedule);
    int64_t *answer = pass->module->where.answer;
    int words = ANSWER_WORDS + 2 * (int)domains;
    if (rc == OMPI_SUCCESS)
        pass->schedule->decision.aggregator = calloc(domains + 1, sizeof(int));
    if (rc == OMPI_SUCCESS && pass->schedule->decision.aggregator == NULL)
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    rc = gather_slots(pass, rc);
    if (pass->fh->f_rank == 0)
        answer_slots(pass, rc, answer);
    rc = tatp_bcast(pass->fh, answer, words);
    if (rc == OMPI_SUCCESS)
        rc = (int)answer[ANSWER_ERROR];
    if (rc == OMPI_SUCCESS && answer[ANSWER_MORE])
        rc = decide_by_rows(pass, answer, words);
    if (rc == OMPI_SUCCESS)
        adopt(pass, answer);
    *may_fit = rc == OMPI_SUCCESS && answer[ANSWER_MAY_FIT];
    return rc;
}
