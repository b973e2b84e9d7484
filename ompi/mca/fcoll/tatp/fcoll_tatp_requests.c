/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank tells the aggregator of each domain that it touches what it accesses there, as runs.
 * Nobody knows beforehand from whom it will hear, but rank 0 has told each aggregator from how
 * many. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

/* The bytes of a list without regard to where they are in the stream, so that neighbours become one
 * run: the stripes of a contiguous access, for one. */
static int forget_stream(const access_list *list, access_list *joined)
{
    int rc = 0;
    for (size_t i = 0; i < list->count && rc == 0; i++) {
        access_run run = list->run[i];
        run.stream = joined->bytes;
        rc = access_append_run(joined, &run);
    }
    return rc;
}

/* The caller frees the words; NULL without memory. */
static int64_t *encode(const access_list *list, size_t *runs)
{
    size_t size;
    int64_t *wire = NULL;
    access_list joined = {0};
    if (forget_stream(list, &joined) == 0 &&
        !__builtin_mul_overflow(joined.count, ACCESS_RUN_WORDS * sizeof(int64_t), &size))
        wire = malloc(size);
    if (NULL != wire)
        access_to_words(&joined, 0, wire);
    *runs = joined.count;
    access_release(&joined);
    return wire;
}

typedef struct outgoing {
    ompi_request_t **request;
    int64_t **wire;
    size_t count;
} outgoing;

static int start_send(tatp_pass *pass, const domain_share *share, int aggregator, outgoing *out)
{
    size_t runs = 0;
    int64_t *wire = NULL != out->request && NULL != out->wire ? encode(&share->list, &runs) : NULL;
    if (NULL == wire)
        return tatp_send_nothing(pass, aggregator, TATP_TAG_REQUESTS);
    out->wire[out->count] = wire;
    pass->metadata += (int64_t)(runs * ACCESS_RUN_WORDS * sizeof *wire);
    return MCA_PML_CALL(isend(wire, runs * ACCESS_RUN_WORDS, MPI_INT64_T, aggregator,
                              TATP_TAG_REQUESTS, MCA_PML_BASE_SEND_STANDARD, pass->fh->f_comm,
                              &out->request[out->count++]));
}

/* The first error is kept; every aggregator hears from this rank. */
static int start_sends(tatp_pass *pass, outgoing *out)
{
    int first = OMPI_SUCCESS;
    for (size_t i = 0; i < pass->schedule->shares; i++) {
        const domain_share *share = &pass->schedule->share[i];
        int aggregator = pass->schedule->decision.aggregator[share->domain];
        if (aggregator == pass->fh->f_rank)
            continue;
        int rc = start_send(pass, share, aggregator, out);
        if (OMPI_SUCCESS == first)
            first = rc;
    }
    return first;
}

/* A place for one more contributor, or NULL. */
static tatp_contributor *add_contributor(tatp_pass *pass, int rank, size_t *capacity)
{
    if (pass->schedule->contributors == *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : 16;
        tatp_contributor *grown = realloc(pass->schedule->contributor, wanted * sizeof *grown);
        if (NULL == grown)
            return NULL;
        pass->schedule->contributor = grown;
        *capacity = wanted;
    }
    tatp_contributor *contributor = &pass->schedule->contributor[pass->schedule->contributors++];
    memset(contributor, 0, sizeof *contributor);
    contributor->rank = rank;
    return contributor;
}

/* Where the contributors of this rank's domain go. */
typedef struct incoming {
    tatp_pass *pass;
    size_t capacity;
} incoming;

static int take_request(void *to, tatp_words *message)
{
    incoming *in = to;
    tatp_contributor *contributor = add_contributor(in->pass, message->from, &in->capacity);
    if (NULL == contributor)
        return OMPI_ERR_OUT_OF_RESOURCE;
    return tatp_from_errno(
        access_append_words(&contributor->list, message->word, message->count / ACCESS_RUN_WORDS));
}

/* Whether this rank is among the contributors of its own domain. */
static bool has_own_share(const tatp_pass *pass)
{
    const tatp_schedule *schedule = pass->schedule;
    for (size_t i = 0; i < schedule->shares && schedule->aggregates; i++)
        if (schedule->share[i].domain == schedule->domain)
            return true;
    return false;
}

static int by_rank(const void *a, const void *b)
{
    const tatp_contributor *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* This rank's own part of its own domain needs no message. */
static int add_own_share(tatp_pass *pass, size_t *capacity)
{
    int rc = 0;
    for (size_t i = 0; i < pass->schedule->shares; i++) {
        const access_list *list = &pass->schedule->share[i].list;
        if (pass->schedule->decision.aggregator[pass->schedule->share[i].domain] !=
            pass->fh->f_rank)
            continue;
        tatp_contributor *own = add_contributor(pass, pass->fh->f_rank, capacity);
        if (NULL == own)
            return OMPI_ERR_OUT_OF_RESOURCE;
        for (size_t r = 0; r < list->count && rc == 0; r++)
            rc = access_append_run(&own->list, &list->run[r]);
    }
    return tatp_from_errno(rc);
}

int tatp_exchange_requests(tatp_pass *pass)
{
    outgoing out = {NULL, NULL, 0};
    incoming in = {.pass = pass};
    const tatp_arrivals arrivals = {TATP_TAG_REQUESTS, take_request, &in};

    out.request = calloc(pass->schedule->shares + 1, sizeof *out.request);
    out.wire = calloc(pass->schedule->shares + 1, sizeof *out.wire);
    int rc = start_sends(pass, &out);
    rc = tatp_finish_exchange(pass, &arrivals, pass->schedule->expected - has_own_share(pass),
                              out.request, out.count, rc);
    if (OMPI_SUCCESS == rc)
        rc = add_own_share(pass, &in.capacity);
    if (pass->schedule->contributors > 1)
        qsort(pass->schedule->contributor, pass->schedule->contributors,
              sizeof *pass->schedule->contributor, by_rank);
    for (size_t i = 0; i < out.count; i++)
        free(out.wire[i]);
    free(out.wire);
    free(out.request);
    return rc;
}
