/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is how far from whom: hops between the nodes of a job.
 *
 * Units: hops, the links a message crosses. Two ranks on one node are TOPO_SAME_NODE
 * apart (never more than 1), a rank is 0 from itself, two nodes at least 1.
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "matrix/matrix.h"

#define TOPO_SAME_NODE 1.0
/* Between any two nodes when nothing else is known: up to a switch and down again. */
#define TOPO_OTHER_NODE 2.0

/* hops is NULL for a flat topology, otherwise hops[n * nodes + m] is the distance from
 * node n to node m; the diagonal is not used. */
typedef struct topo {
    size_t nodes;
    double *hops;
} topo;

/* Every node TOPO_OTHER_NODE from every other; allocates nothing. */
void topo_flat(topo *t, size_t nodes);

/* Reads node x node hops (Matrix Market, symmetric or general, integer or real with
 * integral values) and picks out the `nodes` nodes whose host names are given, in that order.
 * Comment lines of the form "% hosts NAME NAME ..." name the rows in order (several such
 * lines follow on). Names compare without case; a name without a domain equals the same
 * name with one. Without any such line the file's size must be `nodes`, and its rows are
 * taken in the order of `hosts`; *named tells which was the case.
 * -EBADMSG: malformed, not square, fewer or more names than rows, a name twice, a host that
 * two names could stand for, or a hop count below 1 between two nodes that are picked; -ENXIO: a
 * host is not in the file (`error` names it); -ENOMEM; -EIO. `error` is filled in for -EBADMSG,
 * -ENXIO and -EIO. The stream must be seekable. Release with topo_release. */
int topo_read_hops(FILE *stream, const char *const *hosts, size_t nodes,
                   topo *t, int *named, matrix_error *error);

/* Frees the contents and leaves a flat topology of 0 nodes; safe on a zeroed one. */
void topo_release(topo *t);

/* Hops between two ranks that sit on nodes n and m (same_rank: they are one and the same). */
double topo_hops(const topo *t, size_t n, size_t m, int same_rank);

#endif
