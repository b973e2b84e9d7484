/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage servers of a model: where they are, and which stripes of the file they hold.
 */
#ifndef BENCH_SERVERS_H
#define BENCH_SERVERS_H

#include "machine.h"
#include "storage/storage.h"

typedef struct servers {
    /* Set before servers_begin. */
    machine_hosts hosts; /* without ranks, all of them servers */
    bool on_nodes;       /* or all nodes of the job in their order */
    const char *list;    /* or these nodes, which may have no ranks: "2,0,3,1"; NULL: no list */
    int64_t unit;        /* bytes of a stripe */
    int64_t weight;      /* of their hop-bytes in plans; 0: plans have no regard to them */

    size_t count; /* 0: no servers */
    size_t *node; /* of each, in the order in which they take stripes in turn */
    storage_layout *layout;
} servers;

/* "core:N" (N servers on a switch of their own), "leaves" (one on each leaf switch of the job),
 * "nodes" or a list of nodes, which has to live as long as *s. False: neither. */
bool servers_parse(const char *text, servers *s);

/* How many nodes the model needs where the job has so many. */
size_t servers_nodes(const servers *s, size_t nodes);

/* `nodes` are those of the job, or as many as servers_nodes says; the hosts follow in the topology.
 * 0 or a negative errno value. Release with servers_end, also after an error. */
int servers_begin(servers *s, size_t nodes, const topo *topology);
void servers_end(servers *s);

/* Bytes of each domain on each node, as pieces_servers wants them; `context` is a servers. */
int servers_bytes(const void *context, const file_domains *domains, const matrix *node_bytes,
                  matrix *stored);

/* The node of the server of a stripe. */
size_t servers_node_of_stripe(const servers *s, size_t stripe);

#endif
