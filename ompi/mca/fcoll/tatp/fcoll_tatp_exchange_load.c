/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads: where many ranks of a node have small parts for one aggregator of another node, one of
 * them, the carrier, sends and receives a single message for all, and one access request.
 *
 * The ranks of a node send its leader the bytes that they have in a cycle at most. The leader puts
 * that into their shared segment, so that all of them decide alike, and know the windows for the
 * chunks. A carrier is an aggregator's contributor like any other; the aggregator learns how many
 * requests of other ranks will not come. */
#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp_exchange_internal.h"

#include "access/encoding.h"
#include "access/merge.h"
#include "base/memory.h"
#include "exchange/load.h"

#define LINE 64

/* What is carried for one domain; the same on all ranks of the node. */
typedef struct load_pair {
    size_t ranks;         /* 0: each rank for itself */
    size_t place;         /* among the pairs of the node */
    size_t bytes, offset; /* of one of its EXCHANGE_DEPTH windows for all ranks; of the first */
} load_pair;

/* What this rank carries. */
typedef struct carried_load {
    size_t domain, ranks;
    access_list *list; /* of each rank, ascending; the own one is empty */
    access_list *part; /* the same in bytes of the carried stream */
    access_list whole;
    int64_t pieces; /* of the ranks, before they are united */
    exchange_load load;
    exchange_member *member;
} carried_load;

struct tatp_loads {
    const tatp_comm *comm;
    int locals, self; /* index among the ranks of the node */
    size_t domains, pairs;
    size_t bytes;  /* of all windows */
    int32_t *part; /* per rank of the node and domain: bytes in a cycle at most */
    load_pair *pair;
    carried_load *carried;
    size_t carries, windows;
    exchange_window *window; /* EXCHANGE_DEPTH for each member of those */
};

/* ---- what each rank has ---- */

/* Where even parts of all ranks in full windows are not small, loads are not looked for: then only
 * some nodes could have small parts. */
bool tatp_loads_wanted(const tatp_comm *comm, const tatp_exchange_layout *layout)
{
    int locals;
    (void)tatp_comm_local_ranks(comm, &locals);
    if (locals < 2 || !exchange_load_pays((size_t)tatp_comm_size(comm), layout->cycle_size,
                                          layout->num_cycles, layout->message_size))
        return false;
    for (size_t j = 0; j < layout->domains->count; j++)
        if (layout->domains->size[j] > 0 && !tatp_comm_is_local(comm, layout->aggregator[j]))
            return true;
    return false;
}

static tatp_loads *new_loads(const tatp_comm *comm, const tatp_exchange_layout *layout)
{
    tatp_loads *loads = calloc(1, sizeof *loads);
    if (NULL == loads)
        return NULL;
    loads->domains = layout->domains->count;
    loads->comm = comm;
    loads->self = tatp_comm_local_index(comm, tatp_comm_rank(comm));
    (void)tatp_comm_local_ranks(comm, &loads->locals);
    loads->part = calloc((size_t)loads->locals, loads->domains * sizeof *loads->part);
    loads->pair = calloc(loads->domains, sizeof *loads->pair);
    if (NULL != loads->part && NULL != loads->pair)
        return loads;
    tatp_loads_free(loads);
    return NULL;
}

static void free_carried(carried_load *c)
{
    for (size_t i = 0; i < c->ranks; i++) {
        if (NULL != c->list)
            access_release(&c->list[i]);
        if (NULL != c->part)
            access_release(&c->part[i]);
    }
    access_release(&c->whole);
    free(c->list);
    free(c->part);
    free(c->member);
}

void tatp_loads_free(tatp_loads *loads)
{
    if (NULL == loads)
        return;
    for (size_t i = 0; i < loads->carries; i++)
        free_carried(&loads->carried[i]);
    free(loads->carried);
    free(loads->window);
    free(loads->part);
    free(loads->pair);
    free(loads);
}

static int32_t *part_of(const tatp_loads *loads, int local, size_t domain)
{
    return &loads->part[(size_t)local * loads->domains + domain];
}

