/* SPDX-License-Identifier: BSD-3-Clause */
/* Access requests: each rank sends the aggregator of each domain that it accesses the extents that
 * it accesses there, or, in bundles, sends it to the carrier, which sends their union. An
 * aggregator does not know which ranks will send, but rank 0 says how many. */
#include <errno.h>
#include <stdlib.h>

#include "collective/exchange_internal.h"

#include "access/encoding.h"
#include "access/merge.h"
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

/* The gaps are in its stream; without any, neighbours are one run already. */
static bool has_gaps(const access_list *list)
{
    const access_run *last = &list->run[list->count - 1];
    return last->stream + last->count * last->length - list->run->stream > list->bytes;
}

/* list: not empty. The caller frees the elements; NULL if memory is exhausted. */
static int64_t *encode_request(const access_list *list, int64_t domain, size_t *count)
{
    access_message message = {0};
    access_list joined = {0};
    int rc = 0;
    if (domain >= 0)
        rc = access_message_append(&message, &domain, 1);
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

/* list: empty after an error. domain: -1, or that of a list for a carrier of several domains. */
static int send_request(coll_group *group, const access_list *list, int peer, int64_t domain,
                        coll_requests *out)
{
    enum coll_tag tag = domain < 0 ? COLL_TAG_REQUESTS : COLL_TAG_BUNDLES;
    size_t count = 0;
    int64_t *element = NULL;
    if (list->count > 0 && out->request != NULL && out->element != NULL)
        element = encode_request(list, domain, &count);
    if (element == NULL)
        return coll_message_send_empty(group, peer, tag);
    int rc = coll_message_isend(group, element, count, peer, tag, &out->request[out->count]);
    if (rc != 0) {
        free(element);
        return rc;
    }
    out->element[out->count++] = element;
    return 0;
}

/* ---- bundles ---- */

/* The row for a rank's data that are sent with those of others, or NULL. */
static const coll_row *find_bundle(const coll_exchange *ex, size_t domain, int rank)
{
    const coll_row *row = coll_windows_find(ex, domain, rank);
    return row == NULL || row->ranks == 0 ? NULL : row;
}

static void release_carried(coll_carried *c)
{
    for (size_t i = 0; i < c->bundle.ranks; i++) {
        access_release(&c->list[i]);
        access_release(&c->part[i]);
    }
    access_release(&c->whole);
    free(c->list);
    free(c->part);
    free(c->windows);
}

/* row: this rank's. */
static int add_carried(coll_exchange *ex, const domain_layout *layout, size_t share,
                       const coll_row *row)
{
    coll_carried c = {.share = share, .row = row - row->index};
    int rc = 0;
    if (ex->carried == NULL)
        ex->carried = base_zeroed(layout->shares, sizeof *ex->carried, &rc);
    c.list = base_zeroed(row->ranks, sizeof *c.list, &rc);
    c.part = base_zeroed(row->ranks, sizeof *c.part, &rc);
    c.windows = base_zeroed(row->ranks, sizeof *c.windows, &rc);
    if (rc != 0) {
        release_carried(&c);
        return rc;
    }
    c.list[row->index] = access_borrow(&layout->share[share].list);
    c.bundle = (exchange_bundle){row->ranks, row->index, c.part, c.windows};
    ex->carried[ex->carries++] = c;
    return 0;
}

static int take_list(void *context, coll_message *message)
{
    const coll_exchange *ex = context;
    if (message->count < 2)
        return -ENOMEM;
    size_t domain = (size_t)message->element[0];
    const coll_row *row = find_bundle(ex, domain, message->from);
    for (size_t i = 0; i < ex->carries && row != NULL; i++)
        if (ex->carried[i].row->domain == domain)
            return access_decode_runs(&ex->carried[i].list[row->index], message->element + 1,
                                      message->count - 1);
    return -ENOMEM;
}

int coll_carried_unite(coll_carried *c)
{
    const access_list **list = calloc(c->bundle.ranks, sizeof *list);
    if (list == NULL)
        return -ENOMEM;
    access_clear(&c->whole);
    c->pieces = 0;
    for (size_t i = 0; i < c->bundle.ranks; i++) {
        list[i] = &c->list[i];
        c->pieces += access_blocks(list[i]);
        access_clear(&c->part[i]);
    }
    int rc = access_union_parts(list, c->bundle.ranks, &c->whole, c->part);
    if (rc != 0)
        access_release(&c->whole);
    free(list);
    return rc;
}

/* ---- to the aggregators ---- */

/* Sends one request for `ranks` of this node. whole: empty after an error. */
static int send_carried(coll_group *group, const access_list *whole, size_t ranks, int aggregator,
                        coll_requests *out)
{
    int rc = coll_message_send_absent(group, (int64_t)ranks - 1, aggregator);
    int sent = send_request(group, whole, aggregator, -1, out);
    return rc != 0 ? rc : sent;
}

/* What an aggregator, or a carrier, gets for a share, whatever happens. *lists: the number of those
 * that this rank gets to carry. */
static int send_share(coll_exchange *ex, coll_group *group, const domain_layout *layout, size_t i,
                      size_t *lists, coll_requests *out)
{
    const domain_share *share = &layout->share[i];
    int aggregator = layout->aggregator[share->domain];
    if (aggregator == group->rank)
        return 0;
    const coll_row *row = find_bundle(ex, share->domain, group->rank);
    if (row == NULL)
        return send_request(group, &share->list, aggregator, -1, out);
    if (row->owner != group->rank)
        return send_request(group, &share->list, row->owner, (int64_t)share->domain, out);
    *lists += row->ranks - 1;
    int rc = add_carried(ex, layout, i, row);
    if (rc != 0)
        (void)send_carried(group, &(access_list){0}, row->ranks, aggregator, out);
    return rc;
}

int coll_requests_start(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                        coll_requests *out)
{
    size_t lists = 0;
    int first = 0;
    out->request = calloc(layout->shares + 1, sizeof *out->request);
    out->element = calloc(layout->shares + 1, sizeof *out->element);
    for (size_t i = 0; i < layout->shares; i++) {
        int rc = send_share(ex, group, layout, i, &lists, out);
        first = first != 0 ? first : rc;
    }
    const coll_arrivals arrivals = {
        .tag = COLL_TAG_BUNDLES, .expected = lists, .take = take_list, .context = ex};
    first = coll_message_complete(group, &arrivals, NULL, 0, first);
    for (coll_carried *c = ex->carried; c < ex->carried + ex->carries; c++) {
        first = first != 0 ? first : coll_carried_unite(c);
        for (size_t i = 0; i < c->bundle.ranks && layout->margin == 0; i++)
            access_release(&c->list[i]);
        int rc = send_carried(group, &c->whole, c->bundle.ranks, layout->aggregator[c->row->domain],
                              out);
        first = first != 0 ? first : rc;
    }
    return first;
}

/* ---- receiving ---- */

static int take_request(void *context, coll_message *message)
{
    coll_exchange *ex = context;
    if (ex->contributor == NULL)
        return -ENOMEM;
    exchange_contributor *contributor = &ex->contributor[ex->contributors++];
    contributor->rank = message->from;
    return access_decode_runs(&contributor->list, message->element, message->count);
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

int coll_requests_complete(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                           coll_requests *out, int rc)
{
    access_list own = own_part(layout);
    const coll_arrivals arrivals = {
        .tag = COLL_TAG_REQUESTS,
        .expected = layout->contributors - (own.count > 0),
        .may_be_absent = true,
        .take = take_request,
        .context = ex,
    };
    ex->contributor = base_zeroed(layout->contributors, sizeof *ex->contributor, &rc);
    rc = coll_message_complete(group, &arrivals, out->request, out->count, rc);
    for (size_t i = 0; i < out->count; i++)
        free(out->element[i]);
    free(out->element);
    free(out->request);
    if (rc == 0 && own.count > 0)
        ex->contributor[ex->contributors++] =
            (exchange_contributor){.rank = group->rank, .list = own};
    if (rc == 0)
        qsort(ex->contributor, ex->contributors, sizeof *ex->contributor, compare_contributors);
    return rc;
}

void coll_requests_release(coll_exchange *ex)
{
    for (size_t i = 0; i < ex->contributors; i++)
        access_release(&ex->contributor[i].list);
    for (size_t i = 0; i < ex->carries; i++)
        release_carried(&ex->carried[i]);
    free(ex->contributor);
    free(ex->carried);
}
