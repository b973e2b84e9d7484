/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The input of a placement, from the files that a request names.
 */
#ifndef DLA_DATA_H
#define DLA_DATA_H

#include <stdio.h>

#include "dla/spec.h"
#include "matrix/view_file.h"
#include "setmatch/setmatch.h"
#include "topo/distances.h"

typedef struct dla_nodes {
    const char *const *name;
    size_t count;
} dla_nodes;

typedef struct dla_data {
    view_file file;           /* or the view of a grid, without a profile */
    setmatch_network network; /* levels of switches; with their bandwidths where these were given */
    topo topology;            /* of the nodes */
} dla_data;

/* What is open already of the files of a spec, borrowed; NULL if it is not open. */
typedef struct dla_streams {
    FILE *record, *topology;
} dla_streams;

/* Reads the view matrix from the record or the file of the spec, or makes that of the grid; and the
 * network between these nodes. ranks: of the job, or 0 for those of the matrix. Returns 0;
 * -EINVAL: a file cannot be used, -EBADMSG: nor can the open record, or -ENODATA: it lacks the
 * profile that is demanded, each with the reason; -ENOMEM. */
int dla_data_read(dla_data *data, const dla_spec *spec, dla_streams streams, size_t ranks,
                  const dla_nodes *nodes, char reason[DLA_REASON_SIZE]);
void dla_data_release(dla_data *data);

const setmatch_method *dla_spec_method(const dla_spec *spec);

#endif
