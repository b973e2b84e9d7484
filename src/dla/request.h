/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The placement that the user requests, by --map-by and by parameters, and its input files. The
 * launcher's component supplies the parameters and shows the messages.
 */
#ifndef DLA_REQUEST_H
#define DLA_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dla/parameters.h"
#include "dla/spec.h"
#include "matrix/view_file.h"
#include "topo/topo.h"

/* Shows a topic of help-rmaps-dla.txt with these arguments. */
typedef void (*dla_message_fn)(const char *topic, ...);

typedef struct dla_request {
    dla_spec spec;
    char grid[64]; /* the cart item as text */
    FILE *record;  /* spec.file, open, whose damage is no message; NULL: to be opened; borrowed */
    dla_message_fn message;
} dla_request;

typedef struct dla_nodes {
    const char *const *name;
    size_t count;
} dla_nodes;

/* The input of a placement method. */
typedef struct dla_data {
    view_file file;           /* or the view of a grid, without a profile */
    setmatch_profile profile; /* calls is 0 without a profile */
    setmatch_network network;
} dla_data;

/* Both functions below return 0; -EINVAL after a message; -ENOMEM. Of an open record: -EBADMSG: it
 * is damaged; -ENODATA: it has no profile, which is demanded. Nothing is to be released on failure.
 */

/* Combines the policy (NULL: none) and the parameters; items of the policy take precedence.
 * Release with dla_spec_release(&r->spec). */
int dla_request_read(dla_request *r, const char *policy, const dla_parameters *parameters,
                     dla_message_fn message);

/* Reads the files of the request, for a job of `ranks` ranks on these nodes. */
int dla_request_load(const dla_request *r, size_t ranks, const dla_nodes *nodes, dla_data *data);
void dla_data_release(dla_data *data);

/* Fills the zeroed network of `data`: the levels of switches from a topology in any format of
 * topo_read, or the levels and their bandwidths, by the spec's threshold, from the
 * output of "dla pingpong". -EBADMSG, -ENXIO, -EIO: `error` explains; -EINVAL: no bandwidth was
 * measured; -ENOMEM. */
int dla_network_read(const dla_spec *spec, FILE *stream, const dla_nodes *nodes, dla_data *data,
                     matrix_error *error);

/* The input without slots and nodes. Points into `data`. */
setmatch_input dla_spec_input(const dla_spec *spec, const dla_data *data);

const setmatch_method *dla_spec_method(const dla_spec *spec);

/* The view matrix or the grid, for messages. */
const char *dla_request_name(const dla_request *r);

/* Whether the record is to be found in the user's cache (dla/automatic.h). */
bool dla_request_is_automatic(const dla_request *r);

#endif
