/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a file says about a network, as a graph. Private to this folder.
 */
#ifndef TOPO_FABRIC_H
#define TOPO_FABRIC_H

#include "topo/names.h"
#include "topo/network.h"

/* Messages start and end at adapters; only switches pass them on. */
enum vertex_kind { KIND_UNKNOWN, KIND_SWITCH, KIND_ADAPTER, KIND_ROUTER };

/* InfiniBand's unicast addresses end here. */
enum { HIGHEST_LID = 0xbfff };
enum { NO_PORT = 0xff };

typedef struct vertex {
    enum vertex_kind kind;
    size_t described;  /* line that describes it, 0: others mention it only */
    size_t first_line; /* that names it */
    size_t host;       /* of an adapter; NO_INDEX: none that has a name */
    size_t table;      /* of a switch, in fabric->table; NO_INDEX: none */
} vertex;

/* One end of a cable. Each cable is there twice, once from each end. Port 0: not told. */
typedef struct arc {
    size_t from, to;
    size_t line;
    uint32_t from_port, to_port;
} arc;

/* A local address and the adapter or switch it belongs to. */
typedef struct lid_owner {
    size_t lid, vertex, line;
} lid_owner;

/* Where a switch sends messages on: port[lid], NO_PORT: nowhere. */
typedef struct forwarding_table {
    size_t vertex;
    unsigned char *port;
    size_t lids; /* entries of port */
} forwarding_table;

/* From one adapter to another in so many hops. */
typedef struct trace {
    size_t from, to;
    uint16_t hops;
} trace;

struct topo_fabric {
    const char *format;
    name_table keys; /* a vertex has the number of its key */
    vertex *vertex;
    size_t vertex_capacity;
    name_table hosts; /* in the order of the file */
    arc *arc;         /* once finished: by from, from_port, to, to_port */
    size_t arcs, arc_capacity;
    size_t *first_arc;     /* first_arc[v] .. first_arc[v + 1] - 1 are those from v */
    size_t *first_adapter; /* likewise of host h in adapter */
    size_t *adapter;
    lid_owner *lid;
    size_t lids, lid_capacity;
    forwarding_table *table;
    size_t tables, table_capacity;
    trace *trace;
    size_t traces, trace_capacity;
    int joined;
    int links_told; /* by a list of all; otherwise only those that traces passed */
    matrix hops;    /* where the format is hops: no vertices then */
    int has_hops;
    int is_bandwidth; /* they are no hops: see topo_read_bandwidth */
};

/* Each returns 0 or -ENOMEM unless said otherwise. */
int fabric_vertex(topo_fabric *f, const char *key, size_t length, size_t line, size_t *v);
int fabric_vertex_of_guid(topo_fabric *f, uint64_t guid, size_t line, size_t *v);
int fabric_add_arc(topo_fabric *f, const arc *a);

/* An adapter's host is the first word of its description, unless that is one the maker or an
 * installer left there, which is no host's name. */
int fabric_name_adapter(topo_fabric *f, size_t v, const char *description, size_t length);

/* Name of a host itself. */
int fabric_name_host(topo_fabric *f, size_t v, const char *name, size_t length);

int fabric_add_lid(topo_fabric *f, const lid_owner *owner);

/* The table of switch v, which is new or the one it had. */
int fabric_table(topo_fabric *f, size_t v, forwarding_table **table);

/* lid <= HIGHEST_LID */
int fabric_forward(forwarding_table *table, size_t lid, unsigned char port);

int fabric_add_trace(topo_fabric *f, const trace *t);

/* A key for messages, and the first line that names it. */
const char *fabric_key(const topo_fabric *f, size_t v);

/* Sorts the arcs, each from both ends and once, and lists the adapters of each host. -EBADMSG: a
 * port that leads to two vertices. */
int fabric_finish(topo_fabric *f, matrix_error *error);

#endif
