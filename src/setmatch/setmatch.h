/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SetMatch: which rank goes to which node, so that ranks that access neighbouring
 * regions of a file share a node.
 *
 * Source: Venkatesan, Anand, Gabriel, Subhlok, "Optimized Process Placement for
 * Collective I/O Operations", EuroMPI 2013, Algorithm 1; what differs from it, and
 * why, is in doc/setmatch.md.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef SETMATCH_SETMATCH_H
#define SETMATCH_SETMATCH_H

#include <stdbool.h>

#include "matrix/matrix.h"

/* The default of the paper: a value counts when it is within 10 per cent of the largest. */
#define SETMATCH_DEFAULT_THRESHOLD 10

/* Places ranks 0..view->rows - 1 on `nodes` nodes, node n taking at most slots[n].
 *   view        square, values >= 0; used as V + transpose(V), the diagonal is ignored
 *   threshold   per cent, 0..100: v counts when v >= (1 - threshold / 100) * max and v > 0
 *   node_of_rank  view->rows entries, out: the node of each rank
 * Phases: make_sets and merge_sets (the connected components of the counted values);
 * match_sets (largest set first: into the free node whose free slots are the fewest
 * that suffice, the lower index on a tie; a set that fits nowhere fills the node with
 * most free slots with its first ranks in set order, and goes on with the rest).
 * Equal sets are taken in the order of their lowest ranks. What is left of a cut set is placed
 * before the next set. Set order is a walk along counted values that begins at the rank with the
 * fewest of them (an end of a path, a corner of a grid), the lowest rank on a tie, and goes depth
 * first, the lowest neighbour first. So a cut set is cut between neighbours in the file, and a
 * regular grid of two dimensions into chunks of file order.
 * Depends only on the values, not on how they are stored.
 * O(nnz + ranks * log(ranks) + (ranks + nodes) * log(nodes)); no recursion.
 * -EINVAL: not square, a negative value, a threshold out of range; -ENOSPC: fewer slots
 * than ranks; -ENOMEM. */
int setmatch_place(const matrix *view, const size_t *slots, size_t nodes, unsigned threshold,
                   size_t *node_of_rank);

/* The sets of the first two phases alone: set_of_rank[i] is the index of rank i's set,
 * sets numbered by their lowest rank; *sets their number. Errors as above. */
int setmatch_sets(const matrix *view, unsigned threshold, size_t *set_of_rank, size_t *sets);

/* ---- methods: the same input, one placement each ---- */

/* What ranks did in the file: bytes[c] is a row for each rank and a column for each bin (an equal
 * part of the range accessed, the last one perhaps less) of collective call c, or of all calls of
 * one kind; values are bytes, >= 0. Calls may differ in bins. At least one call, all of the same
 * number of ranks. For a view_file `f` with patterns: {f.patterns, f.bytes}. */
typedef struct setmatch_profile {
    size_t calls;
    const matrix *bytes;
} setmatch_profile;

/* How the file is divided among nodes when it is accessed: into one contiguous part of equal length
 * for each node that has ranks, or into bins that are each given to a node, to all nodes equally
 * many. Either way those go to the nodes where most of their bytes are. AUTO: whichever of both
 * lets fewer bytes cross. */
typedef enum setmatch_domains {
    SETMATCH_DOMAINS_AUTO,
    SETMATCH_DOMAINS_EVEN,
    SETMATCH_DOMAINS_FITTED
} setmatch_domains;

/* What is to be least: the weight of the view between nodes, or the bytes of the profile that cross
 * between nodes on their way to the file domains. AUTO: the profile when there is one. */
typedef enum setmatch_objective {
    SETMATCH_OBJECTIVE_AUTO,
    SETMATCH_OBJECTIVE_NEIGHBOURS,
    SETMATCH_OBJECTIVE_PROFILE
} setmatch_objective;

/* The names of both, in the order of their values, closed by NULL: "auto", "neighbours", "profile";
 * "auto", "even", "fitted". */
extern const char *const setmatch_objective_names[];
extern const char *const setmatch_domains_names[];

/* Sets the value of that name; -EINVAL: there is none. */
int setmatch_find_objective(const char *name, setmatch_objective *objective);
int setmatch_find_domains(const char *name, setmatch_domains *domains);

/* The architecture matrix: the bandwidth between two ranks by what they share. Nodes are in groups,
 * of which those of level 0 are the nearest (nodes on one switch) and those of every further level
 * are made of groups of the one before. Groups have any numbers: that of node n at a level is
 * group_of_node[level * nodes + n]. */
