/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks access, on its way to those that count neighbours in a part of the file. */
#include "fcoll_tatp_record.h"

#include <stdlib.h>

#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

int tatp_owner(const ompio_file_t *fh, size_t part, size_t parts)
{
    return (int)(part * (size_t)fh->f_size / parts);
}

size_t tatp_owned(const ompio_file_t *fh, size_t rank, size_t parts)
{
    size_t ranks = (size_t)fh->f_size, part = (rank * parts + ranks - 1) / ranks;
    return part < parts && tatp_owner(fh, part, parts) == (int)rank ? part : SIZE_MAX;
}

/* Sends under way. */
typedef struct outgoing {
    ompi_request_t **request;
    size_t count;
} outgoing;

static int start_sends(tatp_pass *pass, const record_words *part, size_t parts, outgoing *out)
{
    int first = OMPI_SUCCESS;
    for (size_t j = 0; j < parts; j++) {
        int owner = tatp_owner(pass->fh, j, parts), rc;
        if (part[j].count == 0 || owner == pass->fh->f_rank)
            continue;
        rc = out->request == NULL
                 ? tatp_send_nothing(pass, owner, TATP_TAG_RECORD)
                 : MCA_PML_CALL(isend(part[j].word, part[j].count, MPI_INT64_T, owner, TATP_TAG_RECORD,
                                      MCA_PML_BASE_SEND_STANDARD, pass->fh->f_comm,
                                      &out->request[out->count++]));
        if (first == OMPI_SUCCESS)
            first = rc;
    }
    return first;
}

/* One look for a message; without a place for it, it is taken in all the same. */
static int receive_any(tatp_pass *pass, tatp_words *place, int *found)
{
    tatp_words message;
    int rc = tatp_poll_words(pass->fh, TATP_TAG_RECORD, &message, found);
    if (*found && place != NULL)
        *place = message;
    else
        free(message.word);
    return rc == OMPI_SUCCESS && *found && place == NULL ? OMPI_ERR_OUT_OF_RESOURCE : rc;
}

/* The first error is kept; the loop goes on until everything is received and sent, whatever happens. */
static int finish(tatp_pass *pass, outgoing *out, size_t senders, tatp_words *received, int rc)
{
    size_t missing = senders;
    int sent = out->count == 0, found;
    while (missing > 0 || !sent) {
        tatp_words *place = received != NULL ? &received[senders - missing] : NULL;
        int more = OMPI_SUCCESS;
        found = 0;
        if (missing > 0)
            more = receive_any(pass, place, &found);
        missing -= (size_t)found;
        if (rc == OMPI_SUCCESS)
            rc = more;
        if (!sent)
            more = ompi_request_test_all(out->count, out->request, &sent, MPI_STATUSES_IGNORE);
        if (rc == OMPI_SUCCESS)
            rc = more;
        if (!found)
            tatp_give_way(pass->fh);
    }
    return rc;
}

int tatp_exchange_parts(tatp_pass *pass, const record_words *part, size_t parts, size_t senders,
                        tatp_words *received)
{
    outgoing out = {calloc(parts + 1, sizeof *out.request), 0};
    int rc = start_sends(pass, part, parts, &out);
    rc = finish(pass, &out, senders, received, rc);
    free(out.request);
    return rc;
}
