/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The input of the placement methods: access profile, network, options.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef SETMATCH_INPUT_H
#define SETMATCH_INPUT_H

#include <stdbool.h>

#include "matrix/matrix.h"

/* Bytes accessed by rank and by region of the file. bytes[c] has a row per rank and a column per
 * bin (an equal part of the accessed range, the last one possibly shorter) of collective call c, or
 * of all calls of one kind; values are bytes, >= 0. Calls may differ in bins. At least one call,
 * all with the same number of ranks. For a view_file `f` with patterns: {f.patterns, f.bytes}. */
typedef struct setmatch_profile {
    size_t calls;
    const matrix *bytes;
} setmatch_profile;

/* The objective to minimise. NEIGHBOURS: the weight of the view between nodes. PROFILE: the bytes
 * of the profile that cross between nodes to reach the file domains. AUTO: PROFILE if there is one.
 */
typedef enum setmatch_objective {
    SETMATCH_OBJECTIVE_AUTO,
    SETMATCH_OBJECTIVE_NEIGHBOURS,
    SETMATCH_OBJECTIVE_PROFILE
} setmatch_objective;

/* The names of all, in the order of their values, terminated by NULL: "auto", "neighbours",
 * "profile". */
extern const char *const setmatch_objective_names[];

/* The architecture matrix: the bandwidth between two ranks depends on what they share. Nodes are in
 * groups; those of level 0 are the nearest (nodes on one switch), those of each further level
 * consist of groups of the level before. Group numbers are arbitrary; that of node n at a level is
 * group_of_node[level * nodes + n]. */
typedef struct setmatch_network {
    size_t levels;
    size_t *group_of_node;
    double *bandwidth; /* levels + 2 values > 0, only ratios matter: within a node, within a group
                        * of each level, beyond. NULL: the paper's 3500 MB/s within a node, then
                        * 2100 MB/s divided by 1, 2, 3, ... */
} setmatch_network;

/* Derives levels from measured bandwidths: a value for each pair of nodes (the mean of both
 * directions if both are present; 0: not measured) and within each node (the diagonal). Groups are
 * formed like sets of ranks: nodes connected by bandwidths within 10 per cent of the largest one
 * between groups, repeatedly, until none is between groups. The bandwidth of a level is the mean of
 * those measured at it; without any, that of the level before, and within nodes the largest.
 * -EINVAL: no value above 0; -ENOMEM. Release with setmatch_network_release. */
int setmatch_network_from_bandwidth(const matrix *bandwidth, setmatch_network *network);

/* The distance class of two nodes, an index in bandwidth[]. 0: one node; 1 + level: one group of
 * that level, but of none before; 1 + levels: beyond. network: NULL if there are no levels. */
size_t setmatch_network_distance(const setmatch_network *network, size_t nodes, size_t a, size_t b);

/* Frees the contents and leaves a network without levels; safe on a zeroed one. */
void setmatch_network_release(setmatch_network *network);

/* Zeroed members are defaults. All pointers are borrowed. */
typedef struct setmatch_input {
    const matrix *view;  /* square, values >= 0; its rows are the ranks */
    const size_t *slots; /* by node: the maximum number of its ranks */
    size_t nodes;
    const setmatch_network *network; /* NULL if it is unknown */
    bool refine;                     /* refine the placement, and search for a better one */
    const setmatch_profile *profile; /* NULL if there is none */
    setmatch_objective objective;    /* of setmatch_auto; the other methods use the view only */
    /* What a placement of all ranks by a profile costs, as the caller sees it: candidates are
     * compared by it. 0 or a negative errno value; -ERANGE: it is not finite. NULL: the bytes on
     * other nodes than the owner of their file domain, which are even or fitted, whichever has
     * fewer such bytes. */
    int (*load)(const void *context, const size_t *node_of_rank, double *load);
    const void *load_context;
} setmatch_input;

#endif
