/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How near two ranks of one node are: a ladder of levels that means the same on every kind of
 * node, where the depth of hwloc's tree does not. From the locality strings that Open MPI's
 * launcher hands out, or from hwloc's description of the machine (machine.h).
 */
#ifndef TOPO_LOCAL_H
#define TOPO_LOCAL_H

/* The nearest thing that two ranks share. */
typedef enum topo_level {
    TOPO_SAME_CORE,
    TOPO_SAME_L2,
    TOPO_SAME_L3,
    TOPO_SAME_NUMA,
    TOPO_SAME_PACKAGE,
    TOPO_SAME_MACHINE,
    TOPO_LEVELS
} topo_level;

/* Hops between two ranks that share this: equal steps from 1/6 to TOPO_SAME_NODE, always less than
 * between nodes. */
double topo_level_hops(topo_level level);

/* The level of two locality strings, "SK0:L30:L20:L10:CR0:HT0:NM0". A rank that is bound to more
 * than one of something is in none of them: two ranks bound to all of a package share the package
 * only. NULL or a text of another form: the machine. */
topo_level topo_locality_level(const char *a, const char *b);

#endif
