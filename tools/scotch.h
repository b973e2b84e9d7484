/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A general graph partitioner for comparison: Scotch, if configure found it.
 */
#ifndef TOOLS_SCOTCH_H
#define TOOLS_SCOTCH_H

#include "matrix/matrix.h"

/* Its name; NULL without Scotch. */
extern const char *const peer_name;

/* Places the rows of a symmetric view on `nodes` equal nodes. Balances them approximately: a node
 * may get more than its share. Returns 0, or -1. */
int peer_place(const matrix *view, size_t nodes, size_t *node);

#endif
