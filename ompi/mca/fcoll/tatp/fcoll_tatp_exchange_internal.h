/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of module exchange share. */
#ifndef MCA_FCOLL_TATP_EXCHANGE_INTERNAL_H
#define MCA_FCOLL_TATP_EXCHANGE_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_exchange.h"

#include "exchange/costs.h"

/* ---- fcoll_tatp_exchange_requests.c ---- */

typedef struct tatp_contributors {
    exchange_contributor *item; /* ascending by rank */
    size_t count, capacity;
} tatp_contributors;

/* Sends this rank's requests to the aggregators and receives those for its own domain. Returns this
 * rank's error, which has to be agreed on. Collective. */
int tatp_exchange_requests(tatp_comm *comm, const tatp_exchange_layout *layout,
                           tatp_contributors *contributors);
void tatp_contributors_release(tatp_contributors *contributors);

/* Buffers of one run, kept from call to call and from file to file. */
typedef struct tatp_pooled_buffers tatp_pooled_buffers;

/* Memory that the ranks of a node share. */
typedef struct tatp_segment tatp_segment;

struct tatp_exchange_memory {
    const ompi_process_name_t *process; /* per rank */
    tatp_pooled_buffers *buffers;       /* of the next run */
    read_costs costs;
    tatp_segment *segment; /* the last one that was shared, or NULL */
    size_t refused_bytes;  /* memory of this size could not be shared; SIZE_MAX: none was refused */
};

/* ---- fcoll_tatp_exchange_shm.c ---- */

/* Shares the windows of the node's aggregators, or not (NULL): the same on all ranks of the node.
 * All of them call it; it cannot fail. */
tatp_segment *tatp_share_windows(tatp_exchange_memory *memory, tatp_comm *comm,
                                 const tatp_exchange_layout *layout);
/* The EXCHANGE_DEPTH windows of an aggregator of this node, for the exchange of that index. */
void tatp_find_windows(const tatp_segment *segment, size_t index, const tatp_comm *comm,
                       const tatp_exchange_layout *layout, int aggregator, exchange_window *window);
/* Keeps a segment that has no other user for the next file of the same ranks; NULL is none. */
void tatp_segment_release(tatp_segment *segment);
/* Frees all segments that are kept. */
void tatp_segments_free(void);

#endif
