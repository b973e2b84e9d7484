/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement near the storage servers of the recorded files.
 */
#ifndef DLA_NEAR_H
#define DLA_NEAR_H

#include "dla/request.h"

/* Replaces a placement by the one of src/setmatch/near.h that loads least (dla_load), if that is
 * less. Nothing without known servers, with weight 0, and where the input does not refine. The
 * input has slots and nodes. Returns 0; -EINVAL: the profile has another number of ranks; -ERANGE;
 * -ENOMEM. */
int dla_place_near(const setmatch_input *input, const dla_data *data, size_t *node_of_rank);

#endif
