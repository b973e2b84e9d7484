/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hwloc's description of a machine, for the locality strings (local.h) of sets of its processors,
 * and for how near these are to its network devices.
 * The only part of this folder that needs hwloc, and a separate library, so that others link
 * without it.
 */
#ifndef TOPO_MACHINE_H
#define TOPO_MACHINE_H

#include <stddef.h>
#include <stdio.h>

/* What hwloc's hwloc_topology_t points to. */
typedef struct hwloc_topology topo_machine;

/* Reads hwloc's XML, as lstopo writes it, of `length` bytes, with or without a final NUL. -EBADMSG:
 * hwloc rejects it; -ENOMEM. Free with topo_machine_free. */
int topo_machine_read(const char *xml, size_t length, topo_machine **machine);

/* Writes titles and values in turn, each a line, of the machine that this process runs on:
 * packages, NUMA nodes, cores, and each network device. -EIO: hwloc cannot tell; -ENOMEM. */
int topo_machine_describe(FILE *out);

/* The machine that this process runs on, with its devices. -EIO: hwloc fails; -ENOMEM. */
int topo_machine_load(topo_machine **machine);

void topo_machine_free(topo_machine *machine); /* NULL is fine */

/* The locality string of a set of processors, given by OS indices as hwloc reads them ("0-3,8"):
 * the number of the object that has all of them, of each type that has such an object; the caller
 * frees it. -EINVAL: no list, an empty one, or processors that the machine does not have; -ENOMEM.
 */
int topo_machine_locality(topo_machine *machine, const char *processors, char **locality);

/* The same of a core, by its number in hwloc's order. -EINVAL: there are fewer; -ENOMEM. */
int topo_machine_core_locality(topo_machine *machine, unsigned core, char **locality);

/* The same of the processors to which this process, which runs on the machine, is bound; NULL: it
 * may use all of them, or hwloc does not know. -ENOMEM. */
int topo_machine_own_locality(topo_machine *machine, char **locality);

/* How near sets of processors, given by locality strings, are to the network: sets saved[i] to the
 * steps (topo_level_saves) that they save on the way to the nearest device. Devices are those of
 * InfiniBand and the like, or where there are none, network interfaces; without any, all are 0.
 * -ENOMEM. */
int topo_machine_near_network(topo_machine *machine, char *const *locality, size_t count,
                              unsigned char *saved);

#endif
