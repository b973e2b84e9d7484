/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The distance of two ranks of one node, as levels that mean the same on every kind of node, unlike
 * the depth in hwloc's tree. From the locality strings of Open MPI's launcher, or from hwloc's
 * description of the machine (machine.h).
 */
#ifndef TOPO_LOCAL_H
#define TOPO_LOCAL_H

/* The innermost object that two ranks share. */
typedef enum topo_level {
    TOPO_SAME_CORE,
    TOPO_SAME_L2,
    TOPO_SAME_L3,
    TOPO_SAME_NUMA,
    TOPO_SAME_PACKAGE,
    TOPO_SAME_MACHINE,
    TOPO_LEVELS
} topo_level;

/* Hops between two ranks at that level: equal steps from 1/6 to TOPO_SAME_NODE, always less than
 * between nodes. */
double topo_level_hops(topo_level level);

/* The level of two locality strings, "SK0:L30:L20:L10:CR0:HT0:NM0". A rank bound to several
 * objects of a type is in none of them: two ranks bound to a whole package share the package only.
 * NULL or a string of another form: the machine. */
topo_level topo_locality_level(const char *a, const char *b);

#endif
