/* SPDX-License-Identifier: BSD-3-Clause */
/* What each rank accesses, sent to the ranks that own the parts of the range. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <stdlib.h>

int tatp_record_owner(const tatp_comm *comm, size_t part, size_t parts)
{
    return (int)(part * (size_t)tatp_comm_size(comm) / parts);
}

size_t tatp_record_owned(const tatp_comm *comm, size_t rank, size_t parts)
{
    size_t ranks = (size_t)tatp_comm_size(comm), part = (rank * parts + ranks - 1) / ranks;
    return part < parts && tatp_record_owner(comm, part, parts) == (int)rank ? part : SIZE_MAX;
}

/* request: NULL if there is no memory for it. *sends: those that were started. */
static int send_parts(tatp_comm *comm, const record_message *part, size_t parts,
                      ompi_request_t **request, size_t *sends)
{
    int first = OMPI_SUCCESS;
    *sends = 0;
    for (size_t j = 0; j < parts; j++) {
        int owner = tatp_record_owner(comm, j, parts), rc;
        if (part[j].count == 0 || owner == tatp_comm_rank(comm))
            continue;
        rc = NULL == request ? tatp_message_send_empty(comm, owner, TATP_TAG_RECORD)
                             : tatp_message_isend(comm, part[j].element, part[j].count, owner,
                                                  TATP_TAG_RECORD, &request[*sends]);
        *sends += NULL != request && OMPI_SUCCESS == rc;
        if (OMPI_SUCCESS == first)
            first = rc;
    }
    return first;
}

/* context: the next place of `received`, or NULL. */
static int take_part(void *context, tatp_message *message)
{
    tatp_message **place = context;
    if (NULL == *place)
        return OMPI_ERR_OUT_OF_RESOURCE;
    *(*place)++ = *message;
    message->element = NULL;
    return OMPI_SUCCESS;
}

int tatp_record_exchange(tatp_comm *comm, const record_message *part, size_t parts, size_t senders,
                         tatp_message *received)
{
    const tatp_arrivals arrivals = {
        .tag = TATP_TAG_RECORD, .expected = senders, .take = take_part, .context = &received};
    ompi_request_t **request = calloc(parts + 1, sizeof *request);
    size_t sends;
    int rc = send_parts(comm, part, parts, request, &sends);
    rc = tatp_message_complete(comm, &arrivals, request, sends, rc);
    free(request);
    return rc;
}
