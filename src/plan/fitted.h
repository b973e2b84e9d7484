/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fitted file domains: the accessed range is cut into units, and units are assigned to aggregators
 * with minimum hop-bytes so that all aggregators own equally many units. This is a transportation
 * problem, solved by a sparse auction. doc/fitted.md has the method.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success. Equal input gives
 * equal output. Sums are exact below 2^53.
 */
#ifndef PLAN_FITTED_H
#define PLAN_FITTED_H

#include "matrix/matrix.h"
#include "topo/distances.h"

typedef struct fitted_input {
    const matrix *bytes;  /* units x nodes: bytes of the unit that the node's ranks access,
                             >= 0; units in the order of the file */
    const topo *topology; /* its nodes are the columns of `bytes` */
    const size_t *node_of_aggregator; /* `aggregators` entries */
    size_t aggregators;               /* at least 1 */
} fitted_input;

/* Zeroed: the defaults. */
typedef struct fitted_options {
    /* Another assignment (units entries), such as even contiguous domains: fitted_assign returns it
     * unless fitted units save more than least_saving, so the result never costs more. Its balance
     * is not checked. NULL: none. */
    const size_t *alternative;
    double least_saving; /* as part of the alternative's hop-bytes */
    /* Minimum rise of a price, in bytes of the average unit times one hop: the result is within
     * that part of all bytes of the optimum unless a price war raised it. 0: .01, then .002 if the
     * bound leaves a gap above .002. */
    double epsilon;
} fitted_options;

/* Hop-bytes count TOPO_SAME_NODE for a byte that stays on its node, whichever rank of the node is
 * its aggregator. */
typedef struct fitted_report {
    double bytes;               /* accessed in all */
    double crossing, hop_bytes; /* of the result; crossing: bytes that leave their node */
    double lower_bound;         /* no assignment within one unit of balance has fewer hop-bytes;
                                   hop_bytes - lower_bound bounds the gap to the optimum */
    double alternative_crossing, alternative_hop_bytes; /* 0 without an alternative */
    size_t loaded;                                      /* units with bytes */
    size_t runs; /* ranges of adjacent units with one aggregator */
    size_t bids; /* of all auctions: their work */
    int took_alternative;
} fitted_report;

/* The aggregator of each unit. The numbers of units with bytes differ by at most one between
 * aggregators; on a node they are dealt to its aggregators in file order, as contiguous as that
 * allows. A unit without bytes gets the aggregator of its left neighbour while that has less than
 * ceil(units / aggregators) in all, else another. Ties prefer the node of the left neighbour.
 * `options` and `report` may be NULL. -EINVAL: no aggregator, one on a node that is not in the
 * topology, columns other than the topology's nodes, a negative number of bytes, an alternative
 * that names no aggregator, epsilon or least_saving negative or NaN; -ENOMEM. */
int fitted_assign(const fitted_input *in, const fitted_options *options, size_t *aggregator_of_unit,
                  fitted_report *report);

/* Part of the hop-bytes that fitted domains must save to be chosen by default: below it, larger
 * accesses to the file are worth more. */
#define FITTED_LEAST_SAVING .05

/* Whether fitted domains could save the part `saving` of the hop-bytes of even ones, which cost
 * `even_hop_bytes` (plan_hop_bytes) with `crossing_bytes` between nodes; and whether they do, even
 * if no aggregator accesses bytes of its own domain then: so they never cost more. */
int fitted_may_serve(double even_hop_bytes, int64_t crossing_bytes, double saving);
int fitted_serves(const fitted_report *report, double even_hop_bytes, double saving);

/* Bytes of the smallest unit of [from, to), counted from the beginning of a unit: `wanted`, or (0)
 * the size of blocks that file systems lock, cache and place; rounded up to whole stripes if these
 * are known (stripe > 0); doubled until the number of units can be planned for. wanted, stripe >=
 * 0; 0 <= from < to. */
int64_t fitted_smallest_unit(int64_t wanted, int64_t stripe, int64_t from, int64_t to);

/* Limits of the unit size. Zeroed: the defaults. */
typedef struct fitted_unit_options {
    uint64_t first;     /* number of the first unit in the file, in smallest units: larger units
                           begin at multiples of their size in the file */
    size_t aggregators; /* 0: ignore the balance */
    double tolerance;   /* 0: .02; negative: none */
} fitted_unit_options;

typedef struct fitted_unit_choice {
    matrix bytes;          /* of the chosen units; release with matrix_release */
    unsigned doublings;    /* of the smallest unit */
    double bound;          /* minimum part of all bytes that crosses nodes with that unit */
    double smallest_bound; /* with the smallest unit */
} fitted_unit_choice;

/* Minimum part of all bytes that crosses nodes with these units, for any balance:
 * 1 - (sum over units of the most that one node accesses) / (all bytes); 0 without bytes. */
double fitted_crossing_bound(const matrix *bytes);

/* The largest unit, the smallest one (the rows of `smallest`) doubled repeatedly, whose crossing
 * bound is at most `tolerance` above that of the smallest one. With `aggregators`, the largest
 * share must also be at most `tolerance` above the average, or no worse than with the smallest
 * unit. O(nonzeros) for each doubling, which reduces them. -EINVAL: a negative number of bytes,
 * tolerance is NaN; -ERANGE: a sum beyond int64; -ENOMEM. */
int fitted_choose_unit(const matrix *smallest, const fitted_unit_options *options,
                       fitted_unit_choice *choice);

#endif