/* Pairs of a domain and the bytes for it. No loads, no memory. */
static int take_parts(void *context, tatp_message *message)
{
    const tatp_loads *loads = context;
    if (NULL == loads || NULL == message->element)
        return OMPI_ERR_OUT_OF_RESOURCE;
    int local = tatp_comm_local_index(loads->comm, message->from);
    for (size_t i = 0; i + 1 < message->count; i += 2)
        *part_of(loads, local, (size_t)message->element[i]) = (int32_t)message->element[i + 1];
    return OMPI_SUCCESS;
}

/* The caller frees the elements; NULL: no memory. */
static int64_t *list_parts(const tatp_comm *comm, const tatp_exchange_layout *layout, size_t *count)
{
    int64_t *element = base_alloc(2 * layout->shares + 1, sizeof *element);
    *count = 0;
    for (size_t i = 0; i < layout->shares && NULL != element; i++) {
        const domain_share *share = &layout->share[i];
        if (tatp_comm_is_local(comm, layout->aggregator[share->domain]))
            continue;
        element[(*count)++] = (int64_t)share->domain;
        element[(*count)++] = exchange_largest_chunk(&share->list, layout->cycle_size);
    }
    return element;
}

/* A rank without memory has nothing that another one could carry. */
static int gather_parts(tatp_loads *loads, tatp_comm *comm, const tatp_exchange_layout *layout)
{
    int locals;
    const int *local = tatp_comm_local_ranks(comm, &locals);
    const tatp_arrivals arrivals = {.tag = TATP_TAG_LOADS,
                                    .expected = (size_t)locals - 1,
                                    .take = take_parts,
                                    .context = loads};
    tatp_message own = {.from = tatp_comm_rank(comm)};
    own.element = list_parts(comm, layout, &own.count);
    bool has_memory = NULL != loads && NULL != own.element;
    int rc = has_memory ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
    if (!tatp_comm_is_leader(comm)) {
        int sent =
            tatp_send(comm, own.element, own.count * sizeof *own.element, local[0], TATP_TAG_LOADS);
        rc = OMPI_SUCCESS != rc ? rc : sent;
    } else {
        if (has_memory)
            rc = take_parts(loads, &own);
        rc = tatp_message_complete(comm, &arrivals, NULL, 0, rc);
    }
    free(own.element);
    return rc;
}

/* ---- the decision ---- */

static size_t round_to_lines(int32_t bytes)
{
    return ((size_t)bytes + LINE - 1) / LINE * LINE;
}

static void decide_pair(tatp_loads *loads, size_t domain, const tatp_exchange_layout *layout)
{
    load_pair *pair = &loads->pair[domain];
    int64_t sum = 0;
    *pair = (load_pair){.place = loads->pairs, .offset = loads->bytes};
    for (int i = 0; i < loads->locals; i++) {
        int32_t bytes = *part_of(loads, i, domain);
        pair->ranks += bytes > 0;
        pair->bytes += round_to_lines(bytes);
        sum += bytes;
    }
    if (!exchange_load_pays(pair->ranks, sum, layout->num_cycles, layout->message_size)) {
        pair->ranks = 0;
        return;
    }
    loads->pairs++;
    loads->bytes += EXCHANGE_DEPTH * pair->bytes;
}

static void decide_pairs(tatp_loads *loads, const tatp_exchange_layout *layout)
{
    loads->pairs = loads->bytes = 0;
    for (size_t j = 0; j < loads->domains; j++)
        decide_pair(loads, j, layout);
}

void *tatp_loads_table(tatp_loads *loads, size_t *bytes)
{
    *bytes = (size_t)loads->locals * loads->domains * sizeof *loads->part;
    return loads->part;
}

void tatp_loads_adopt(tatp_loads *loads, const void *table, const tatp_exchange_layout *layout)
{
    size_t bytes;
    void *own = tatp_loads_table(loads, &bytes);
    memcpy(own, table, bytes);
    decide_pairs(loads, layout);
}

int tatp_loads_find(tatp_comm *comm, const tatp_exchange_layout *layout, tatp_loads **loads)
{
    *loads = new_loads(comm, layout);
    int rc = gather_parts(*loads, comm, layout);
    if (NULL != *loads && tatp_comm_is_leader(comm))
        decide_pairs(*loads, layout);
    return rc;
}

void tatp_loads_drop(tatp_loads *loads)
{
    if (NULL != loads)
        loads->pairs = 0;
}

