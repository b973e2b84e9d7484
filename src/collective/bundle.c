/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles: where many ranks of a node have small parts for one aggregator of another node, one of
 * them, the carrier, sends and receives a single message for all, and one access request.
 *
 * The ranks of a node send its leader the bytes that they have in a cycle at most. The leader puts
 * that into their shared segment, so that all of them decide alike, and know the windows for the
 * chunks. A carrier is an aggregator's contributor like any other; the aggregator learns how many
 * requests of other ranks will not come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collective/exchange_internal.h"

#include "access/encoding.h"
#include "access/merge.h"
#include "base/memory.h"
#include "exchange/bundle.h"

#define LINE 64

/* What is carried for one domain; the same on all ranks of the node. */
typedef struct bundle_pair {
    size_t ranks;         /* 0: each rank for itself */
    size_t place;         /* among the pairs of the node */
    size_t bytes, offset; /* of one of its EXCHANGE_DEPTH windows for all ranks; of the first */
} bundle_pair;

/* What this rank carries. */
typedef struct carried_bundle {
    size_t domain, ranks;
    access_list *list; /* of each rank, ascending; the own one is empty */
    access_list *part; /* the same in bytes of the carried stream */
    access_list whole;
    int64_t pieces; /* of the ranks, before they are united */
    exchange_bundle bundle;
    exchange_window *window; /* EXCHANGE_DEPTH for each rank */
} carried_bundle;

struct coll_bundles {
    const coll_group *group;
    int locals, self; /* index among the ranks of the node */
    size_t domains, pairs;
    size_t bytes;  /* of all windows */
    int32_t *part; /* per rank of the node and domain: bytes in a cycle at most */
    bundle_pair *pair;
    carried_bundle *carried;
    size_t carries;
};

/* ---- what each rank has ---- */

/* Where even parts of all ranks in full windows are not small, bundles are not looked for: then
 * only some nodes could have small parts. */
bool coll_bundles_wanted(const coll_group *group, const domain_layout *layout)
{
    if (group->locals < 2 ||
        !exchange_bundle_pays((size_t)group->size, layout->cycle_size, layout->piece,
                              layout->num_cycles, layout->message_size))
        return false;
    for (size_t j = 0; j < layout->domains->count; j++)
        if (layout->domains->size[j] > 0 && !coll_is_local(group, layout->aggregator[j]))
            return true;
    return false;
}

static coll_bundles *new_bundles(const coll_group *group, const domain_layout *layout)
{
    coll_bundles *bundles = calloc(1, sizeof *bundles);
    if (bundles == NULL)
        return NULL;
    bundles->domains = layout->domains->count;
    bundles->group = group;
    bundles->self = coll_local_index(group, group->rank);
    bundles->locals = group->locals;
    bundles->part = calloc((size_t)bundles->locals, bundles->domains * sizeof *bundles->part);
    bundles->pair = calloc(bundles->domains, sizeof *bundles->pair);
    if (bundles->part != NULL && bundles->pair != NULL)
        return bundles;
    coll_bundles_free(bundles);
    return NULL;
}

static void free_carried(carried_bundle *c)
{
    for (size_t i = 0; i < c->ranks && c->list != NULL; i++)
        access_release(&c->list[i]);
    for (size_t i = 0; i < c->ranks && c->part != NULL; i++)
        access_release(&c->part[i]);
    access_release(&c->whole);
    free(c->list);
    free(c->part);
    free(c->window);
}

void coll_bundles_free(coll_bundles *bundles)
{
    if (bundles == NULL)
        return;
    for (size_t i = 0; i < bundles->carries; i++)
        free_carried(&bundles->carried[i]);
    free(bundles->carried);
    free(bundles->part);
    free(bundles->pair);
    free(bundles);
}

static int32_t *part_of(const coll_bundles *bundles, int local, size_t domain)
{
    return &bundles->part[(size_t)local * bundles->domains + domain];
}

