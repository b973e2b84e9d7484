/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is how far from whom: hops between the nodes of a job, and the files they come from.
 *
 * Units: hops, the links a message crosses. Two ranks on one node are at most TOPO_SAME_NODE
 * apart, a rank is 0 from itself, two nodes at least 1. Host names compare without case.
 * Functions return 0 or a negative errno value; outputs are set only on success.
 * doc/topology.md describes the formats.
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "matrix/matrix.h"

#define TOPO_SAME_NODE 1.0
/* Between any two nodes when nothing else is known: up to a switch and down again. */
#define TOPO_OTHER_NODE 2.0

/* In topo.between: no way from there to here (never between two nodes of the job). */
#define TOPO_UNREACHED UINT16_MAX

/* The links as a tree, for the load on each: vertices 0 .. nodes - 1 are the job's nodes, the
 * others switches or groups of switches that act as one, each after its children; the last one
 * is the root, its own parent. A message from n to m loads the links on the way up from n and down
 * to m to where these meet. */
typedef struct topo_tree {
    size_t vertices; /* 0: the links are not a tree */
    size_t *parent;
    size_t *width; /* cables between a vertex and its parent, at least 1; the root's is not used */
} topo_tree;

/* Nodes that are equally far from all others share a place, so that distances take places x places
 * numbers. places == 0: a flat topology, without arrays. */
typedef struct topo {
    size_t nodes;
    size_t places;
    size_t *place_of_node; /* each < places */
    uint16_t *between; /* between[p * places + q] = hops from a node at p to another node at q */
    topo_tree tree;
    const char *source; /* where the distances come from, in words; static */
} topo;

/* Every node TOPO_OTHER_NODE from every other; allocates nothing. */
void topo_flat(topo *t, size_t nodes);

/* Hops from node n to node m, hops[n * nodes + m]; the diagonal is not used. -EINVAL: a distance
 * that is not a whole number from 1 to TOPO_UNREACHED - 1; -ENOMEM. Release with topo_release. */
int topo_from_hops(topo *t, size_t nodes, const double *hops);

/* Where every rank is a node of `ranks`: those that are TOPO_SAME_NODE from the lowest of them
 * share a node. Numbers the nodes in the order of their lowest ranks and returns how many there
 * are. */
size_t topo_group_ranks(const topo *ranks, size_t *node_of_rank);

/* From the hops between ranks to those between their nodes; node_of_rank[r] < nodes, and every node
 * has a rank. -EBADMSG: hops between nodes cannot tell those between ranks, since two of a node are
 * not TOPO_SAME_NODE apart or differ in their hops to or from a third; `error` has the ranks.
 * -ENOMEM. */
int topo_of_nodes(const topo *ranks, const size_t *node_of_rank, size_t nodes, topo *t,
                  matrix_error *error);

/* Frees the contents and leaves a flat topology of 0 nodes; safe on a zeroed one. */
void topo_release(topo *t);

/* Hops between two ranks that sit on nodes n and m (same_rank: they are one and the same). */
double topo_hops(const topo *t, size_t n, size_t m, int same_rank);

/* Levels of nearness: at each, nodes within so many hops of each other, directly or through others,
 * are a group. Level 0 has the nearest (nodes on one switch); each further one joins groups of the
 * one before, and none has all nodes in one group. The group of node n is (*group_of_node)[level *
 * nodes + n], any number. Nothing known, or nothing to tell apart: no levels, NULL. -ENOMEM. Free.
 */
int topo_levels(const topo *t, size_t *levels, size_t **group_of_node);

/* What a file says about a network: hosts and switches, or hops. */
typedef struct topo_fabric topo_fabric;

typedef struct topo_summary {
    const char *format; /* in words; static */
    size_t hosts;       /* that have a name */
    size_t unnamed;     /* adapters whose description names no host */
    size_t switches;
    size_t links;  /* cables; parallel ones count each */
    size_t routed; /* switches whose forwarding table is in the file */
    size_t traces; /* of ibtracert */
    size_t rows;   /* of a file of hops */
    int joined;    /* separate trees were joined by a switch above them that no line names */
} topo_summary;