size_t tatp_loads_pairs(const tatp_loads *loads)
{
    return NULL == loads ? 0 : loads->pairs;
}

size_t tatp_loads_bytes(const tatp_loads *loads)
{
    return loads->bytes;
}

/* ---- one domain ---- */

/* The carriers of the domains are different ranks, as far as there are enough. */
static int find_carrier(const tatp_loads *loads, size_t domain)
{
    size_t turn = domain % loads->pair[domain].ranks;
    int i = 0;
    for (; 0 == *part_of(loads, i, domain) || turn > 0; i++)
        turn -= *part_of(loads, i, domain) > 0;
    return i;
}

enum tatp_load_role tatp_loads_role(const tatp_loads *loads, size_t domain)
{
    if (NULL == loads || 0 == tatp_loads_pairs(loads) || 0 == loads->pair[domain].ranks ||
        0 == *part_of(loads, loads->self, domain))
        return TATP_LOAD_NONE;
    return find_carrier(loads, domain) == loads->self ? TATP_LOAD_CARRIER : TATP_LOAD_MEMBER;
}

int tatp_loads_carrier(const tatp_loads *loads, size_t domain)
{
    int locals;
    return tatp_comm_local_ranks(loads->comm, &locals)[find_carrier(loads, domain)];
}

size_t tatp_loads_ranks(const tatp_loads *loads, size_t domain)
{
    return loads->pair[domain].ranks;
}

/* NULL: there was no memory for it. */
static carried_load *find_carried(const tatp_loads *loads, size_t domain)
{
    for (size_t i = 0; i < loads->carries; i++)
        if (loads->carried[i].domain == domain)
            return &loads->carried[i];
    return NULL;
}

const access_list *tatp_loads_carried(const tatp_loads *loads, size_t domain)
{
    const carried_load *c = find_carried(loads, domain);
    return NULL == c || 0 == c->whole.count ? NULL : &c->whole;
}

/* ---- lists, from the members to the carrier ---- */

/* Index among the ranks that have a part. */
static size_t place_in_pair(const tatp_loads *loads, int local, size_t domain)
{
    size_t place = 0;
    for (int i = 0; i < local; i++)
        place += *part_of(loads, i, domain) > 0;
    return place;
}

static int add_carried(tatp_loads *loads, size_t domain)
{
    carried_load *c = &loads->carried[loads->carries++];
    size_t ranks = loads->pair[domain].ranks;
    int rc = 0;
    *c = (carried_load){.domain = domain, .ranks = ranks};
    c->list = base_zeroed(ranks, sizeof *c->list, &rc);
    c->part = base_zeroed(ranks, sizeof *c->part, &rc);
    c->member = base_zeroed(ranks, sizeof *c->member, &rc);
    return tatp_from_errno(rc);
}

/* The number of lists is right whatever happens. */
int tatp_loads_expect(tatp_loads *loads, const tatp_exchange_layout *layout, size_t *lists)
{
    int rc = OMPI_SUCCESS;
    *lists = 0;
    loads->carried = calloc(layout->shares + 1, sizeof *loads->carried);
    for (size_t i = 0; i < layout->shares; i++) {
        size_t domain = layout->share[i].domain;
        if (TATP_LOAD_CARRIER != tatp_loads_role(loads, domain))
            continue;
        *lists += loads->pair[domain].ranks - 1;
        if (NULL != loads->carried && OMPI_SUCCESS == rc)
            rc = add_carried(loads, domain);
    }
    loads->window = calloc(*lists + 1, EXCHANGE_DEPTH * sizeof *loads->window);
    if (NULL == loads->carried || NULL == loads->window)
        return OMPI_ERR_OUT_OF_RESOURCE;
    return rc;
}

int tatp_loads_take(void *context, tatp_message *message)
{
    const tatp_loads *loads = context;
    if (message->count < 2)
        return OMPI_ERR_OUT_OF_RESOURCE;
    size_t domain = (size_t)message->element[0];
    const carried_load *c = find_carried(loads, domain);
    if (NULL == c || NULL == c->list)
        return OMPI_ERR_OUT_OF_RESOURCE;
    int local = tatp_comm_local_index(loads->comm, message->from);
    return tatp_from_errno(access_decode_runs(&c->list[place_in_pair(loads, local, domain)],
                                              message->element + 1, message->count - 1));
}

