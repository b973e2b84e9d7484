/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A network as a picture.
 */
#ifndef TOOLS_TATP_SVG_H
#define TOOLS_TATP_SVG_H

#include "topo/topo.h"

/* Draws the tree, the root at the top, as SVG into a file, which is written as a whole or not at
 * all; another file than one of this function is not replaced. The nodes are the hosts. Returns 0,
 * or TOOL_FAILURE after a message. */
int tatp_svg_write(const char *file, const topo_tree *tree, const char *const *host,
                   const topo_labels *labels);

#endif
