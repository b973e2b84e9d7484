/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The distance of two ranks of one node, as levels that mean the same on every kind of node, unlike
 * the depth in hwloc's tree. From the locality strings of Open MPI's launcher, or those that
 * machine.h makes by hwloc's description of the machine.
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

/* The distance of two ranks of a node is TOPO_SAME_NODE less the steps that their level saves, each
 * 1 / TOPO_STEPS of it: 0 steps at TOPO_SAME_MACHINE. Hop-bytes do not count them. */
#define TOPO_STEPS 8
static inline int topo_level_saves(topo_level level)
{
    return (int)TOPO_SAME_MACHINE - (int)level;
}

/* The field of a locality string for each level but the last. */
extern const char *const topo_locality_field[TOPO_SAME_MACHINE];

/* The level of two locality strings, "SK0:L30:L20:L10:CR0:HT0:NM0". A rank bound to several
 * objects of a type is in none of them: two ranks bound to a whole package share the package only.
 * NULL or a string of another form: the machine. */
topo_level topo_locality_level(const char *a, const char *b);

#endif
