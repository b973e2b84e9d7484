/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of module exchange share. */
#ifndef MCA_FCOLL_TATP_EXCHANGE_INTERNAL_H
#define MCA_FCOLL_TATP_EXCHANGE_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_exchange.h"

/* ---- fcoll_tatp_exchange_requests.c ---- */

typedef struct tatp_contributors {
    exchange_contributor *item; /* ascending by rank */
    size_t count, capacity;
} tatp_contributors;

/* Of the ranks of a node, what one carries for others (fcoll_tatp_exchange_bundle.c). */
typedef struct tatp_bundles tatp_bundles;

/* Requests on their way. */
typedef struct tatp_requests {
    exchange_request *request;
    int64_t **element;
    size_t count;
} tatp_requests;

/* Starts to send this rank's requests to the aggregators, after the ranks of a node have exchanged
 * their bundles (NULL is none). Collective on the node where there are bundles. */
int tatp_requests_start(coll_group *group, const tatp_exchange_layout *layout,
                        tatp_bundles *bundles, tatp_requests *out);
/* Completes them, and receives those for this rank's domain. rc: this rank's status so far. Returns
 * its error, which has to be agreed on. Collective. */
int tatp_requests_complete(coll_group *group, const tatp_exchange_layout *layout,
                           tatp_requests *out, tatp_contributors *contributors, int rc);
void tatp_contributors_release(tatp_contributors *contributors);

/* Buffers of one run, kept from call to call and from file to file. */
typedef struct tatp_pooled_buffers tatp_pooled_buffers;

/* Memory that the ranks of a node share. */
typedef struct tatp_segment tatp_segment;

struct tatp_exchange_memory {
    tatp_pooled_buffers *buffers; /* of the next run */
    tatp_segment *segment;        /* the last one that was shared, or NULL */
    size_t refused_bytes;         /* the leader's: so much could not be shared; SIZE_MAX: any can */
};

/* ---- fcoll_tatp_exchange_shm.c ---- */

/* Shares the windows of the node's aggregators and those of bundles, or not (*segment and *bundles
 * stay NULL): the same on all ranks of the node unless there is an error. The caller frees
 * *bundles. All ranks of the node call it. Returns this rank's error, which has to be agreed on. */
int tatp_share_windows(tatp_exchange_memory *memory, coll_group *group,
                       const tatp_exchange_layout *layout, tatp_bundles **bundles,
                       tatp_segment **segment);
/* The EXCHANGE_DEPTH windows of an aggregator of this node, for the exchange of that index. */
void tatp_find_windows(const tatp_segment *segment, size_t index, const coll_group *group,
                       const tatp_exchange_layout *layout, int aggregator, exchange_window *window);
/* Where the bundles of that exchange are. */
typedef struct tatp_bundle_memory {
    exchange_flags *flags; /* EXCHANGE_DEPTH for each pair */
    char *data;
} tatp_bundle_memory;
tatp_bundle_memory tatp_find_bundle_memory(const tatp_segment *segment, size_t index,
                                           const coll_group *group,
                                           const tatp_exchange_layout *layout);
/* One user less; NULL is none. */
void tatp_segment_release(tatp_segment *segment);

/* ---- fcoll_tatp_exchange_bundle.c ---- */

/* Whether the ranks of this node look for bundles: the same on all of them. */
bool tatp_bundles_wanted(const coll_group *group, const tatp_exchange_layout *layout);
/* Tells the leader of the node what each rank has, and the leader decides by this table; the others
 * adopt it. *bundles: NULL if there is no memory. All ranks of the node call it. Returns this
 * rank's error, which has to be agreed on. */
int tatp_bundles_find(coll_group *group, const tatp_exchange_layout *layout,
                      tatp_bundles **bundles);
void tatp_bundles_free(tatp_bundles *bundles);
/* What the leader received, which it gives to the others. */
void *tatp_bundles_table(tatp_bundles *bundles, size_t *bytes);
/* The number of pairs of this node and an aggregator (bundles: NULL is none), and the bytes of
 * their windows. */
size_t tatp_bundles_pairs(const tatp_bundles *bundles);
size_t tatp_bundles_bytes(const tatp_bundles *bundles);
/* Decides by the leader's table, and (bundles may be NULL) for none at all. */
void tatp_bundles_adopt(tatp_bundles *bundles, const void *table,
                        const tatp_exchange_layout *layout);
void tatp_bundles_drop(tatp_bundles *bundles);

/* This rank's part in what is carried for a domain: none, another rank carries its data, or it
 * carries those of others. */
enum tatp_bundle_role { TATP_BUNDLE_NONE, TATP_BUNDLE_MEMBER, TATP_BUNDLE_CARRIER };
enum tatp_bundle_role tatp_bundles_role(const tatp_bundles *bundles, size_t domain);
int tatp_bundles_carrier(const tatp_bundles *bundles, size_t domain);
size_t tatp_bundles_ranks(const tatp_bundles *bundles, size_t domain);

/* Before the lists of members come: their number. Then tatp_bundles_take takes each, after its
 * domain; then the lists for a domain are united. */
int tatp_bundles_expect(tatp_bundles *bundles, const tatp_exchange_layout *layout, size_t *lists);
int tatp_bundles_take(void *bundles, coll_message *message);
int tatp_bundles_unite(tatp_bundles *bundles, const tatp_exchange_layout *layout);
/* What this rank carries for a domain, or NULL after an error. */
const access_list *tatp_bundles_carried(const tatp_bundles *bundles, size_t domain);

/* Makes a target one whose data this rank carries for others, or another one for it. */
void tatp_bundles_describe(tatp_bundles *bundles, size_t domain, const tatp_bundle_memory *memory,
                           exchange_window *window, exchange_target *target);
/* Frees what only the preparation needs. */
void tatp_bundles_settle(tatp_bundles *bundles);
int64_t tatp_bundles_kept_bytes(const tatp_bundles *bundles);
/* As exchange_count_pieces, of what this rank carries; bundles: NULL is none. */
void tatp_bundles_count_pieces(const tatp_bundles *bundles, int64_t *pieces, int64_t *merged);

#endif
