/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selection of the k-th least of some costs. For the solvers only.
 */
#ifndef LAP_SELECT_H
#define LAP_SELECT_H

#include "lap/state.h"

/* Moves the keys below the pivot, or equal to it as well, before the others, without branches,
 * which would be mispredicted. Returns the index of the first of the others. */
static inline size_t partition_keys(cost_t *key, size_t first, size_t end, cost_t pivot, bool equal)
{
    for (size_t i = first; i < end; i++) {
        cost_t moved = key[i];
        key[i] = key[first];
        key[first] = moved;
        first += equal ? moved <= pivot : moved < pivot;
    }
    return first;
}

/* The k-th least key, from 0; reorders the keys. Pivots are pseudo-random, so that no likely order
 * of costs is slow.
 */
static inline cost_t select_least(cost_t *key, size_t count, size_t k)
{
    uint64_t drawn = 1;
    size_t low = 0, high = count;
    for (;;) {
        drawn = drawn * UINT64_C(6364136223846793005) + 1;
        cost_t pivot = key[low + (size_t)((drawn >> 33) * (high - low) >> 31)];
        size_t equal = partition_keys(key, low, high, pivot, false);
        if (k < equal) {
            high = equal;
            continue;
        }
        low = partition_keys(key, equal, high, pivot, true);
        if (k < low)
            return pivot;
    }
}

#endif
