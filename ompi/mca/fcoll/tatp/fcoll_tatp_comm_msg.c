/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of int64 from a rank that knows their length to one that does not. */
#include <stdlib.h>

#include "fcoll_tatp_comm_internal.h"
#include "ompi/mca/pml/pml.h"

int tatp_message_isend(tatp_comm *comm, const int64_t *element, size_t count, int peer,
                       enum tatp_tag tag, ompi_request_t **request)
{
    comm->metadata += (int64_t)(count * sizeof *element);
    return tatp_isend(comm, element, count * sizeof *element, peer, tag, request);
}

int tatp_message_send(tatp_comm *comm, const int64_t *element, size_t count, int peer,
                      enum tatp_tag tag)
{
    comm->metadata += (int64_t)(count * sizeof *element);
    return tatp_send(comm, element, count * sizeof *element, peer, tag);
}

int tatp_message_send_empty(tatp_comm *comm, int peer, enum tatp_tag tag)
{
    int rc = tatp_send(comm, NULL, 0, peer, tag);
    return OMPI_SUCCESS != rc ? rc : OMPI_ERR_OUT_OF_RESOURCE;
}

int tatp_message_send_absent(tatp_comm *comm, int64_t count, int peer)
{
    return tatp_message_send(comm, &count, 1, peer, TATP_TAG_ABSENT);
}

int64_t tatp_message_bytes(tatp_comm *comm)
{
    int64_t bytes = comm->metadata;
    comm->metadata = 0;
    return bytes;
}

/* Receives the message whatever happens, because its sender waits for that: without memory for it,
 * as a message of length 0, whose truncation is ignored. */
static int receive_probed(tatp_comm *comm, const ompi_status_public_t *status, enum tatp_tag tag,
                          tatp_message *message)
{
    size_t bytes = status->_ucount;
    message->from = status->MPI_SOURCE;
    message->count = bytes / sizeof *message->element;
    message->element = malloc(bytes + 1);
    bool has_memory = NULL != message->element;
    int rc = tatp_receive(comm, message->element, has_memory ? bytes : 0, message->from, tag);
    return has_memory ? rc : OMPI_ERR_OUT_OF_RESOURCE;
}

/* Receives a message if there is one: *found, also when it could not be kept. */
static int poll_message(tatp_comm *comm, enum tatp_tag tag, tatp_message *message, bool *found)
{
    ompi_status_public_t status;
    int flag = 0;
    *message = (tatp_message){0};
    int rc = MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, tag, comm->communicator, &flag, &status));
    *found = OMPI_SUCCESS == rc && flag;
    return *found ? receive_probed(comm, &status, tag, message) : rc;
}

/* Takes no memory, because the messages that are not absent have to be counted in any case. */
static int poll_absent(tatp_comm *comm, size_t *absent)
{
    ompi_status_public_t status;
    int64_t count = 0;
    int flag = 0;
    int rc =
        MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, TATP_TAG_ABSENT, comm->communicator, &flag, &status));
    if (OMPI_SUCCESS == rc && flag)
        rc = tatp_receive(comm, &count, sizeof count, status.MPI_SOURCE, TATP_TAG_ABSENT);
    *absent = (size_t)count;
    return rc;
}

/* Receives one of the missing messages if it is there. */
static int poll_arrival(tatp_comm *comm, const tatp_arrivals *arrivals, size_t *missing)
{
    tatp_message message;
    bool found;
    int rc = poll_message(comm, arrivals->tag, &message, &found);
    if (OMPI_SUCCESS == rc && found)
        rc = arrivals->take(arrivals->context, &message);
    free(message.element);
    *missing -= found;
    if (OMPI_SUCCESS == rc && !found && arrivals->may_be_absent) {
        size_t absent;
        rc = poll_absent(comm, &absent);
        *missing -= absent;
    }
    return rc;
}

int tatp_message_complete(tatp_comm *comm, const tatp_arrivals *arrivals, ompi_request_t **request,
                          size_t sends, int rc)
{
    size_t missing = arrivals->expected;
    int sent = 0, lost = OMPI_SUCCESS;
    while (OMPI_SUCCESS == lost && (missing > 0 || !sent)) {
        size_t before = missing;
        int step = missing > 0 ? poll_arrival(comm, arrivals, &missing) : OMPI_SUCCESS;
        if (OMPI_SUCCESS == step && !sent)
            step = ompi_request_test_all(sends, request, &sent, MPI_STATUSES_IGNORE);
        if (OMPI_SUCCESS == rc)
            rc = step;
        if (missing == before)
            lost = tatp_progress(comm);
    }
    for (size_t i = 0; i < sends && OMPI_SUCCESS != lost; i++)
        if (MPI_REQUEST_NULL != request[i])
            (void)tatp_wait(comm, &request[i], MPI_STATUS_IGNORE);
    return OMPI_SUCCESS == rc ? lost : rc;
}