typedef struct setmatch_network {
    size_t levels;
    size_t *group_of_node;
    double *bandwidth; /* levels + 2 of them, > 0, only ratios matter: within a node, within a group
                        * of each level, beyond. NULL: the paper's 3500 and 2100 MB/s, 2100 being
                        * divided by 2, 3, ... from level to level */
} setmatch_network;

/* Levels from what was measured: bandwidth holds a value for each pair of nodes (both directions
 * are averaged where both are there; 0: not measured) and within each node (the diagonal). As for
 * sets of ranks: nodes whose bandwidth is within `threshold` per cent of the largest one between
 * groups are a group, again and again, until all nodes are one. The bandwidth of a level is the
 * mean of what was measured at it. -EINVAL: not square, a negative value, no value above 0 or a
 * threshold above 100; -ENOMEM. Release with setmatch_network_release. */
int setmatch_network_from_bandwidth(const matrix *bandwidth, unsigned threshold,
                                    setmatch_network *network);

/* Frees the contents and leaves a network of no levels; safe on a zeroed one. */
void setmatch_network_release(setmatch_network *network);

/* What is to be placed on what, and how. Zeroed members are defaults. */
typedef struct setmatch_input {
    const matrix *view;  /* square, values >= 0; its rows are the ranks */
    const size_t *slots; /* by node: how many ranks it takes at most */
    size_t nodes;
    const setmatch_network *network; /* NULL: nothing is known of what is between nodes */
    unsigned threshold;              /* per cent, 0..100, as for setmatch_place */
    bool refine;                     /* improve the placement pair by pair of nodes */
    const setmatch_profile *profile; /* NULL: none */
    setmatch_objective objective;    /* of setmatch_auto; the other methods know the view only */
    setmatch_domains domains;        /* those that the profile is to be placed for */
} setmatch_input;

/* Fills node_of_rank, an entry for each row of the view. No node gets more ranks than slots. Equal
 * input gives equal output; how a matrix is stored makes no difference.
 * -EINVAL: as setmatch_place, or a malformed profile, or the objective is a profile that is not
 * there; -ENOSPC: fewer slots than ranks; -EOVERFLOW: 2^32 - 1 ranks or nodes or more; -ERANGE:
 * bytes of the profile add up to more than int64; -ENOMEM. */
typedef int (*setmatch_method_fn)(const setmatch_input *input, size_t *node_of_rank);

typedef struct setmatch_method {
    const char *name;
    setmatch_method_fn place;
    const char *note; /* one line for help texts */
} setmatch_method;

/* The table of methods, closed by an entry whose name is NULL; the first is the default.
 *
 * auto: the least cut of setmatch, byslot, levelled and, up to SETMATCH_BISECTION_RANKS ranks,
 * bisection and agglomerative, the best of them refined (unless that is switched off): never a
 * larger cut than that of setmatch or byslot. With a network, ranks are divided among the groups of
 * the last level first, then among the groups in each, and so on down to nodes, if the sum V / P is
 * not less without. With a profile, the placement by the view competes with placements by the
 * co-access matrix (fitted domains) or by a transportation problem (even ones): never more bytes
 * cross than with the placement by the view. All sums of values stay exact up to 2^62; beyond,
 * values are halved as often as necessary. */
extern const setmatch_method setmatch_methods[];

/* The method of that name, or NULL. */
const setmatch_method *setmatch_find_method(const char *name);

#define SETMATCH_BISECTION_RANKS 20000

int setmatch_auto(const setmatch_input *input, size_t *node_of_rank);

/* setmatch_place, refined when asked for. */
int setmatch_paper(const setmatch_input *input, size_t *node_of_rank);

/* The three phases level after level, each on the sets of the one before and with the threshold (at
 * least 10 per cent) relative to the largest weight that is left between sets. A set larger than a
 * node is cut along a walk: to the end of each branch on paths and rings, nearest first on others.
 */
int setmatch_levelled(const setmatch_input *input, size_t *node_of_rank);

/* Pairs of sets merge, the most bound first, as long as the largest node could hold them; then the
 * largest sets first go where they are bound to most. */
int setmatch_agglomerative(const setmatch_input *input, size_t *node_of_rank);

/* Multilevel recursive bisection. */
int setmatch_bisection(const setmatch_input *input, size_t *node_of_rank);

/* Stock policies, for comparison: nodes filled in order; one rank to each node in turn. Neither
 * refines. */
int setmatch_byslot(const setmatch_input *input, size_t *node_of_rank);
int setmatch_bynode(const setmatch_input *input, size_t *node_of_rank);

