/* SPDX-License-Identifier: BSD-3-Clause */
/* Access requests: each rank sends the aggregator of each domain that it accesses the extents that
 * it accesses there. An aggregator does not know which ranks will send, but rank 0 says how
 * many. */
#include <errno.h>
#include <stdlib.h>

#include "collective/exchange_internal.h"

#include "access/encoding.h"
#include "base/memory.h"

/* ---- sending ---- */

/* The extents of a list without their place in the stream, so that neighbours become one run: the
 * stripes of a contiguous access, for one. */
static int join_extents(const access_list *list, access_list *joined)
{
    int rc = 0;
    for (size_t i = 0; i < list->count && rc == 0; i++) {
        access_run run = list->run[i];
        run.stream = joined->bytes;
        rc = access_append_run(joined, &run);
    }
    return rc;
}

/* In its stream; otherwise neighbours are one run already. */
static bool has_gaps(const access_list *list)
{
    const access_run *last = &list->run[list->count - 1];
    return last->stream + last->count * last->length - list->run->stream > list->bytes;
}

typedef struct request_route {
    int peer;
    enum coll_tag tag;
    int64_t domain; /* the first element; -1: none, the peer has one domain only */
} request_route;

/* list: not empty. The caller frees the elements; NULL: no memory. */
static int64_t *encode_request(const access_list *list, int64_t domain, size_t *count)
{
    access_message message = {0};
    access_list joined = {0};
    int rc = 0;
    if (domain >= 0)
        rc = base_reserve(&message.element, &message.capacity, 1, sizeof *message.element);
    if (domain >= 0 && rc == 0)
        message.element[message.count++] = domain;
    if (rc == 0 && has_gaps(list)) {
        rc = join_extents(list, &joined);
        list = &joined;
    }
    if (rc == 0)
        rc = access_encode_runs(list, 0, &message);
    access_release(&joined);
    if (rc != 0) {
        free(message.element);
        return NULL;
    }
    *count = message.count;
    return message.element;
}

static void allocate_in_flight(coll_requests *out, size_t count)
{
    out->request = calloc(count + 1, sizeof *out->request);
    out->element = calloc(count + 1, sizeof *out->element);
}

/* list: NULL after an error. */
static int send_request(coll_group *group, const access_list *list, const request_route *route,
                        coll_requests *out)
{
    size_t count = 0;
    int64_t *element = NULL;
    if (list != NULL && out->request != NULL && out->element != NULL)
        element = encode_request(list, route->domain, &count);
    if (element == NULL)
        return coll_message_send_empty(group, route->peer, route->tag);
    int rc = coll_message_isend(group, element, count, route->peer, route->tag,
                                &out->request[out->count]);
    if (rc != 0) {
        free(element);
        (void)coll_message_send_empty(group, route->peer, route->tag);
        return rc;
    }
    out->element[out->count++] = element;
    return 0;
}

/* What an aggregator gets from this rank, whatever happens. */
static int send_to_aggregator(coll_group *group, const domain_share *share, int aggregator,
                              const coll_bundles *bundles, coll_requests *out)
{
    const request_route route = {aggregator, COLL_TAG_REQUESTS, -1};
    switch (coll_bundles_role(bundles, share->domain)) {
    case COLL_BUNDLE_MEMBER: return 0;
    case COLL_BUNDLE_CARRIER: {
        int64_t absent = (int64_t)coll_bundles_ranks(bundles, share->domain) - 1;
        int rc = coll_message_send_absent(group, absent, aggregator);
        int sent = send_request(group, coll_bundles_carried(bundles, share->domain), &route, out);
        return rc != 0 ? rc : sent;
    }
    case COLL_BUNDLE_NONE:
    default: return send_request(group, &share->list, &route, out);
    }
}

