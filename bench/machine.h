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
    double copy_rate;    /* at which an aggregator puts data together in memory */
    bool scattered;      /* jobs get nodes anywhere, not the first ones */
    const char *note;
} machine;

/* Closed by an entry whose name is NULL. */
extern const machine machines[];

/* One of the table, or "NODES,LEAF,CORES[,NODE-MBIT,UPLINK-MBIT]", as the test cluster is made
 * (rates: 1000 where not said). False: neither. */
bool machine_parse(const char *text, machine *m);

/* The nodes of a job on the machine: how far they are apart, and their links. Made from a
 * description in Slurm's format, read as fcoll/tatp reads it. 0 or a negative errno value. Release
 * with topo_release. */
int machine_topology(const machine *m, size_t nodes, topo *t);

/* The rate of the link above vertex v of the topology's tree. */
double machine_link_rate(const machine *m, const topo *t, size_t v);

#endif
