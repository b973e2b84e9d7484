/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A general graph partitioner, to compare with: Scotch, where it was found.
 */
#ifndef TOOLS_SCOTCH_H
#define TOOLS_SCOTCH_H

#include "matrix/matrix.h"

/* Its name, or NULL when there is none. */
extern const char *const peer_name;

/* Places the rows of a symmetric view on `nodes` equal nodes as evenly as it can, which may not be
 * evenly enough. 0, or -1. */
int peer_place(const matrix *view, size_t nodes, size_t *node);

#endif
