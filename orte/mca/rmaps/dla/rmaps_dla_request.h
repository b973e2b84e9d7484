/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the user asked for: the policy behind --map-by and, where that is silent, the
 * parameters; and the view matrix that it leads to.
 */
#ifndef RMAPS_DLA_REQUEST_H
#define RMAPS_DLA_REQUEST_H

#include <stddef.h>

#include "matrix/matrix.h"
#include "rmaps_dla_spec.h"

typedef struct dla_request {
    dla_spec spec;
    char cart[64];   /* spec.dims, to be shown */
} dla_request;

/* Both tell the user why they fail, unless memory ran out. They return ORTE_SUCCESS,
 * ORTE_ERR_SILENT or ORTE_ERR_OUT_OF_RESOURCE. */

/* Release it with dla_request_release; nothing is to be released on failure. */
int dla_request_read(dla_request *r);
void dla_request_release(dla_request *r);

/* The view matrix of a job of this many ranks; release it with matrix_release. */
int dla_request_view(const dla_request *r, size_t ranks, matrix *view);

/* What the ranks are placed by, as the user named it. */
const char *dla_request_name(const dla_request *r);

#endif
