/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network between the nodes of a job, from the file that a spec names. Plain C: independent of
 * Open MPI.
 */
#ifndef RMAPS_DLA_NETWORK_H
#define RMAPS_DLA_NETWORK_H

#include <stdio.h>

#include "matrix/matrix.h"
#include "rmaps_dla_spec.h"

typedef struct dla_nodes {
    const char *const *name;
    size_t count;
} dla_nodes;

/* The topology or bandwidth file of the spec; NULL if there is none. A spec may have only one:
 * *conflict is set if it has both. */
const char *dla_network_file(const dla_spec *spec, bool *conflict);

/* Reads the levels of switches from a topology in any format of topo_read, or the levels and their
 * bandwidths, by the spec's threshold, from the output of "dla pingpong". -EBADMSG, -ENXIO, -EIO:
 * `error` explains; -EINVAL: no bandwidth was measured; -ENOMEM. Release with
 * setmatch_network_release. */
int dla_network_read(const dla_spec *spec, FILE *stream, const dla_nodes *nodes,
                     setmatch_network *network, matrix_error *error);

#endif
