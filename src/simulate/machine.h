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
    const int *node_of_rank;
    machine_rate link, memory, server;
    size_t servers;
    int64_t stripe; /* bytes of a file on a server, then comes the next one */
    int64_t eager;  /* bytes of a message at most */
} machine_settings;

typedef struct machine machine;

/* The order of the network, whose number of ranks is set; the settings are borrowed. */
machine *machine_new(const machine_settings *settings, network *net);
void machine_free(machine *m);

double machine_clock(const machine *m, int rank);
/* Of the rank that runs: its clock goes on. */
void machine_spend(machine *m, int rank, double seconds);
/* All clocks become the latest one. */
void machine_level(machine *m);
/* Accesses bytes of a file: when all of them are there, the rank goes on. */
void machine_access(machine *m, int rank, int64_t offset, int64_t bytes);
/* The most bytes of any link in one direction, of one cable, since the last time. */
double machine_take_busiest(machine *m);

#endif