/* Reads a file of any of these formats, which is recognised by its content: Matrix Market hops;
 * Slurm's topology.conf or the output of "scontrol show topology"; ibnetdiscover or
 * opensm-subnet.lst, which forwarding tables (opensm-lfts.dump, opensm.fdbs, ibroute) or ibtracert
 * may follow; ibtracert. -EBADMSG: malformed, with line and reason in `error`; -ENOMEM; -EIO (error
 * filled in too). The stream must be seekable. Free with topo_fabric_free. */
int topo_fabric_read(FILE *stream, topo_fabric **fabric, matrix_error *error);

/* The switches that Slurm names on the way to each host, SLURM_TOPOLOGY_ADDR, from the top:
 * "core.pod0.leaf1.n5" for host n5. Equal beginnings are the same switches. An address without any
 * switch tells nothing: -ENODATA when all are like that. -EBADMSG: an address that is empty, or
 * missing (NULL), or that of two hosts, or only some name switches; `error` tells which. -ENOMEM.
 */
int topo_fabric_from_addresses(const char *const *address, const char *const *hosts, size_t nodes,
                               topo_fabric **fabric, matrix_error *error);

void topo_fabric_free(topo_fabric *fabric); /* NULL is fine */

void topo_fabric_summary(const topo_fabric *fabric, topo_summary *summary);

/* The hosts of a fabric in the order of its file; a file of hops that does not name its rows
 * has none. */
size_t topo_fabric_hosts(const topo_fabric *fabric);
const char *topo_fabric_host(const topo_fabric *fabric, size_t host);

/* Which of the fabric's hosts each of those names is, SIZE_MAX: none. -EBADMSG: a name may be that
 * of two; `error` has them. -ENOMEM. */
int topo_find_hosts(const topo_fabric *fabric, const char *const *hosts, size_t nodes,
                    size_t *found, matrix_error *error);

/* Distances between the hosts of a job, in that order. A host is the one of the same name, or else
 * the only one that matches when one of both names lacks the domain. Hops from a file that names
 * no rows belong to the hosts in their order, which must be as many.
 * With several adapters a host is as near as the nearest pair of them. Forwarding tables, where the
 * file has them, tell the ways that messages take; traces, those of their pairs (and of the same
 * pairs the other way); otherwise the fewest links count. Adapters and routers pass nothing on.
 * -ENXIO: a host is not there, or two have no way between them, or there are but traces and none of
 * two of the hosts; -EBADMSG: a name may be that of two
 * hosts, or is given twice, or the file has a wrong number of hops for these hosts; in both cases
 * `error` has the names. -ENOMEM. Memory: places of these hosts squared, and the file. */
int topo_from_fabric(const topo_fabric *fabric, const char *const *hosts, size_t nodes, topo *t,
                     matrix_error *error);

/* topo_fabric_read and topo_from_fabric in one. */
int topo_read(FILE *stream, const char *const *hosts, size_t nodes, topo *t, matrix_error *error);

/* Bandwidths between the hosts of a job, in that order, from a Matrix Market file that names its
 * rows as one of hops does, or has the hosts in their order. It is one of bandwidths if a comment
 * line begins with the word TOPO_BANDWIDTH; the readers above refuse that. -ENXIO: a host is not
 * there; -EBADMSG: malformed, or not of bandwidths; `error` tells. -ENOMEM; -EIO. Release with
 * matrix_release. */
int topo_read_bandwidth(FILE *stream, const char *const *hosts, size_t nodes, matrix *bandwidth,
                        matrix_error *error);

#define TOPO_BANDWIDTH "bandwidth"

/* topo_fabric_from_addresses and topo_from_fabric in one. */
int topo_from_addresses(const char *const *address, const char *const *hosts, size_t nodes, topo *t,
                        matrix_error *error);

/* More names than any cluster has. */
#define TOPO_HOSTLIST_LIMIT ((size_t)1 << 20)

/* Expands a list as Slurm writes it, "n[0-3,7],r[00-01]c[1-2]-ib": calls take(name, context) for
 * each name in order and stops at the first result that is not 0, which it returns. -EBADMSG:
 * malformed, or more than TOPO_HOSTLIST_LIMIT names, or a name of over 255 characters; `reason`
 * tells. */
int topo_expand_hostlist(const char *list, int (*take)(const char *name, void *context),
                         void *context, matrix_error *error);

#endif
