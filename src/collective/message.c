/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, and those of int64 from a rank that knows their length to one that does not. */
#include <errno.h>
#include <stdlib.h>

#include "collective/group.h"

/* ---- messages ---- */

/* Attempts, and seconds, in which messages that are in flight end, so that the MPI has their memory
 * again. A non-blocking call makes few attempts while the program computes. */
#define ATTEMPTS 1000
#define PATIENCE 5.0

/* What failed. */
typedef struct failures {
    int64_t count;
    double since;
} failures;

static double get_time(const coll_runtime *runtime)
{
    return runtime->process->clock(runtime->process->context);
}

/* Whether to repeat what has returned *rc, which becomes the error of a loss. */
static bool must_repeat(const coll_runtime *runtime, int *rc, failures *before)
{
    if (*rc == 0)
        return false;
    if (before->count++ == 0)
        before->since = get_time(runtime);
    if (before->count > ATTEMPTS && get_time(runtime) - before->since > PATIENCE)
        coll_end_job(runtime, *rc);
    int lost = runtime->progress(runtime->context);
    if (!coll_has_lost(runtime))
        return true;
    *rc = lost != 0 ? lost : *rc;
    return false;
}

int coll_isend(const coll_runtime *runtime, int peer, unsigned tag, const void *data, size_t bytes,
               bool synchronous, exchange_request *request)
{
    failures before = {0};
    int rc;
    do
        rc = runtime->isend(runtime->context, peer, tag, data, bytes, synchronous, request);
    while (must_repeat(runtime, &rc, &before));
    return rc;
}

int coll_irecv(const coll_runtime *runtime, int peer, unsigned tag, void *data, size_t bytes,
               exchange_request *request)
{
    failures before = {0};
    int rc;
    do
        rc = runtime->irecv(runtime->context, peer, tag, data, bytes, request);
    while (must_repeat(runtime, &rc, &before));
    return rc;
}

static int discard_found(coll_group *group, int from, enum coll_tag tag)
{
    const coll_runtime *runtime = group->runtime;
    failures before = {0};
    int rc;
    do
        rc = runtime->discard(runtime->context, from, tag);
    while (must_repeat(runtime, &rc, &before));
    return rc;
}

static int find_message(coll_group *group, enum coll_tag tag, bool *is_found, coll_found *found)
{
    const coll_runtime *runtime = group->runtime;
    failures before = {0};
    int rc;
    do
        rc = runtime->probe(runtime->context, tag, is_found, found);
    while (must_repeat(runtime, &rc, &before));
    return rc;
}

int coll_send(coll_group *group, const void *data, size_t bytes, int peer, enum coll_tag tag)
{
    const coll_runtime *runtime = group->runtime;
    exchange_request request;
    int rc = coll_isend(runtime, peer, tag, data, bytes, false, &request);
    return rc == 0 ? runtime->wait(runtime->context, &request, &bytes) : rc;
}

int coll_receive(coll_group *group, void *data, size_t bytes, int peer, enum coll_tag tag)
{
    return coll_receive_some(group, data, &bytes, peer, tag);
}

int coll_receive_some(coll_group *group, void *data, size_t *bytes, int peer, enum coll_tag tag)
{
    const coll_runtime *runtime = group->runtime;
    exchange_request request;
    int rc = coll_irecv(runtime, peer, tag, data, *bytes, &request);
    return rc == 0 ? runtime->wait(runtime->context, &request, bytes) : rc;
}

/* ---- for src/exchange ---- */

static int start_send(void *group, int peer, unsigned tag, const void *data, size_t bytes,
                      bool synchronous, exchange_request *request)
{
    return coll_isend(((const coll_group *)group)->runtime, peer, tag, data, bytes, synchronous,
                      request);
}

static int start_receive(void *group, int peer, unsigned tag, void *data, size_t bytes,
                         exchange_request *request)
{
    return coll_irecv(((const coll_group *)group)->runtime, peer, tag, data, bytes, request);
}

static int test_message(void *group, exchange_request *request, bool *complete, size_t *bytes)
{
    const coll_runtime *runtime = ((const coll_group *)group)->runtime;
    return runtime->test(runtime->context, request, complete, bytes);
}

static int make_progress(void *group)
{
    const coll_runtime *runtime = ((const coll_group *)group)->runtime;
    return runtime->progress(runtime->context);
}

exchange_transport coll_transport(coll_group *group)
{
    return (exchange_transport){group,         COLL_TAG_DATA, start_send,
                                start_receive, test_message,  make_progress};
}

/* ---- messages of int64 ---- */

