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

/* Sends this rank's requests to the aggregators and receives those for its own domain. Returns this
 * rank's error, which has to be agreed on. Collective. */
int tatp_exchange_requests(tatp_comm *comm, const tatp_exchange_layout *layout,
                           tatp_contributors *contributors);
void tatp_contributors_release(tatp_contributors *contributors);

/* ---- fcoll_tatp_exchange_shm.c ---- */

/* Memory that the ranks of a node share. */
typedef struct tatp_segment tatp_segment;

/* What a file keeps of it. */
typedef struct tatp_sharing {
    const ompi_process_name_t *process; /* per rank */
    tatp_segment *segment;              /* or NULL */
    size_t refused_bytes; /* memory of this size could not be shared; SIZE_MAX: none was refused */
} tatp_sharing;

/* Shares the windows of the node's aggregators, or not: the same on all ranks of the node. All of
 * them call it; it cannot fail. */
bool tatp_share_windows(tatp_sharing *sharing, tatp_comm *comm, const tatp_exchange_layout *layout);
/* The EXCHANGE_DEPTH windows of an aggregator of this node, where they are shared. */
void tatp_find_windows(const tatp_sharing *sharing, const tatp_comm *comm,
                       const tatp_exchange_layout *layout, int aggregator, exchange_window *window);
/* Keeps the segment for the next file of the same ranks. */
void tatp_sharing_release(tatp_sharing *sharing);
/* Frees all segments that are kept. */
void tatp_segments_free(void);

#endif
