/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptions of a network: files of several formats, Slurm's addresses, lists of host names.
 * Units and conventions: topo.h.
 */
#ifndef TOPO_NETWORK_H
#define TOPO_NETWORK_H

#include <stdbool.h>

#include "topo/distances.h"

/* The content of a file: hosts and switches, or hops. */
typedef struct topo_fabric topo_fabric;

typedef struct topo_summary {
    const char *format; /* for people; static */
    size_t hosts;       /* with a name */
    size_t unnamed;     /* adapters whose description names no host */
    size_t switches;
    size_t links;  /* cables; parallel ones count each */
    size_t traces; /* of ibtracert */
    size_t rows;   /* of a file of hops */
    int joined;    /* separate trees were joined by an added switch above them */
} topo_summary;

/* Reads a file and recognises its format by the content: Matrix Market hops; Slurm's topology.conf
 * or the output of "scontrol show topology"; ibnetdiscover, optionally followed by ibtracert;
 * ibtracert. The stream must be seekable. -EBADMSG: malformed, with line and reason in `error`;
 * -ENOMEM; -EIO, with `error`. Free with topo_fabric_free. */
int topo_fabric_read(FILE *stream, topo_fabric **fabric, matrix_error *error);

void topo_fabric_free(topo_fabric *fabric); /* NULL is fine */

void topo_fabric_summary(const topo_fabric *fabric, topo_summary *summary);

/* The hosts of a fabric in the order of its file; none in a file of hops that does not name its
 * rows. */
size_t topo_fabric_hosts(const topo_fabric *fabric);
const char *topo_fabric_host(const topo_fabric *fabric, size_t host); /* < topo_fabric_hosts */

/* The fabric's host of each name; SIZE_MAX: none. -EBADMSG: a name matches two, or two names one,
 * with `error`. -ENOMEM. */
int topo_find_hosts(const topo_fabric *fabric, const char *const *hosts, size_t nodes,
                    size_t *found, matrix_error *error);

/* Distances between the hosts of a job, in that order. A host matches the one of the same name, or
 * else the only one that matches where one of both names lacks the domain. Hops from a file that
 * names no rows belong to the hosts in their order, and their numbers must agree.
 * With several adapters, the nearest pair counts. A traced pair has the hops of its trace (also in
 * the other direction); otherwise the shortest path counts. Adapters and routers do not forward.
 * -ENXIO: a host is missing, two are not connected, or the file has traces only and none of a pair;
 * -EBADMSG: a name matches two hosts, two names one host, or the number of hops is wrong; both with
 * `error`. -ENOMEM. Memory: node classes of these hosts squared, and the file. */
int topo_from_fabric(const topo_fabric *fabric, const char *const *hosts, size_t nodes, topo *t,
                     matrix_error *error);

/* topo_fabric_read and topo_from_fabric in one. */
int topo_read(FILE *stream, const char *const *hosts, size_t nodes, topo *t, matrix_error *error);

/* Reads Slurm's SLURM_TOPOLOGY_ADDR, the switches from the root to each host: "core.pod0.leaf1.n5"
 * for host n5. Equal prefixes are the same switches. -ENODATA: no address names a switch. -EBADMSG:
 * an address is empty, missing (NULL) or that of two hosts, or only some name switches, with
 * `error`; otherwise as topo_from_fabric. */
int topo_from_addresses(const char *const *address, const char *const *hosts, size_t nodes, topo *t,
                        matrix_error *error);

/* Bandwidths between the hosts of a job, in that order, from a Matrix Market file. Its rows are
 * named, or in the order of the hosts, as those of hops. A comment line that begins with the word
 * TOPO_BANDWIDTH marks such a file; the functions above reject it. -ENXIO: a host is missing;
 * -EBADMSG: malformed, or not of bandwidths; both with `error`. -ENOMEM; -EIO. Release with
 * matrix_release. */
int topo_read_bandwidth(FILE *stream, const char *const *hosts, size_t nodes, matrix *bandwidth,
                        matrix_error *error);

#define TOPO_BANDWIDTH "bandwidth"

/* Whether a file is marked so; leaves the position of a seekable stream as it is. */
bool topo_is_bandwidth(FILE *stream);

/* More names than any cluster has. */
#define TOPO_HOSTLIST_LIMIT ((size_t)1 << 20)

/* Expands a list as Slurm writes it, "n[0-3,7],r[00-01]c[1-2]-ib": calls take(name, context) for
 * each name in order and stops at the first result that is not 0, which it returns. Blanks separate
 * names as commas do, and nothing between two separators is no name. -EBADMSG: malformed, more than
 * TOPO_HOSTLIST_LIMIT names, or a name of over 255 characters, with `error`. */
int topo_expand_hostlist(const char *list, int (*take)(const char *name, void *context),
                         void *context, matrix_error *error);

#endif