int coll_message_isend(coll_group *group, const int64_t *element, size_t count, int peer,
                       enum coll_tag tag, exchange_request *request)
{
    group->metadata += (int64_t)(count * sizeof *element);
    return coll_isend(group->runtime, peer, tag, element, count * sizeof *element, false, request);
}

int coll_message_send(coll_group *group, const int64_t *element, size_t count, int peer,
                      enum coll_tag tag)
{
    group->metadata += (int64_t)(count * sizeof *element);
    return coll_send(group, element, count * sizeof *element, peer, tag);
}

int coll_message_send_empty(coll_group *group, int peer, enum coll_tag tag)
{
    int rc = coll_send(group, NULL, 0, peer, tag);
    return rc != 0 ? rc : -ENOMEM;
}

int coll_message_send_absent(coll_group *group, int64_t count, int peer)
{
    return coll_message_send(group, &count, 1, peer, COLL_TAG_ABSENT);
}

int64_t coll_message_bytes(coll_group *group)
{
    int64_t bytes = group->metadata;
    group->metadata = 0;
    return bytes;
}

/* Receives the message whatever happens, because its sender waits for that, and because the MPI
 * would take it for a later one of the tag: without memory for it, without its data. */
static int receive_found(coll_group *group, const coll_found *found, enum coll_tag tag,
                         coll_message *message)
{
    message->from = found->from;
    message->count = found->bytes / sizeof *message->element;
    message->element = malloc(found->bytes + 1);
    if (message->element != NULL)
        return coll_receive(group, message->element, found->bytes, found->from, tag);
    int rc = discard_found(group, found->from, tag);
    return rc != 0 ? rc : -ENOMEM;
}

/* Receives a message if there is one: *is_found, also when it could not be kept. */
static int poll_message(coll_group *group, enum coll_tag tag, coll_message *message, bool *is_found)
{
    coll_found found;
    *message = (coll_message){0};
    int rc = find_message(group, tag, is_found, &found);
    return *is_found ? receive_found(group, &found, tag, message) : rc;
}

/* Takes no memory, because the messages that are not absent have to be counted in any case. */
static int poll_absent(coll_group *group, size_t *absent)
{
    coll_found found;
    bool is_found;
    int64_t count = 0;
    int rc = find_message(group, COLL_TAG_ABSENT, &is_found, &found);
    if (is_found)
        rc = coll_receive(group, &count, sizeof count, found.from, COLL_TAG_ABSENT);
    if (rc != 0)
        coll_end_job(group->runtime, rc);
    *absent = (size_t)count;
    return rc;
}

/* Receives one of the missing messages if it is there. */
static int poll_arrival(coll_group *group, const coll_arrivals *arrivals, size_t *missing)
{
    coll_message message;
    bool is_found;
    int rc = poll_message(group, arrivals->tag, &message, &is_found);
    if (rc == 0 && is_found)
        rc = arrivals->take(arrivals->context, &message);
    free(message.element);
    *missing -= is_found;
    if (rc == 0 && !is_found && arrivals->may_be_absent) {
        size_t absent;
        rc = poll_absent(group, &absent);
        *missing -= absent;
    }
    return rc;
}

/* *sent: the first ones, which are complete. Returns the first error of any. */
static int test_sends(const coll_runtime *runtime, exchange_request *request, size_t sends,
                      size_t *sent)
{
    bool complete = true;
    int first = 0;
    while (*sent < sends && complete) {
        size_t bytes;
        int rc = request[*sent] == NULL
                     ? 0
                     : runtime->test(runtime->context, &request[*sent], &complete, &bytes);
        first = first != 0 ? first : rc;
        *sent += complete;
    }
    return first;
}

int coll_message_complete(coll_group *group, const coll_arrivals *arrivals,
                          exchange_request *request, size_t sends, int rc)
{
    const coll_runtime *runtime = group->runtime;
    size_t missing = arrivals->expected, sent = 0;
    int lost = 0;
    while (lost == 0 && (missing > 0 || sent < sends)) {
        size_t before = missing;
        int step = missing > 0 ? poll_arrival(group, arrivals, &missing) : 0;
        if (step == 0)
            step = test_sends(runtime, request, sends, &sent);
        rc = rc != 0 ? rc : step;
        if (missing == before && (missing > 0 || sent < sends))
            lost = runtime->progress(runtime->context);
    }
    for (; sent < sends; sent++)
        if (request[sent] != NULL)
            (void)runtime->wait(runtime->context, &request[sent], NULL);
    return rc == 0 ? lost : rc;
}