/* Pairs of a domain and the bytes for it. No bundles, no memory. */
static int take_parts(void *context, coll_message *message)
{
    const coll_bundles *bundles = context;
    if (bundles == NULL || message->element == NULL)
        return -ENOMEM;
    int local = coll_local_index(bundles->group, message->from);
    for (size_t i = 0; i + 1 < message->count; i += 2)
        *part_of(bundles, local, (size_t)message->element[i]) = (int32_t)message->element[i + 1];
    return 0;
}

/* The caller frees the elements; NULL: no memory. */
static int64_t *list_parts(const coll_group *group, const domain_layout *layout, size_t *count)
{
    int64_t *element = base_alloc(2 * layout->shares + 1, sizeof *element);
    *count = 0;
    for (size_t i = 0; i < layout->shares && element != NULL; i++) {
        const domain_share *share = &layout->share[i];
        if (coll_is_local(group, layout->aggregator[share->domain]))
            continue;
        element[(*count)++] = (int64_t)share->domain;
        element[(*count)++] = exchange_largest_chunk(&share->list, layout->cycle_size);
    }
    return element;
}

/* A rank without memory has nothing that another one could carry. */
static int gather_parts(coll_bundles *bundles, coll_group *group, const domain_layout *layout)
{
    const coll_arrivals arrivals = {.tag = COLL_TAG_BUNDLES,
                                    .expected = (size_t)group->locals - 1,
                                    .take = take_parts,
                                    .context = bundles};
    coll_message own = {.from = group->rank};
    own.element = list_parts(group, layout, &own.count);
    bool has_memory = bundles != NULL && own.element != NULL;
    int rc = has_memory ? 0 : -ENOMEM;
    if (!coll_is_leader(group)) {
        int sent = coll_send(group, own.element, own.count * sizeof *own.element, group->local[0],
                             COLL_TAG_BUNDLES);
        rc = rc != 0 ? rc : sent;
    } else {
        if (has_memory)
            rc = take_parts(bundles, &own);
        rc = coll_message_complete(group, &arrivals, NULL, 0, rc);
    }
    free(own.element);
    return rc;
}

/* ---- the decision ---- */

static size_t round_to_lines(int32_t bytes)
{
    return ((size_t)bytes + LINE - 1) / LINE * LINE;
}

static void decide_pair(coll_bundles *bundles, size_t domain, const domain_layout *layout)
{
    bundle_pair *pair = &bundles->pair[domain];
    int64_t sum = 0;
    *pair = (bundle_pair){.place = bundles->pairs, .offset = bundles->bytes};
    for (int i = 0; i < bundles->locals; i++) {
        int32_t bytes = *part_of(bundles, i, domain);
        pair->ranks += bytes > 0;
        pair->bytes += round_to_lines(bytes);
        sum += bytes;
    }
    if (!exchange_bundle_pays(pair->ranks, sum, layout->piece, layout->num_cycles,
                              layout->message_size)) {
        pair->ranks = 0;
        return;
    }
    bundles->pairs++;
    bundles->bytes += EXCHANGE_DEPTH * pair->bytes;
}

static void decide_pairs(coll_bundles *bundles, const domain_layout *layout)
{
    bundles->pairs = bundles->bytes = 0;
    for (size_t j = 0; j < bundles->domains; j++)
        decide_pair(bundles, j, layout);
}

void *coll_bundles_table(coll_bundles *bundles, size_t *bytes)
{
    *bytes = (size_t)bundles->locals * bundles->domains * sizeof *bundles->part;
    return bundles->part;
}

void coll_bundles_adopt(coll_bundles *bundles, const void *table, const domain_layout *layout)
{
    size_t bytes;
    void *own = coll_bundles_table(bundles, &bytes);
    memcpy(own, table, bytes);
    decide_pairs(bundles, layout);
}

int coll_bundles_find(coll_group *group, const domain_layout *layout, coll_bundles **bundles)
{
    *bundles = new_bundles(group, layout);
    int rc = gather_parts(*bundles, group, layout);
    if (*bundles != NULL && coll_is_leader(group))
        decide_pairs(*bundles, layout);
    return rc;
}

void coll_bundles_drop(coll_bundles *bundles)
{
    if (bundles != NULL)
        bundles->pairs = 0;
}

