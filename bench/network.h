/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A model of a cluster's network, as a transport of src/exchange: what messages cost the
 * processors, and links that messages share. No data are moved.
 *
 * Ranks are numbered node by node, nodes switch by switch. A message takes its sender and its
 * receiver the same time. Between nodes it occupies the links of both, and between switches the
 * uplinks of both; its first byte goes on to the next link before the last one has come. On the
 * link from a node the connections of its ranks take turns, message by message. Other links pass
 * messages in the order in which they reach them.
 */
#ifndef BENCH_NETWORK_H
#define BENCH_NETWORK_H

#include "exchange/exchange.h"

typedef struct network_costs {
    const char *name;
    int per_node, per_switch; /* ranks, nodes */
    double message;           /* seconds of a processor, at either end */
    double byte;              /* seconds to copy one */
    double latency;           /* seconds */
    double link, uplink;      /* bytes per second, each direction; uplink 0: as many as links */
    int cores;                /* of all nodes together; 0: one for each rank */
    size_t envelope;          /* bytes that a message has besides its data */
    size_t frame, header;     /* data of a frame at most, bytes besides; frame 0: no frames. Two
                                 frames are answered by one without data */
    /* What a link that was idle passes at once: bytes, or what it passes in these seconds, if that
     * is more. */
    double burst, burst_time;
} network_costs;

typedef struct network network;

/* NULL: no memory. */
network *network_new(const network_costs *costs, int ranks);
void network_free(network *net);

/* Runs one exchange on each rank, all from time 0. Ranks of a node see each other's flags. Returns
 * the time of the last; *messages: those with data. -ENOMEM, as a negative time; -1: deadlock. */
double network_run(network *net, exchange *const *ex, exchange_run run, const access_list *memory,
                   int64_t *messages);

#endif