static int unite_lists(const tatp_loads *loads, carried_load *c, const access_list *own)
{
    const access_list **list = calloc(c->ranks, sizeof *list);
    size_t self = place_in_pair(loads, loads->self, c->domain);
    if (NULL == list)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t i = 0; i < c->ranks; i++)
        list[i] = i == self ? own : &c->list[i];
    for (size_t i = 0; i < c->ranks; i++)
        c->pieces += access_blocks(list[i]);
    int rc = access_union_parts(list, c->ranks, &c->whole, c->part);
    if (0 != rc)
        access_release(&c->whole);
    for (size_t i = 0; i < c->ranks; i++)
        access_release(&c->list[i]);
    free(list);
    return tatp_from_errno(rc);
}

int tatp_loads_unite(tatp_loads *loads, const tatp_exchange_layout *layout)
{
    int rc = OMPI_SUCCESS;
    for (size_t i = 0; i < layout->shares && OMPI_SUCCESS == rc; i++) {
        const domain_share *share = &layout->share[i];
        if (TATP_LOAD_CARRIER == tatp_loads_role(loads, share->domain))
            rc = unite_lists(loads, find_carried(loads, share->domain), &share->list);
    }
    return rc;
}

/* ---- targets ---- */

/* The windows of a rank for its chunks. */
static void find_load_windows(const tatp_loads *loads, size_t domain, int local,
                              const tatp_load_memory *memory, exchange_window *window)
{
    const load_pair *pair = &loads->pair[domain];
    char *data = memory->data + pair->offset;
    for (int i = 0; i < local; i++)
        data += round_to_lines(*part_of(loads, i, domain));
    for (size_t w = 0; w < EXCHANGE_DEPTH; w++) {
        window[w].flags = &memory->flags[pair->place * EXCHANGE_DEPTH + w];
        window[w].data = data + w * pair->bytes;
    }
}

static void describe_carrier(tatp_loads *loads, size_t domain, const tatp_load_memory *memory,
                             exchange_target *target)
{
    carried_load *c = find_carried(loads, domain);
    size_t place = 0;
    c->load.member = c->member;
    for (int i = 0; i < loads->locals; i++) {
        if (0 == *part_of(loads, i, domain))
            continue;
        const access_list *part = &c->part[place++];
        if (i == loads->self) {
            c->load.own = part;
            continue;
        }
        exchange_window *window = &loads->window[EXCHANGE_DEPTH * loads->windows++];
        find_load_windows(loads, domain, i, memory, window);
        c->member[c->load.members++] = (exchange_member){part, window};
    }
    target->list = &c->whole;
    target->load = &c->load;
}

void tatp_loads_describe(tatp_loads *loads, size_t domain, const tatp_load_memory *memory,
                         exchange_window *window, exchange_target *target)
{
    enum tatp_load_role role = tatp_loads_role(loads, domain);
    if (TATP_LOAD_CARRIER == role)
        describe_carrier(loads, domain, memory, target);
    if (TATP_LOAD_MEMBER == role) {
        find_load_windows(loads, domain, loads->self, memory, window);
        target->window = window;
        target->is_carried = true;
    }
}

/* ---- what is kept ---- */

void tatp_loads_settle(tatp_loads *loads)
{
    free(loads->part);
    free(loads->pair);
    loads->part = NULL;
    loads->pair = NULL;
}

int64_t tatp_loads_kept_bytes(const tatp_loads *loads)
{
    size_t runs = 0;
    for (size_t i = 0; NULL != loads && i < loads->carries; i++) {
        const carried_load *c = &loads->carried[i];
        runs += c->whole.capacity;
        for (size_t k = 0; NULL != c->part && k < c->ranks; k++)
            runs += c->part[k].capacity;
    }
    return (int64_t)(runs * sizeof(access_run));
}

void tatp_loads_count_pieces(const tatp_loads *loads, int64_t *pieces, int64_t *merged)
{
    *pieces = *merged = 0;
    for (size_t i = 0; NULL != loads && i < loads->carries; i++) {
        *pieces += loads->carried[i].pieces;
        *merged += access_blocks(&loads->carried[i].whole);
    }
}
