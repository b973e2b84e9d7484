/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The content of a topology file as a graph. Private to this folder.
 */
#ifndef TOPO_FABRIC_H
#define TOPO_FABRIC_H

#include "topo/names.h"
#include "topo/network.h"

/* Messages start and end at adapters; only switches forward them. */
enum vertex_kind { KIND_UNKNOWN, KIND_SWITCH, KIND_ADAPTER, KIND_ROUTER };

typedef struct vertex {
    enum vertex_kind kind;
    size_t described;  /* line of its description; 0: only mentioned */
    size_t first_line; /* that names it */
    size_t host;       /* of an adapter; NO_INDEX: none that has a name */
} vertex;

/* One end of a cable. Each cable has two arcs, one from each end. Port 0: unknown. */
typedef struct arc {
    size_t from, to;
    size_t line;
    uint32_t from_port, to_port;
} arc;

/* The number of hops from one adapter to another. */
typedef struct trace {
    size_t from, to;
    uint16_t hops;
} trace;

struct topo_fabric {
    const char *format;
    name_table keys; /* the number of a key is that of its vertex */
    vertex *vertex;
    size_t vertex_capacity;
    name_table hosts; /* in the order of the file */
    arc *arc;         /* once finished: by from, from_port, to, to_port */
    size_t arcs, arc_capacity;
    size_t *first_arc; /* first_arc[v] .. first_arc[v + 1] - 1 are those from v */
    size_t *of_host;   /* once finished, of each host: the vertex that all its arcs are from */
    trace *trace;
    size_t traces, trace_capacity;
    int joined;
    int all_links; /* the file lists all links; 0: only those that traces passed */
    matrix hops;   /* if the format is hops: no vertices then */
    int has_hops;
    int is_bandwidth; /* they are no hops: see topo_read_bandwidth */
};

/* Each returns 0 or -ENOMEM unless said otherwise. */
int fabric_vertex(topo_fabric *f, const char *key, size_t length, size_t line, size_t *v);
int fabric_vertex_of_guid(topo_fabric *f, uint64_t guid, size_t line, size_t *v);
int fabric_add_arc(topo_fabric *f, arc a);

/* An adapter's host is the first word of its description, unless that is a default of the vendor or
 * of an installer, which names no host. */
int fabric_name_adapter(topo_fabric *f, size_t v, const char *description, size_t length);

/* The vertex of a host itself, whose name a switch may have, too. */
int fabric_host(topo_fabric *f, const char *name, size_t line, size_t *v);

int fabric_add_trace(topo_fabric *f, trace t);

/* The key of a vertex, for messages. */
const char *fabric_key(const topo_fabric *f, size_t v);

/* Sorts the arcs so far, and sets first_arc[]. */
int fabric_sort_arcs(topo_fabric *f);

/* Adds the reversed arcs, sorts all, removes duplicates, and makes one vertex of the adapters of
 * each host. -EBADMSG: a port leads to two vertices. */
int fabric_finish(topo_fabric *f, matrix_error *error);

#endif
