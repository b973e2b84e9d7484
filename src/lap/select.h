/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selection of the k-th least of some costs. For the solvers only.
 */
#ifndef LAP_SELECT_H
#define LAP_SELECT_H

#include "lap/state.h"

static inline void swap_keys(cost_t *a, cost_t *b)
{
    cost_t other = *a;
    *a = *b;
    *b = other;
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
        size_t equal = low, greater = high;
        for (size_t i = low; i < greater;)
            if (key[i] < pivot)
                swap_keys(&key[i++], &key[equal++]);
            else if (pivot < key[i])
                swap_keys(&key[i], &key[--greater]);
            else
                i++;
        if (k >= equal && k < greater)
            return pivot;
        *(k < equal ? &high : &low) = k < equal ? equal : greater;
    }
}

#endif
