/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hosts of a job in a fabric, and the steps to their distances. Private to this folder.
 */
#ifndef TOPO_HOSTS_H
#define TOPO_HOSTS_H

#include "base/arena.h"
#include "topo/fabric.h"

/* The hosts of a job and their node classes. */
typedef struct job_hosts {
    const topo_fabric *fabric;
    const char *const *names; /* as in the job */
    size_t nodes;
    size_t *host; /* of each node, in the fabric */
    size_t classes;
    size_t *class;           /* of each node */
    size_t *sample;          /* of each class: a node that is there */
    uint16_t *between;       /* as in topo */
    struct base_arena arena; /* of host, sample */
} job_hosts;

/* Hops take the square of this number. Jobs of more classes are refused: only those of nodes that
 * are switches themselves, or of traced hosts, have a class for each node. */
enum { HOSTS_MOST_CLASSES = 1 << 15 };

/* -EBADMSG: more classes than that. */
int hosts_check_classes(size_t classes, matrix_error *error);

/* Nodes whose adapters have the same neighbours share a class. -ENXIO: a host without links. */
int hosts_find_classes(job_hosts *s, matrix_error *error);

/* Shortest paths. */
int hosts_count_hops(job_hosts *s);

/* Replaces `between` by the traces where there are any; every node becomes a class. -ENXIO: neither
 * a trace nor a list of links covers a pair of nodes. */
int hosts_apply_traces(job_hosts *s, matrix_error *error);

/* -ENXIO: two nodes are not connected. */
int hosts_check_reached(const job_hosts *s, matrix_error *error);

/* The links as a tree if they form one that agrees with `between`; otherwise an empty one.
 */
int hosts_find_tree(const job_hosts *s, topo_tree *tree);

#endif