size_t coll_bundles_pairs(const coll_bundles *bundles)
{
    return bundles == NULL ? 0 : bundles->pairs;
}

size_t coll_bundles_bytes(const coll_bundles *bundles)
{
    return bundles->bytes;
}

/* ---- one domain ---- */

/* The carriers of the domains are different ranks, as far as there are enough. */
static int find_carrier(const coll_bundles *bundles, size_t domain)
{
    size_t turn = domain % bundles->pair[domain].ranks;
    int i = 0;
    for (; *part_of(bundles, i, domain) == 0 || turn > 0; i++)
        turn -= *part_of(bundles, i, domain) > 0;
    return i;
}

enum coll_bundle_role coll_bundles_role(const coll_bundles *bundles, size_t domain)
{
    if (bundles == NULL || coll_bundles_pairs(bundles) == 0 || bundles->pair[domain].ranks == 0 ||
        *part_of(bundles, bundles->self, domain) == 0)
        return COLL_BUNDLE_NONE;
    return find_carrier(bundles, domain) == bundles->self ? COLL_BUNDLE_CARRIER
                                                          : COLL_BUNDLE_MEMBER;
}

int coll_bundles_carrier(const coll_bundles *bundles, size_t domain)
{
    return bundles->group->local[find_carrier(bundles, domain)];
}

size_t coll_bundles_ranks(const coll_bundles *bundles, size_t domain)
{
    return bundles->pair[domain].ranks;
}

/* NULL: there was no memory for it. */
static carried_bundle *find_carried(const coll_bundles *bundles, size_t domain)
{
    for (size_t i = 0; i < bundles->carries; i++)
        if (bundles->carried[i].domain == domain)
            return &bundles->carried[i];
    return NULL;
}

const access_list *coll_bundles_carried(const coll_bundles *bundles, size_t domain)
{
    const carried_bundle *c = find_carried(bundles, domain);
    return c == NULL || c->whole.count == 0 ? NULL : &c->whole;
}

/* ---- lists, from the members to the carrier ---- */

/* Index among the ranks that have a part. */
static size_t place_in_pair(const coll_bundles *bundles, int local, size_t domain)
{
    size_t place = 0;
    for (int i = 0; i < local; i++)
        place += *part_of(bundles, i, domain) > 0;
    return place;
}

static int add_carried(coll_bundles *bundles, size_t domain)
{
    carried_bundle *c = &bundles->carried[bundles->carries++];
    size_t ranks = bundles->pair[domain].ranks;
    int rc = 0;
    *c = (carried_bundle){.domain = domain, .ranks = ranks};
    c->list = base_zeroed(ranks, sizeof *c->list, &rc);
    c->part = base_zeroed(ranks, sizeof *c->part, &rc);
    c->window = base_zeroed(ranks, EXCHANGE_DEPTH * sizeof *c->window, &rc);
    return rc;
}

/* The number of lists is right whatever happens. */
int coll_bundles_expect(coll_bundles *bundles, const domain_layout *layout, size_t *lists)
{
    int rc = 0;
    *lists = 0;
    bundles->carried = calloc(layout->shares + 1, sizeof *bundles->carried);
    for (size_t i = 0; i < layout->shares; i++) {
        size_t domain = layout->share[i].domain;
        if (COLL_BUNDLE_CARRIER != coll_bundles_role(bundles, domain))
            continue;
        *lists += bundles->pair[domain].ranks - 1;
        if (bundles->carried != NULL && rc == 0)
            rc = add_carried(bundles, domain);
    }
    return bundles->carried == NULL ? -ENOMEM : rc;
}

int coll_bundles_take(void *context, coll_message *message)
{
    const coll_bundles *bundles = context;
    if (message->count < 2)
        return -ENOMEM;
    size_t domain = (size_t)message->element[0];
    const carried_bundle *c = find_carried(bundles, domain);
    if (c == NULL || c->list == NULL)
        return -ENOMEM;
    int local = coll_local_index(bundles->group, message->from);
    return access_decode_runs(&c->list[place_in_pair(bundles, local, domain)], message->element + 1,
                              message->count - 1);
}

