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
        rc = NULL == out->request
                 ? tatp_send_nothing(pass, owner, TATP_TAG_RECORD)
                 : MCA_PML_CALL(isend(part[j].word, part[j].count, MPI_INT64_T, owner,
                                      TATP_TAG_RECORD, MCA_PML_BASE_SEND_STANDARD, pass->fh->f_comm,
                                      &out->request[out->count++]));
        if (OMPI_SUCCESS == first)
            first = rc;
    }
    return first;
}

/* The next place for what is received; NULL: there is no memory for any. */
static int take_part(void *to, tatp_words *message)
{
    tatp_words **place = to;
    if (NULL == *place)
        return OMPI_ERR_OUT_OF_RESOURCE;
    *(*place)++ = *message;
    message->word = NULL;
    return OMPI_SUCCESS;
}

int tatp_exchange_parts(tatp_pass *pass, const record_words *part, size_t parts, size_t senders,
                        tatp_words *received)
{
    const tatp_arrivals arrivals = {TATP_TAG_RECORD, take_part, &received};
    outgoing out = {calloc(parts + 1, sizeof *out.request), 0};
    int rc = start_sends(pass, part, parts, &out);
    rc = tatp_finish_exchange(pass, &arrivals, senders, out.request, out.count, rc);
    free(out.request);
    return rc;
}
