/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a node share for an exchange: a table that the leader makes and puts into their
 * segment, so that all of them decide alike.
 *
 * It has a row for each aggregator of the node, and the rows of bundles: where many ranks have
 * small parts for one aggregator of another node, one of them, the carrier, sends and receives a
 * single message for all, and one access request. For these the ranks send the leader the bytes
 * that they have in a cycle at most. A carrier is an aggregator's contributor like any other; the
 * aggregator learns how many requests of other ranks will not come. */
#include <errno.h>
#include <stdlib.h>

#include "collective/exchange_internal.h"

#include "base/memory.h"
#include "exchange/bundle.h"

/* Where windows of aggregators and of ranks in bundles begin. */
enum { PAGE = 4096, LINE = 64 };

static int64_t round_up(int64_t bytes, int64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static bool has_aggregator(const coll_group *group, const domain_layout *layout, bool on_this_node)
{
    for (size_t j = 0; j < layout->domains->count; j++)
        if (layout->domains->size[j] > 0 &&
            coll_is_local(group, layout->aggregator[j]) == on_this_node)
            return true;
    return false;
}

/* Where even parts of all ranks in full windows are not small, bundles are not looked for: then
 * only some nodes could have small parts. */
bool coll_windows_bundled(const coll_group *group, const domain_layout *layout)
{
    if (group->locals < 2 ||
        !exchange_bundle_pays((size_t)group->size, layout->cycle_size, layout->piece,
                              layout->num_cycles, layout->message_size))
        return false;
    return has_aggregator(group, layout, false);
}

/* The table while the leader makes it. */
typedef struct window_table {
    const coll_group *group;
    const domain_layout *layout;
    coll_message *part; /* of each rank of the node; NULL if there are none */
    coll_row *row;
    size_t rows, places;
    int64_t windows; /* of each row: no more than cycles, because a first touch takes time */
    int64_t bytes;   /* of all windows */
} window_table;

/* ---- what each rank has of domains of other nodes ---- */

/* In a cycle. With a margin, of each stripe what is there, and what may come from the one before.
 */
static int64_t largest_part(const domain_layout *layout, const domain_share *share)
{
    access_list part = {0};
    int64_t cycle = layout->cycle_size, margin = layout->margin, bytes = 0;
    if (margin == 0)
        return exchange_largest_chunk(&share->list, cycle);
    bool is_whole = cycle % margin == 0;
    for (int64_t at = 0; at <= margin && is_whole; at += margin) {
        is_whole = domains_cut_part(layout->domains, &share->list, at, share->domain, &part) == 0;
        bytes += exchange_largest_chunk(&part, cycle);
    }
    access_release(&part);
    return access_least(is_whole ? bytes : share->list.bytes, cycle);
}

/* Pairs of a domain and the bytes of it in a cycle at most, the last domain first. The caller frees
 * the elements; NULL if memory is exhausted. */
static int64_t *list_parts(const coll_group *group, const domain_layout *layout, size_t *count)
{
    int64_t *element = base_alloc(2 * layout->shares + 1, sizeof *element);
    *count = 0;
    for (size_t i = layout->shares; i-- > 0 && element != NULL;) {
        const domain_share *share = &layout->share[i];
        if (coll_is_local(group, layout->aggregator[share->domain]))
            continue;
        element[(*count)++] = (int64_t)share->domain;
        element[(*count)++] = largest_part(layout, share);
    }
    return element;
}

static int keep_parts(void *context, coll_message *message)
{
    const window_table *t = context;
    if (t->part == NULL || message->element == NULL)
        return -ENOMEM;
    t->part[coll_local_index(t->group, message->from)] = *message;
    message->element = NULL;
    return 0;
}

/* A rank without memory has nothing that another one could carry. */
static int gather_parts(coll_group *group, window_table *t)
{
    const coll_arrivals arrivals = {.tag = COLL_TAG_BUNDLES,
                                    .expected = (size_t)group->locals - 1,
                                    .take = keep_parts,
                                    .context = t};
    coll_message own = {.from = group->rank};
    own.element = list_parts(group, t->layout, &own.count);
    int rc = own.element == NULL ? -ENOMEM : 0;
    if (group->is_leader) {
        t->part = calloc((size_t)group->locals, sizeof *t->part);
        rc = coll_message_complete(group, &arrivals, NULL, 0, keep_parts(t, &own));
    } else {
        int sent = coll_send(group, own.element, own.count * sizeof *own.element, group->local[0],
                             COLL_TAG_BUNDLES);
        rc = rc != 0 ? rc : sent;
    }
    free(own.element);
    return rc;
}

/* What a rank has of a domain; the domains of the calls ascend. */
static int64_t take_part(coll_message *parts, size_t domain)
{
    if (parts->count < 2 || (size_t)parts->element[parts->count - 2] != domain)
        return 0;
    parts->count -= 2;
    return parts->element[parts->count + 1];
}

/* ---- the table, at the leader ---- */

static void add_aggregator(window_table *t, size_t domain)
{
    int aggregator = t->layout->aggregator[domain];
    const coll_row row = {.domain = domain,
                          .rank = aggregator,
                          .owner = aggregator,
                          .place = t->places,
                          .offset = round_up(t->bytes, PAGE),
                          .stride = round_up(t->layout->cycle_size, PAGE)};
    t->row[t->rows++] = row;
    t->places += (size_t)t->windows;
    t->bytes = row.offset + t->windows * row.stride;
}

/* Unless it does not pay. The carriers of the domains are different ranks, as far as there are
 * enough. */
static void add_bundle(window_table *t, size_t domain)
{
    coll_row *first = &t->row[t->rows];
    size_t ranks = 0;
    int64_t stride = 0, sum = 0;
    for (int i = 0; i < t->group->locals; i++) {
        int64_t bytes = take_part(&t->part[i], domain);
        if (bytes == 0)
            continue;
        first[ranks] = (coll_row){.domain = domain,
                                  .rank = t->group->local[i],
                                  .index = ranks,
                                  .place = t->places,
                                  .offset = t->bytes + stride};
        ranks++;
        stride += round_up(bytes, LINE);
        sum += bytes;
    }
    if (t->layout->margin > 0)
        sum /= 2;
    if (!exchange_bundle_pays(ranks, sum, t->layout->piece, t->layout->num_cycles,
                              t->layout->message_size))
        return;
    for (size_t k = 0; k < ranks; k++) {
        first[k].owner = first[domain % ranks].rank;
        first[k].ranks = ranks;
        first[k].stride = stride;
    }
    t->rows += ranks;
    t->places += (size_t)t->windows;
    t->bytes += t->windows * stride;
}

/* There are places for the aggregators of later exchanges, too. */
static int make_table(window_table *t, coll_table *table)
{
    const domain_layout *layout = t->layout;
    size_t locals = (size_t)t->group->locals, most = layout->domains->count,
           places = locals * EXCHANGE_DEPTH;
    for (size_t i = 0; i < locals && t->part != NULL; i++)
        most += t->part[i].count / 2;
    t->row = base_alloc(most, sizeof *t->row);
    if (t->row == NULL)
        return -ENOMEM;
    t->windows = exchange_depth(layout->num_cycles);
    for (size_t j = 0; j < layout->domains->count; j++) {
        if (layout->domains->size[j] == 0)
            continue;
        if (coll_is_local(t->group, layout->aggregator[j]))
            add_aggregator(t, j);
        else if (t->part != NULL)
            add_bundle(t, j);
    }
    if (t->bytes > PTRDIFF_MAX)
        return 0;
    size_t windows = (size_t)t->bytes, rows = t->rows * sizeof *t->row;
    *table = (coll_table){.row = t->row,
                          .rows = t->rows,
                          .places = t->places < places ? places : t->places,
                          .bytes = windows < rows ? rows : windows};
    return 0;
}

static void release_table(const window_table *t)
{
    for (int i = 0; i < t->group->locals && t->part != NULL; i++)
        free(t->part[i].element);
    free(t->part);
    free(t->row);
}

/* ---- at all ranks ---- */

int coll_windows_share(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                       bool bundled)
{
    window_table t = {.group = group, .layout = layout};
    int rc = 0, made = 0;
    if (group->locals < 2 || (!bundled && !has_aggregator(group, layout, true)))
        return 0;
    if (bundled)
        rc = gather_parts(group, &t);
    if (group->is_leader)
        made = make_table(&t, &ex->table);
    int shared = coll_segment_share(ex->memory, group, &ex->table, &ex->segment);
    release_table(&t);
    rc = rc != 0 ? rc : made;
    return rc != 0 ? rc : shared;
}

/* An aggregator's row is that of all ranks. */
static int compare_rows(const void *key, const void *element)
{
    const coll_row *x = key, *row = element;
    if (x->domain != row->domain)
        return x->domain < row->domain ? -1 : 1;
    return row->ranks == 0 ? 0 : (x->rank > row->rank) - (x->rank < row->rank);
}

const coll_row *coll_windows_find(const coll_exchange *ex, size_t domain, int rank)
{
    const coll_row key = {.domain = domain, .rank = rank};
    if (ex->table.rows == 0)
        return NULL;
    return bsearch(&key, ex->table.row, ex->table.rows, sizeof key, compare_rows);
}