static int unite_lists(const coll_bundles *bundles, carried_bundle *c, const access_list *own)
{
    const access_list **list = calloc(c->ranks, sizeof *list);
    size_t self = place_in_pair(bundles, bundles->self, c->domain);
    if (list == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < c->ranks; i++)
        list[i] = i == self ? own : &c->list[i];
    for (size_t i = 0; i < c->ranks; i++)
        c->pieces += access_blocks(list[i]);
    int rc = access_union_parts(list, c->ranks, &c->whole, c->part);
    if (rc != 0)
        access_release(&c->whole);
    for (size_t i = 0; i < c->ranks; i++)
        access_release(&c->list[i]);
    free(list);
    return rc;
}

int coll_bundles_unite(coll_bundles *bundles, const domain_layout *layout)
{
    int rc = 0;
    for (size_t i = 0; i < layout->shares && rc == 0; i++) {
        const domain_share *share = &layout->share[i];
        if (COLL_BUNDLE_CARRIER == coll_bundles_role(bundles, share->domain))
            rc = unite_lists(bundles, find_carried(bundles, share->domain), &share->list);
    }
    return rc;
}

/* ---- targets ---- */

/* The windows of a rank for its chunks. */
static void find_bundle_windows(const coll_bundles *bundles, size_t domain, int local,
                                const coll_bundle_memory *memory, exchange_window *window)
{
    const bundle_pair *pair = &bundles->pair[domain];
    char *data = memory->data + pair->offset;
    for (int i = 0; i < local; i++)
        data += round_to_lines(*part_of(bundles, i, domain));
    for (size_t w = 0; w < EXCHANGE_DEPTH; w++) {
        window[w].flags = &memory->flags[pair->place * EXCHANGE_DEPTH + w];
        window[w].data = data + w * pair->bytes;
    }
}

static void describe_carrier(coll_bundles *bundles, size_t domain, const coll_bundle_memory *memory,
                             exchange_target *target)
{
    carried_bundle *c = find_carried(bundles, domain);
    size_t place = 0;
    for (int i = 0; i < bundles->locals; i++)
        if (*part_of(bundles, i, domain) > 0)
            find_bundle_windows(bundles, domain, i, memory, &c->window[EXCHANGE_DEPTH * place++]);
    size_t own = place_in_pair(bundles, bundles->self, domain);
    c->bundle = (exchange_bundle){c->ranks, own, c->part, c->window};
    target->list = &c->whole;
    target->bundle = &c->bundle;
}

void coll_bundles_describe(coll_bundles *bundles, size_t domain, const coll_bundle_memory *memory,
                           exchange_window *window, exchange_target *target)
{
    enum coll_bundle_role role = coll_bundles_role(bundles, domain);
    if (COLL_BUNDLE_CARRIER == role)
        describe_carrier(bundles, domain, memory, target);
    if (COLL_BUNDLE_MEMBER == role) {
        find_bundle_windows(bundles, domain, bundles->self, memory, window);
        target->window = window;
        target->is_carried = true;
    }
}

/* ---- what is kept ---- */

void coll_bundles_settle(coll_bundles *bundles)
{
    free(bundles->part);
    free(bundles->pair);
    bundles->part = NULL;
    bundles->pair = NULL;
}

int64_t coll_bundles_kept_bytes(const coll_bundles *bundles)
{
    size_t runs = 0;
    for (size_t i = 0; bundles != NULL && i < bundles->carries; i++) {
        const carried_bundle *c = &bundles->carried[i];
        runs += c->whole.capacity;
        for (size_t k = 0; c->part != NULL && k < c->ranks; k++)
            runs += c->part[k].capacity;
    }
    return (int64_t)(runs * sizeof(access_run));
}

void coll_bundles_count_pieces(const coll_bundles *bundles, int64_t *pieces, int64_t *merged)
{
    *pieces = *merged = 0;
    for (size_t i = 0; bundles != NULL && i < bundles->carries; i++) {
        *pieces += bundles->carried[i].pieces;
        *merged += access_blocks(&bundles->carried[i].whole);
    }
}
