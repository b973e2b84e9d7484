/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers from all ranks to rank 0. */
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
    return *all == NULL ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int tatp_gather(ompio_file_t *fh, const tatp_nodes *where, const int64_t *words, size_t count,
                int rc, int64_t **all)
{
    int64_t verdict = MPI_SUCCESS;
    *all = NULL;
    if (rc == OMPI_SUCCESS && count > INT_MAX)
        rc = MPI_ERR_COUNT;
    int own = rc == OMPI_SUCCESS ? (int)count : -tatp_error_class(rc);
    rc = tatp_gather_equal(fh, &own, 1, MPI_INT, where->count);
    if (rc == OMPI_SUCCESS && fh->f_rank == 0)
        verdict = tatp_error_class(make_room(where, fh->f_size, all));
    if (rc == OMPI_SUCCESS)
        rc = tatp_bcast(fh, &verdict, 1);
    if (rc == OMPI_SUCCESS)
        rc = (int)verdict;
    if (rc == OMPI_SUCCESS)
        rc = tatp_gather_words(fh, words, own, *all, where->count, where->start);
    return rc;
}
