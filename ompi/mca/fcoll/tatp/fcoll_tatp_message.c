/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers from a rank that knows of them to one that does not know their length. */
#include "fcoll_tatp.h"

#include <stdlib.h>

#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

/* Takes the message in whatever happens, because its sender waits for that: without memory for it,
 * as a message of no length (its truncation is the price). */
static int take_in(ompio_file_t *fh, const ompi_status_public_t *status, enum tatp_tag tag,
                   tatp_words *message)
{
    size_t bytes = status->_ucount;
    message->from = status->MPI_SOURCE;
    message->count = bytes / sizeof *message->word;
    message->word = malloc(bytes + 1);
    bool room = NULL != message->word;
    int rc = tatp_receive(fh, message->word, room ? bytes : 0, message->from, tag);
    return room ? rc : OMPI_ERR_OUT_OF_RESOURCE;
}

int tatp_poll_words(ompio_file_t *fh, enum tatp_tag tag, tatp_words *message, int *found)
{
    ompi_status_public_t status;
    *found = 0;
    *message = (tatp_words){0};
    int rc = MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, tag, fh->f_comm, found, &status));
    return OMPI_SUCCESS == rc && *found ? take_in(fh, &status, tag, message) : rc;
}

int tatp_send_words(tatp_pass *pass, const tatp_words *words, int rc, int peer, enum tatp_tag tag)
{
    int64_t class = tatp_error_class(rc);
    bool none = OMPI_SUCCESS != rc || words->count == 0;
    size_t bytes = (none ? 1 : words->count) * sizeof class;
    pass->metadata += (int64_t)bytes;
    return tatp_send(pass->fh, none ? &class : words->word, bytes, peer, tag);
}

int tatp_send_nothing(const tatp_pass *pass, int peer, enum tatp_tag tag)
{
    int rc = tatp_send(pass->fh, NULL, 0, peer, tag);
    return OMPI_SUCCESS != rc ? rc : OMPI_ERR_OUT_OF_RESOURCE;
}

int tatp_receive_words(ompio_file_t *fh, enum tatp_tag tag, tatp_words *message)
{
    int found = 0, rc = OMPI_SUCCESS;
    while (OMPI_SUCCESS == rc && !found) {
        rc = tatp_poll_words(fh, tag, message, &found);
        if (OMPI_SUCCESS == rc && !found)
            tatp_give_way(fh);
    }
    if (OMPI_SUCCESS == rc && message->count == 1) {
        rc = (int)message->word[0];
        message->count = 0;
    }
    return rc;
}

/* One look for a message; *found says whether there was one. */
static int take_any(tatp_pass *pass, const tatp_arrivals *arrivals, int *found)
{
    tatp_words message;
    int rc = tatp_poll_words(pass->fh, arrivals->tag, &message, found);
    if (OMPI_SUCCESS == rc && *found)
        rc = arrivals->take(arrivals->to, &message);
    free(message.word);
    return rc;
}

int tatp_finish_exchange(tatp_pass *pass, const tatp_arrivals *arrivals, size_t missing,
                         ompi_request_t **request, size_t sends, int rc)
{
    int sent = 0, found;
    while (missing > 0 || !sent) {
        int more = OMPI_SUCCESS;
        found = 0;
        if (missing > 0)
            more = take_any(pass, arrivals, &found);
        missing -= (size_t)found;
        if (OMPI_SUCCESS == rc)
            rc = more;
        if (!sent)
            more = ompi_request_test_all(sends, request, &sent, MPI_STATUSES_IGNORE);
        if (OMPI_SUCCESS == rc)
            rc = more;
        if (!found)
            tatp_give_way(pass->fh);
    }
    return rc;
}
