/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The weights and bytes of a placement as text. Plain C: independent of Open MPI.
 */
#ifndef RMAPS_DLA_REPORT_H
#define RMAPS_DLA_REPORT_H

#include "setmatch/setmatch.h"

#define DLA_REPORT_SIZE 256

/* "WEIGHT of TOTAL" inside nodes and, with a profile, the bytes that leave their nodes and their
 * groups of nodes. Returns 0 or a negative errno value. */
int dla_report_format(const setmatch_input *input, const size_t *node_of_rank,
                      char text[DLA_REPORT_SIZE]);

#endif
