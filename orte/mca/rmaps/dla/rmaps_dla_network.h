/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is between the nodes of a job, from a file that the user named. Plain C over src/topo and
 * src/setmatch: knows nothing of Open MPI.
 */
#ifndef RMAPS_DLA_NETWORK_H
#define RMAPS_DLA_NETWORK_H

#include <stdio.h>

#include "matrix/matrix.h"
#include "rmaps_dla_spec.h"

/* The nodes, by name and in order. */
typedef struct dla_nodes {
    const char *const *name;
    size_t count;
} dla_nodes;

/* The file that the spec names as topology or as bandwidth, NULL when it names none; sets
 * *twice when it names both, which is one too many. */
const char *dla_network_file(const dla_spec *spec, bool *twice);

/* Reads it: levels of switches from a topology in any format of topo_read, or levels by the spec's
 * threshold and their bandwidths from what "dla pingpong" wrote. -EBADMSG, -ENXIO, -EIO: `error`
 * tells; -EINVAL: nothing was measured; -ENOMEM. Release with setmatch_network_release. */
int dla_network_read(const dla_spec *spec, FILE *stream, const dla_nodes *nodes,
                     setmatch_network *network, matrix_error *error);

#endif
