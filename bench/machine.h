/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of machines: nodes on leaf switches under a spine, and what links and memory carry. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdbool.h>

#include "topo/topo.h"

/* Rates in bytes a second, of one direction. */
typedef struct machine {
    const char *name;
    size_t leaves, leaf; /* switches, and nodes on each; one switch has no spine */
    size_t cores;        /* of a node: slots for ranks */
    double link_rate;    /* of a node's link */
    double uplink_rate;  /* of a leaf switch to the spine, all cables */
    bool scattered;      /* jobs get nodes anywhere, not the first ones */
} machine;

/* inspur, bluelight, crill, or "NODES,LEAF,CORES[,NODE-MBIT,UPLINK-MBIT]", as the test cluster is
 * made (rates: 1000 where not said). False: neither. */
bool machine_parse(const char *text, machine *m);

/* Hops between the nodes of a job on the machine, at most as many as it has, and their links. Ends
 * the program without memory. Release with topo_release. */
void machine_topology(const machine *m, size_t nodes, topo *t);

/* Nodes under switches of `levels` levels (>= 1), from the bottom, and a spine above them: at level
 * k node n is under switch group_of_node[k * nodes + n], numbered from 0. Each link has one cable.
 * As above. */
void switched_topology(topo *t, size_t nodes, size_t levels, const size_t *group_of_node);

#endif
