/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers to rank 0: from all ranks, or from the lowest rank of each node, which sums up.
 */
#include "fcoll_tatp.h"

#include <limits.h>
#include <stdlib.h>

/* Makes room for all words. A negative count is the error class, negated, that keeps that rank
 * from going on. */
static int make_room(const tatp_nodes *where, int ranks, int64_t **all)
{
    int64_t total = 0;
    for (int r = 0; r < ranks; r++) {
        if (where->count[r] < 0)
            return -where->count[r];
        where->start[r] = (int)total;
        total += where->count[r];
        if (total > INT_MAX)
            return MPI_ERR_COUNT;
    }
    *all = malloc(((size_t)total + 1) * sizeof **all);
    return NULL == *all ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int tatp_gather(ompio_file_t *fh, const tatp_nodes *where, const int64_t *words, size_t count,
                int rc, int64_t **all)
{
    int64_t verdict = MPI_SUCCESS;
    *all = NULL;
    if (OMPI_SUCCESS == rc && count > INT_MAX)
        rc = MPI_ERR_COUNT;
    int own = OMPI_SUCCESS == rc ? (int)count : -tatp_error_class(rc);
    rc = tatp_gather_equal(fh, &own, 1, MPI_INT, where->count);
    if (OMPI_SUCCESS == rc && fh->f_rank == 0)
        verdict = tatp_error_class(make_room(where, fh->f_size, all));
    if (OMPI_SUCCESS == rc)
        rc = tatp_bcast(fh, &verdict, 1);
    if (OMPI_SUCCESS == rc)
        rc = (int)verdict;
    if (OMPI_SUCCESS == rc)
        rc = tatp_gather_words(fh, words, own, *all, where->count, where->start);
    return rc;
}

/* ---- by way of the nodes ---- */

/* Takes every message in whatever happens. */
static int add_all(ompio_file_t *fh, enum tatp_tag tag, size_t senders,
                   int (*add)(void *, const tatp_words *), void *sum, int rc)
{
    for (size_t i = 0; i < senders; i++) {
        tatp_words message = {0};
        int more = tatp_receive_words(fh, tag, &message);
        if (OMPI_SUCCESS == rc)
            rc = more;
        if (OMPI_SUCCESS == rc && message.count > 0)
            rc = add(sum, &message);
        free(message.word);
    }
    return rc;
}

/* What the ranks of this node have. */
static int sum_node(tatp_pass *pass, const tatp_by_node *way, void *sum, const tatp_words *own,
                    tatp_words *node, int rc)
{
    if (OMPI_SUCCESS == rc)
        rc = way->add_rank(sum, own);
    rc =
        add_all(pass->fh, way->to_lowest, (size_t)pass->module->locals - 1, way->add_rank, sum, rc);
    return OMPI_SUCCESS == rc ? way->sum_up(sum, node) : rc;
}

int tatp_gather_by_node(tatp_pass *pass, const tatp_by_node *way, void *sum, const tatp_words *own,
                        int rc)
{
    int rank = pass->fh->f_rank, lowest = pass->module->local[0], sent = OMPI_SUCCESS;
    tatp_words node = {.from = rank};
    if (rank == lowest)
        rc = sum_node(pass, way, sum, own, &node, rc);
    else
        sent = tatp_send_words(pass, own, rc, lowest, way->to_lowest);
    if (rank == 0 && OMPI_SUCCESS == rc)
        rc = way->add_node(sum, &node);
    if (rank == 0)
        rc = add_all(pass->fh, way->to_root, pass->module->where.leaders - 1, way->add_node, sum,
                     rc);
    else if (rank == lowest)
        sent = tatp_send_words(pass, &node, rc, 0, way->to_root);
    free(node.word);
    return OMPI_SUCCESS != rc ? rc : sent;
}
