/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the user asked for: the policy behind --map-by and, where that is silent, the
 * parameters; and the files that it leads to.
 */
#ifndef RMAPS_DLA_REQUEST_H
#define RMAPS_DLA_REQUEST_H

#include <stddef.h>

#include "matrix/view_file.h"
#include "rmaps_dla_network.h"
#include "rmaps_dla_place.h"
#include "rmaps_dla_spec.h"

typedef struct dla_request {
    dla_spec spec; /* complete: what nobody named has its default */
    char cart[64]; /* the grid, to be shown */
} dla_request;

/* What the ranks are placed by. */
typedef struct dla_data {
    view_file file;           /* or the view of a grid, without a profile */
    setmatch_profile profile; /* calls is 0 when there is none */
    setmatch_network network;
} dla_data;

/* Both tell the user why they fail, unless memory ran out. They return ORTE_SUCCESS,
 * ORTE_ERR_SILENT or ORTE_ERR_OUT_OF_RESOURCE. */

/* Release it with dla_request_release; nothing is to be released on failure. */
int dla_request_read(dla_request *r);
void dla_request_release(dla_request *r);

/* Reads the files that the request names, for a job of so many ranks on these nodes. Release it
 * with dla_data_release; nothing is to be released on failure. */
int dla_request_load(const dla_request *r, size_t ranks, const dla_nodes *nodes, dla_data *data);
void dla_data_release(dla_data *data);

/* The method and its input, but for what the placer fills in. */
dla_method dla_request_method(const dla_request *r, const dla_data *data);

/* What the ranks are placed by, as the user named it. */
const char *dla_request_name(const dla_request *r);

#endif
