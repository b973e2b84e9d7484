/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a collective access needs aggregators, or each rank accesses the file itself.
 *
 * Aggregators pay where many small pieces of different ranks become few large ones, and where ranks
 * would write under the same lock of the file system in turn. Otherwise they only add a transfer
 * from rank to rank.
 */
#ifndef COLLECTIVE_AGGREGATION_H
#define COLLECTIVE_AGGREGATION_H

#include <stdbool.h>
#include <stdint.h>

#include "access/list.h"

typedef enum aggregation_choice {
    AGGREGATION_AUTOMATIC,
    AGGREGATION_ALWAYS,
    AGGREGATION_NEVER
} aggregation_choice;

/* An ordered access, of one rank or of all ranks (by maxima; `lo` by the minimum). */
typedef struct aggregation_access {
    int64_t lo;        /* first byte; of ranks without data: ACCESS_END */
    int64_t pieces;    /* contiguous pieces; the most of any rank */
    int64_t bytes;     /* the most of any rank */
    int64_t unaligned; /* the largest offset of a piece that does not begin at a multiple of
                          lock_unit; -1: there is none */
    int64_t lock_unit; /* what the file system locks together; 0: not known, or local */
} aggregation_access;

/* Describes the access of one rank. O(runs). */
aggregation_access aggregation_describe(const access_list *list, int64_t lock_unit);
/* The same access, moved by a distance. */
aggregation_access aggregation_move(const aggregation_access *access, int64_t distance);

/* Bytes for each piece of the rank with most pieces, as many as the rank with most bytes has: a
 * rank whose requests take less time than another's bytes delays nobody. Without pieces:
 * ACCESS_END. */
int64_t aggregation_piece(const aggregation_access *access);
/* Whether the access of all ranks should have aggregators. None are needed if no rank has more than
 * one piece, or aggregation_piece is worth a request, and, for writing, no two ranks write under
 * one lock. */
bool aggregation_pays(const aggregation_access *access, bool write);

/* Whether ranks may write under one lock if each writes its own data: pieces begin inside one. */
bool aggregation_shares_locks(const aggregation_access *access);

/* Whether an aggregator that gets `pieces` pieces saves requests to the file, by more than a fifth
 * of their number. If none does, writing by aggregators takes as many requests as writing by each
 * rank, by fewer ranks. */
bool aggregation_merges(int64_t pieces, int64_t saved);

#endif
