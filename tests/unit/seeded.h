/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random numbers that are the same everywhere (SplitMix64), for tests that print their seed.
 */
#ifndef TESTS_SEEDED_H
#define TESTS_SEEDED_H

#include <stdint.h>
#include <stdlib.h>

/* The seed of the first random case: 1, or another one for each value of TEST_SEED in the
 * environment. */
static inline uint64_t first_seed(void)
{
    const char *seed = getenv("TEST_SEED");
    return seed != NULL ? 1 + strtoull(seed, NULL, 10) * 1000003 : 1;
}

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* An integer from low to high, both included. */
static inline int64_t pick(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(next_random(state) % (uint64_t)(high - low + 1));
}

#endif
