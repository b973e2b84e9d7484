/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of an exchange share. */
#ifndef COLLECTIVE_EXCHANGE_INTERNAL_H
#define COLLECTIVE_EXCHANGE_INTERNAL_H

#include "collective/exchange.h"

/* ---- requests.c ---- */

typedef struct coll_contributors {
    exchange_contributor *item; /* ascending by rank */
    size_t count, capacity;
} coll_contributors;

/* Of the ranks of a node, what one carries for others (bundle.c). */
typedef struct coll_bundles coll_bundles;

/* Requests on their way. */
typedef struct coll_requests {
    exchange_request *request;
    int64_t **element;
    size_t count;
} coll_requests;

/* Starts to send this rank's requests to the aggregators, after the ranks of a node have exchanged
 * their bundles (NULL is none). Collective on the node where there are bundles. */
int coll_requests_start(coll_group *group, const domain_layout *layout, coll_bundles *bundles,
                        coll_requests *out);
/* Completes them, and receives those for this rank's domain. rc: this rank's status so far. Returns
 * its error, which has to be agreed on. Collective. */
int coll_requests_complete(coll_group *group, const domain_layout *layout, coll_requests *out,
                           coll_contributors *contributors, int rc);
void coll_contributors_release(coll_contributors *contributors);

/* Buffers of one run, kept from call to call and from file to file. */
typedef struct coll_pooled_buffers coll_pooled_buffers;

/* Memory that the ranks of a node share. */
typedef struct coll_segment coll_segment;

struct coll_exchange_memory {
    coll_pool *pool;
    coll_pooled_buffers *buffers; /* of the next run */
    coll_segment *segment;        /* the last one that was shared, or NULL */
    size_t refused_bytes;         /* the leader's: so much could not be shared; SIZE_MAX: any can */
};

/* ---- shm.c ---- */

/* Shares the windows of the node's aggregators and those of bundles, or not (*segment and *bundles
 * stay NULL): the same on all ranks of the node unless there is an error. The caller frees
 * *bundles. All ranks of the node call it. Returns this rank's error, which has to be agreed on. */
int coll_share_windows(coll_exchange_memory *memory, coll_group *group, const domain_layout *layout,
                       coll_bundles **bundles, coll_segment **segment);
/* The EXCHANGE_DEPTH windows of an aggregator of this node, for the exchange of that index. */
void coll_find_windows(const coll_segment *segment, size_t index, const coll_group *group,
                       const domain_layout *layout, int aggregator, exchange_window *window);
/* Where the bundles of that exchange are. */
typedef struct coll_bundle_memory {
    exchange_flags *flags; /* EXCHANGE_DEPTH for each pair */
    char *data;
} coll_bundle_memory;
coll_bundle_memory coll_find_bundle_memory(const coll_segment *segment, size_t index,
                                           const coll_group *group, const domain_layout *layout);
/* One user less; NULL is none. */
void coll_segment_release(coll_segment *segment);

/* ---- bundle.c ---- */

/* Whether the ranks of this node look for bundles: the same on all of them. */
bool coll_bundles_wanted(const coll_group *group, const domain_layout *layout);
/* Tells the leader of the node what each rank has, and the leader decides by this table; the others
 * adopt it. *bundles: NULL if there is no memory. All ranks of the node call it. Returns this
 * rank's error, which has to be agreed on. */
int coll_bundles_find(coll_group *group, const domain_layout *layout, coll_bundles **bundles);
void coll_bundles_free(coll_bundles *bundles);
/* What the leader received, which it gives to the others. */
void *coll_bundles_table(coll_bundles *bundles, size_t *bytes);
/* The number of pairs of this node and an aggregator (bundles: NULL is none), and the bytes of
 * their windows. */
size_t coll_bundles_pairs(const coll_bundles *bundles);
size_t coll_bundles_bytes(const coll_bundles *bundles);
/* Decides by the leader's table, and (bundles may be NULL) for none at all. */
void coll_bundles_adopt(coll_bundles *bundles, const void *table, const domain_layout *layout);
void coll_bundles_drop(coll_bundles *bundles);

/* This rank's part in what is carried for a domain: none, another rank carries its data, or it
 * carries those of others. */
enum coll_bundle_role { COLL_BUNDLE_NONE, COLL_BUNDLE_MEMBER, COLL_BUNDLE_CARRIER };
enum coll_bundle_role coll_bundles_role(const coll_bundles *bundles, size_t domain);
int coll_bundles_carrier(const coll_bundles *bundles, size_t domain);
size_t coll_bundles_ranks(const coll_bundles *bundles, size_t domain);

/* Before the lists of members come: their number. Then coll_bundles_take takes each, after its
 * domain; then the lists for a domain are united. */
int coll_bundles_expect(coll_bundles *bundles, const domain_layout *layout, size_t *lists);
int coll_bundles_take(void *bundles, coll_message *message);
int coll_bundles_unite(coll_bundles *bundles, const domain_layout *layout);
/* What this rank carries for a domain, or NULL after an error. */
const access_list *coll_bundles_carried(const coll_bundles *bundles, size_t domain);

/* Makes a target one whose data this rank carries for others, or another one for it. */
void coll_bundles_describe(coll_bundles *bundles, size_t domain, const coll_bundle_memory *memory,
                           exchange_window *window, exchange_target *target);
/* Frees what only the preparation needs. */
void coll_bundles_settle(coll_bundles *bundles);
int64_t coll_bundles_kept_bytes(const coll_bundles *bundles);
/* As exchange_count_pieces, of what this rank carries; bundles: NULL is none. */
void coll_bundles_count_pieces(const coll_bundles *bundles, int64_t *pieces, int64_t *merged);

#endif
