/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hwloc's description of a machine, for the level that sets of its processors share. The only part
 * of this folder that needs hwloc, and a library of its own, so that what needs no more than files
 * of hops is linked without it.
 */
#ifndef TOPO_MACHINE_H
#define TOPO_MACHINE_H

#include <stddef.h>

#include "topo/local.h"

typedef struct topo_machine topo_machine;

/* From hwloc's XML, as lstopo writes it; length counts its bytes, with or without a NUL at the end.
 * -EBADMSG: hwloc does not take it; -ENOMEM. Free with topo_machine_free. */
int topo_machine_read(const char *xml, size_t length, topo_machine **machine);

void topo_machine_free(topo_machine *machine); /* NULL is fine */

/* The level that processors, given by their numbers in the system ("0-3,8"), share. -EINVAL: not
 * such a list, an empty one, or processors that the machine does not have; -ENOMEM. */
int topo_machine_level(const topo_machine *machine, const char *processors, const char *others,
                       topo_level *level);

#endif
