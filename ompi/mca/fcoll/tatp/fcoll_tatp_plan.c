/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank serves which domain: C is gathered on rank 0, src/plan decides there, everybody hears
 * the answer. */
#include "fcoll_tatp.h"

#include <stdlib.h>


enum { PAIR_DOMAIN, PAIR_BYTES, PAIR_WORDS };

/* This rank's row of C: (domain, bytes) for each domain that it touches. */
static int64_t *own_row(const tatp_pass *pass)
{
    int64_t *word = malloc((pass->schedule->shares * PAIR_WORDS + 1) * sizeof *word);
    for (size_t i = 0; word != NULL && i < pass->schedule->shares; i++) {
        word[i * PAIR_WORDS + PAIR_DOMAIN] = (int64_t)pass->schedule->share[i].domain;
        word[i * PAIR_WORDS + PAIR_BYTES] = pass->schedule->share[i].list.bytes;
    }
    return word;
}

/* All rows on rank 0; *rows is the caller's to free. Collective. */
static int gather_rows(tatp_pass *pass, int rc, int64_t **rows)
{
    int64_t *row = rc == OMPI_SUCCESS ? own_row(pass) : NULL;
    if (rc == OMPI_SUCCESS && row == NULL)
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    rc = tatp_gather(pass->fh, &pass->module->where, row, pass->schedule->shares * PAIR_WORDS, rc, rows);
    free(row);
    return rc;
}

static int build_requests(const tatp_pass *pass, const int64_t *rows, matrix *requests)
{
    const int *count = pass->module->where.count, *start = pass->module->where.start;
    size_t ranks = (size_t)pass->fh->f_size, entries = 0;
    for (size_t r = 0; r < ranks; r++)
        entries += (size_t)count[r] / PAIR_WORDS;
    matrix_entry *entry = calloc(entries + 1, sizeof *entry);
    if (entry == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    size_t n = 0;
    for (size_t r = 0; r < ranks; r++) {
        for (int w = start[r]; w < start[r] + count[r]; w += PAIR_WORDS) {
            entry[n++] = (matrix_entry){r, (size_t)rows[w + PAIR_DOMAIN], rows[w + PAIR_BYTES]};
        }
    }
    int rc = matrix_from_entries(requests, ranks, pass->schedule->domains.count, entry, entries);
    free(entry);
    return tatp_from_errno(rc);
}

/* What the chosen strategy says, and what the fixed aggregators of plain two-phase I/O would have
 * cost. */
static int assign(const plan_input *in, tatp_decision *decision, size_t *rank_of_domain)
{
    const plan_strategy *otp = plan_find_strategy("otp");
    int rc = otp->assign(in, mca_fcoll_tatp_component.solver, rank_of_domain);
    if (rc == 0)
        rc = plan_hop_bytes(in, rank_of_domain, &decision->hop_bytes_otp);
    if (rc == 0)
        rc = mca_fcoll_tatp_component.strategy->assign(in, mca_fcoll_tatp_component.solver,
                                                       rank_of_domain);
    if (rc == 0)
        rc = plan_hop_bytes(in, rank_of_domain, &decision->hop_bytes);
    if (rc == 0)
        decision->crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    return tatp_from_errno(rc);
}

static int64_t most_remote(const plan_input *in, const size_t *rank_of_domain, int64_t *remote)
{
    const matrix *c = in->requests;
    int64_t most = 0;
    for (size_t r = 0; r < c->rows; r++) {
        for (size_t k = c->row_start[r]; k < c->row_start[r + 1]; k++) {
            size_t aggregator = rank_of_domain[c->col[k]];
            remote[c->col[k]] += in->node_of_rank[r] != in->node_of_rank[aggregator];
        }
    }
    for (size_t j = 0; j < c->cols; j++)
        most = remote[j] > most ? remote[j] : most;
    return most;
}

/* The most contributors on other nodes that any aggregator has. */
static int count_remote(const plan_input *in, const size_t *rank_of_domain, int64_t *most)
{
    int64_t *remote = calloc(in->requests->cols, sizeof *remote);
    if (remote == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    *most = most_remote(in, rank_of_domain, remote);
    free(remote);
    return OMPI_SUCCESS;
}

/* On rank 0: from the rows to aggregator[]. */
static int decide_here(tatp_pass *pass, const int64_t *rows, int64_t *aggregator)
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
            .per_node = plan_even_per_node(where->ranks_on_node, where->nodes, domains),
        };
        rc = assign(&in, &pass->schedule->decision, rank_of_domain);
        if (rc == OMPI_SUCCESS)
            rc = count_remote(&in, rank_of_domain, &pass->schedule->decision.remote);
        matrix_release(&requests);
    }
    for (size_t j = 0; j < domains && rc == OMPI_SUCCESS; j++)
        aggregator[j] = (int64_t)rank_of_domain[j];
    free(rank_of_domain);
    return rc;
}

/* Takes over what rank 0 decided, and finds out whether this rank is an aggregator. */
static void adopt(tatp_pass *pass, const int64_t *aggregator)
{
    for (size_t j = 0; j < pass->schedule->domains.count; j++) {
        pass->schedule->decision.aggregator[j] = (int)aggregator[j];
        if (pass->schedule->decision.aggregator[j] == pass->fh->f_rank && pass->schedule->domains.size[j] > 0) {
            pass->schedule->aggregates = true;
            pass->schedule->domain = j;
        }
    }
}

int tatp_decide(tatp_pass *pass, int rc)
{
    size_t domains = pass->schedule->domains.count;
    int64_t *rows = NULL;
    static _Atomic int64_t given; /* schedule ids of this process */
    enum { ERROR, ID, REMOTE, AGGREGATORS };
    int64_t *answer = calloc(domains + AGGREGATORS, sizeof *answer);
    pass->schedule->decision.aggregator = calloc(domains + 1, sizeof *pass->schedule->decision.aggregator);

    if (rc == OMPI_SUCCESS && (answer == NULL || pass->schedule->decision.aggregator == NULL))
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    rc = gather_rows(pass, rc, &rows);
    if (rc == OMPI_SUCCESS) {
        if (pass->fh->f_rank == 0) {
            answer[ERROR] = tatp_error_class(decide_here(pass, rows, answer + AGGREGATORS));
            answer[ID] = ++given;
            answer[REMOTE] = pass->schedule->decision.remote;
        }
        rc = tatp_bcast(pass->fh, answer, (int)domains + AGGREGATORS);
    }
    if (rc == OMPI_SUCCESS)
        rc = (int)answer[ERROR];
    if (rc == OMPI_SUCCESS) {
        pass->schedule->id = answer[ID];
        pass->schedule->decision.remote = answer[REMOTE];
        adopt(pass, answer + AGGREGATORS);
    }
    free(rows);
    free(answer);
    return rc;
}