/* For comparison, as the paper describes MPIPP (Chen et al., ICS 2006): ranks at random, then the
 * best swap of two ranks (or of a rank and a free slot) again and again until none helps. */
int setmatch_mpipp(const setmatch_input *input, size_t *node_of_rank);

/* The same from a seed of one's own and with at most `swaps` swaps. */
int setmatch_mpipp_from(const setmatch_input *input, uint64_t seed, size_t swaps,
                        size_t *node_of_rank);

/* Values of setmatch_cartesian: with a threshold below 90 the sets are lines along the innermost
 * dimension, from 90 on they are the planes of one outermost coordinate (the paper's sets). */
#define SETMATCH_CARTESIAN_INNERMOST 100
#define SETMATCH_CARTESIAN_BETWEEN 10
#define SETMATCH_CARTESIAN_OUTERMOST 1

/* Which dimension of an array lies closest in the file: the last (C) or the first (Fortran). */
typedef enum setmatch_order { SETMATCH_ORDER_C, SETMATCH_ORDER_FORTRAN } setmatch_order;

/* The simplified matrix for a cartesian grid of ranks, numbered as MPI_Cart_create does (the last
 * coordinate runs fastest), whose blocks make up an array of that order in the file; nothing needs
 * to be recorded. Innermost is the dimension of extent > 1 that lies closest in the file, outermost
 * the one that lies least close: ranks that are neighbours along the innermost dimension and share
 * the outermost coordinate get a large value, other neighbours within the same outermost coordinate
 * a smaller one, and ranks whose outermost coordinates are neighbours the smallest. Sparse: O(ranks
 * * ndims) entries. -EINVAL: ndims is 0 or an extent is 0; -EOVERFLOW: the product of extents;
 * -ENOMEM. */
int setmatch_cartesian(const size_t *dims, size_t ndims, setmatch_order order, matrix *view);

/* ---- what a placement is worth ---- */

/* *inside and *total are the sums of V[i][j], i < j counted
 * once (V + transpose halved, rounded down), over pairs on one node and over all pairs; the
 * diagonal is ignored. -EINVAL: not square; -ERANGE: a sum beyond int64. */
int setmatch_weight(const matrix *view, const size_t *node_of_rank, int64_t *inside,
                    int64_t *total);

/* The paper's objective, smaller is better: *cost is the sum of V[i][j] / P over pairs i < j (V +
 * transpose halved), P being the bandwidth of what the two share. Uses view, nodes and network of
 * the input. -EINVAL: not square or a bandwidth that is not above 0. */
int setmatch_cost(const setmatch_input *input, const size_t *node_of_rank, double *cost);

/* Of the *total bytes of the profile, *crossing are not on the node that owns their part of the
 * file, the parts being given to nodes (numbered below `nodes`) by an auction within one hundredth
 * of an average part from the optimum each. -EINVAL: a malformed profile; -ERANGE; -ENOMEM. */
int setmatch_crossing(const setmatch_profile *profile, size_t nodes, const size_t *node_of_rank,
                      setmatch_domains domains, int64_t *crossing, int64_t *total);

/* The same with the input's domains, by what the bytes leave: crossing[0] their node, crossing[1 +
 * k] their group of level k; an entry more than the network has levels. Parts of the file are owned
 * as above, by nodes that keep most bytes, whatever the groups. Errors as above; -EINVAL: there is
 * no profile, or it is of other ranks. */
int setmatch_crossing_levels(const setmatch_input *input, const size_t *node_of_rank,
                             int64_t *crossing);

/* All of that for one placement. */
typedef struct setmatch_report {
    int64_t inside, total; /* weight of the view, as setmatch_weight */
    double cost;           /* as setmatch_cost */
    int64_t bytes;         /* of the profile; 0: there is none */
    int64_t crossing;      /* of these, with the domains of the input */
    int64_t crossing_even, crossing_fitted;
} setmatch_report;

/* Judges a placement by everything that the input holds. Errors of the functions above. */
int setmatch_judge(const setmatch_input *input, const size_t *node_of_rank,
                   setmatch_report *report);

/* The co-access matrix C * transpose(C) with each bin's products divided by the bin's bytes: what
 * two ranks have in common, in bytes; the upper triangle. In bins of more than 64 ranks each rank
 * is bound to the next 32 only, by accordingly more. -EINVAL: a malformed profile; -ERANGE;
 * -ENOMEM. Release with matrix_release. */
int setmatch_coaccess(const setmatch_profile *profile, matrix *coaccess);

#endif