/* Returns the first error. */
static int send_requests(coll_group *group, const domain_layout *layout,
                         const coll_bundles *bundles, coll_requests *out)
{
    int first = 0;
    allocate_in_flight(out, layout->shares);
    for (size_t i = 0; i < layout->shares; i++) {
        const domain_share *share = &layout->share[i];
        int aggregator = layout->aggregator[share->domain];
        if (aggregator == group->rank)
            continue;
        int rc = send_to_aggregator(group, share, aggregator, bundles, out);
        if (first == 0)
            first = rc;
    }
    return first;
}

static void free_sent(coll_requests *out)
{
    for (size_t i = 0; i < out->count; i++)
        free(out->element[i]);
    free(out->element);
    free(out->request);
}

/* Sends this rank's lists to their carriers, and receives those that it carries. */
static int exchange_bundles(coll_group *group, const domain_layout *layout, coll_bundles *bundles)
{
    size_t lists;
    int first = coll_bundles_expect(bundles, layout, &lists);
    const coll_arrivals arrivals = {
        .tag = COLL_TAG_BUNDLES, .expected = lists, .take = coll_bundles_take, .context = bundles};
    coll_requests out = {0};
    allocate_in_flight(&out, layout->shares);
    for (size_t i = 0; i < layout->shares; i++) {
        size_t domain = layout->share[i].domain;
        if (COLL_BUNDLE_MEMBER != coll_bundles_role(bundles, domain))
            continue;
        const request_route route = {coll_bundles_carrier(bundles, domain), COLL_TAG_BUNDLES,
                                     (int64_t)domain};
        int rc = send_request(group, &layout->share[i].list, &route, &out);
        if (first == 0)
            first = rc;
    }
    first = coll_message_complete(group, &arrivals, out.request, out.count, first);
    free_sent(&out);
    return first == 0 ? coll_bundles_unite(bundles, layout) : first;
}

/* ---- receiving ---- */

/* The list becomes the contributor's. */
static int append_contributor(coll_contributors *contributors, int rank, access_list *list)
{
    if (base_reserve(&contributors->item, &contributors->capacity, contributors->count + 1,
                     sizeof *contributors->item) != 0) {
        access_release(list);
        return -ENOMEM;
    }
    contributors->item[contributors->count++] = (exchange_contributor){.rank = rank, .list = *list};
    return 0;
}

static int take_request(void *context, coll_message *message)
{
    access_list list = {0};
    int rc = access_decode_runs(&list, message->element, message->count);
    return rc == 0 ? append_contributor(context, message->from, &list) : rc;
}

/* This rank's part of its own domain, or nothing. */
static access_list own_part(const domain_layout *layout)
{
    for (size_t i = 0; i < layout->shares && layout->aggregates; i++)
        if (layout->share[i].domain == layout->domain)
            return access_borrow(&layout->share[i].list);
    return (access_list){0};
}

static int compare_contributors(const void *a, const void *b)
{
    const exchange_contributor *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

int coll_requests_start(coll_group *group, const domain_layout *layout, coll_bundles *bundles,
                        coll_requests *out)
{
    int rc = coll_bundles_pairs(bundles) > 0 ? exchange_bundles(group, layout, bundles) : 0;
    int sent = send_requests(group, layout, bundles, out);
    return rc != 0 ? rc : sent;
}

int coll_requests_complete(coll_group *group, const domain_layout *layout, coll_requests *out,
                           coll_contributors *contributors, int rc)
{
    access_list own = own_part(layout);
    const coll_arrivals arrivals = {
        .tag = COLL_TAG_REQUESTS,
        .expected = layout->contributors - (own.count > 0),
        .may_be_absent = true,
        .take = take_request,
        .context = contributors,
    };
    rc = coll_message_complete(group, &arrivals, out->request, out->count, rc);
    free_sent(out);
    if (rc == 0 && own.count > 0)
        rc = append_contributor(contributors, group->rank, &own);
    if (contributors->count > 1)
        qsort(contributors->item, contributors->count, sizeof *contributors->item,
              compare_contributors);
    return rc;
}

void coll_contributors_release(coll_contributors *contributors)
{
    for (size_t i = 0; i < contributors->count; i++)
        access_release(&contributors->item[i].list);
    free(contributors->item);
    *contributors = (coll_contributors){0};
}
