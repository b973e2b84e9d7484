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

/* Of the ranks of a node, what one carries for others (fcoll_tatp_exchange_load.c). */
typedef struct tatp_loads tatp_loads;

/* Requests on their way. */
typedef struct tatp_requests {
    ompi_request_t **request;
    int64_t **element;
    size_t count;
} tatp_requests;

/* Starts to send this rank's requests to the aggregators, after the ranks of a node have exchanged
 * their loads (NULL is none). Collective on the node where there are loads. */
int tatp_requests_start(tatp_comm *comm, const tatp_exchange_layout *layout, tatp_loads *loads,
                        tatp_requests *out);
/* Completes them, and receives those for this rank's domain. rc: this rank's status so far. Returns
 * its error, which has to be agreed on. Collective. */
int tatp_requests_complete(tatp_comm *comm, const tatp_exchange_layout *layout, tatp_requests *out,
                           tatp_contributors *contributors, int rc);
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

/* Shares the windows of the node's aggregators and those of loads, or not (*segment and *loads stay
 * NULL): the same on all ranks of the node unless there is an error. The caller frees *loads. All
 * ranks of the node call it. Returns this rank's error, which has to be agreed on. */
int tatp_share_windows(tatp_exchange_memory *memory, tatp_comm *comm,
                       const tatp_exchange_layout *layout, tatp_loads **loads,
                       tatp_segment **segment);
/* The EXCHANGE_DEPTH windows of an aggregator of this node, for the exchange of that index. */
void tatp_find_windows(const tatp_segment *segment, size_t index, const tatp_comm *comm,
                       const tatp_exchange_layout *layout, int aggregator, exchange_window *window);
/* Where the loads of that exchange are. */
typedef struct tatp_load_memory {
    exchange_flags *flags; /* EXCHANGE_DEPTH for each pair */
    char *data;
} tatp_load_memory;
tatp_load_memory tatp_find_load_memory(const tatp_segment *segment, size_t index,
                                       const tatp_comm *comm, const tatp_exchange_layout *layout);
/* One user less; NULL is none. */
void tatp_segment_release(tatp_segment *segment);

/* ---- fcoll_tatp_exchange_load.c ---- */

/* Whether the ranks of this node look for loads: the same on all of them. */
bool tatp_loads_wanted(const tatp_comm *comm, const tatp_exchange_layout *layout);
/* Tells the leader of the node what each rank has, and the leader decides by this table; the others
 * adopt it. *loads: NULL if there is no memory. All ranks of the node call it. Returns this rank's
 * error, which has to be agreed on. */
int tatp_loads_find(tatp_comm *comm, const tatp_exchange_layout *layout, tatp_loads **loads);
void tatp_loads_free(tatp_loads *loads);
/* What the leader received, which it gives to the others. */
void *tatp_loads_table(tatp_loads *loads, size_t *bytes);
/* The number of pairs of this node and an aggregator (loads: NULL is none), and the bytes of their
 * windows. */
size_t tatp_loads_pairs(const tatp_loads *loads);
size_t tatp_loads_bytes(const tatp_loads *loads);
/* Decides by the leader's table, and (loads may be NULL) for none at all. */
void tatp_loads_adopt(tatp_loads *loads, const void *table, const tatp_exchange_layout *layout);
void tatp_loads_drop(tatp_loads *loads);

/* This rank's part in what is carried for a domain: none, another rank carries its data, or it
 * carries those of others. */
enum tatp_load_role { TATP_LOAD_NONE, TATP_LOAD_MEMBER, TATP_LOAD_CARRIER };
enum tatp_load_role tatp_loads_role(const tatp_loads *loads, size_t domain);
int tatp_loads_carrier(const tatp_loads *loads, size_t domain);
size_t tatp_loads_ranks(const tatp_loads *loads, size_t domain);

/* Before the lists of members come: their number. Then tatp_loads_take takes each, after its
 * domain; then the lists for a domain are united. */
int tatp_loads_expect(tatp_loads *loads, const tatp_exchange_layout *layout, size_t *lists);
int tatp_loads_take(void *loads, tatp_message *message);
int tatp_loads_unite(tatp_loads *loads, const tatp_exchange_layout *layout);
/* What this rank carries for a domain, or NULL after an error. */
const access_list *tatp_loads_carried(const tatp_loads *loads, size_t domain);

/* Makes a target one whose data this rank carries for others, or another one for it. */
void tatp_loads_describe(tatp_loads *loads, size_t domain, const tatp_load_memory *memory,
                         exchange_window *window, exchange_target *target);
/* Frees what only the preparation needs. */
void tatp_loads_settle(tatp_loads *loads);
int64_t tatp_loads_kept_bytes(const tatp_loads *loads);
/* As exchange_count_pieces, of what this rank carries; loads: NULL is none. */
void tatp_loads_count_pieces(const tatp_loads *loads, int64_t *pieces, int64_t *merged);

#endif
