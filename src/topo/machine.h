/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hwloc's description of a machine, for the level that sets of its processors share. The only part
 * of this folder that needs hwloc, and a separate library, so that others link without it.
 */
#ifndef TOPO_MACHINE_H
#define TOPO_MACHINE_H

#include <stddef.h>

#include "topo/local.h"

typedef struct topo_machine topo_machine;

/* From hwloc's XML, as lstopo writes it, of `length` bytes, with or without a final NUL. -EBADMSG:
 * hwloc rejects it; -ENOMEM. Free with topo_machine_free. */
int topo_machine_read(const char *xml, size_t length, topo_machine **machine);

void topo_machine_free(topo_machine *machine); /* NULL is fine */

/* The level that two sets of processors share, given by OS indices ("0-3,8"). -EINVAL: not such a
 * list, an empty one, or processors that the machine does not have; -ENOMEM. */
int topo_machine_level(const topo_machine *machine, const char *processors, const char *others,
                       topo_level *level);

#endif
