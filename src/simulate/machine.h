/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A machine: the order of events of a network by time, each rank with a clock of its own. Links,
 * the memory of nodes and file servers serve in turn, each at its rate: contention is waiting.
 *
 * Links are those of the topology's tree, or one from each node to a switch, as many cables as the
 * tree says for each direction; a message enters the next link before it has left the one before.
 * Messages inside a node take its memory. A rendezvous message is sent when its receiver has
 * answered.
 */
#ifndef SIMULATE_MACHINE_H
#define SIMULATE_MACHINE_H

#include "simulate/network.h"
#include "topo/distances.h"

typedef struct machine_rate {
    double bandwidth, latency; /* bytes a second, of a cable; seconds */
} machine_rate;

typedef struct machine_settings {
    const topo *topology; /* of the nodes */
    machine_rate link, server;
    size_t servers;
} machine_settings;

enum { MACHINE_STRIPE = 1 << 20 }; /* bytes of a file on a server, then comes the next one */

typedef struct machine_tally {
    int64_t messages, bytes; /* between nodes */
    int64_t accesses;        /* of the file */
    double busiest;          /* the most bytes of any link in one direction, of one cable */
} machine_tally;

typedef struct machine machine;

/* The order of the network, whose ranks and their nodes are set; the settings are borrowed. */
machine *machine_new(const machine_settings *settings, network *net);
void machine_free(machine *m);

/* What was done since the last time. */
machine_tally machine_take_tally(machine *m);
/* Sets the clock of the rank that runs forward. */
void machine_spend(machine *m, int rank, double seconds);
/* All clocks become the latest one, which is returned. */
double machine_level(machine *m);
/* Accesses bytes of a file: when all of them are there, the rank goes on. */
void machine_access(machine *m, int rank, int64_t offset, int64_t bytes);
/* What no collective operation goes below of which a rank gets so many bytes. */
double machine_least_time(const machine *m, double bytes);

#endif
