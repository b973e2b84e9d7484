/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random numbers that are the same everywhere (SplitMix64), for tests that print their seed; which
 * cases a run takes of those that a test has.
 */
#ifndef TESTS_SEEDED_H
#define TESTS_SEEDED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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

static inline uint64_t number_of_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* Of RANDOM_CASES_DIVISOR cases a short run takes one. */
static inline uint64_t cases_divisor(void)
{
    uint64_t by = number_of_environment("RANDOM_CASES_DIVISOR", 1);
    return by > 1 ? by : 1;
}

/* How many random cases a test takes that usually takes so many: a part of them in a short run, and
 * where each takes fifty times as long, under valgrind. */
static inline uint64_t random_cases(uint64_t usual)
{
    return (usual - 1) / cases_divisor() + 1;
}

/* The seed of the first random case. Two values of TEST_SEED have no seeds in common. */
static inline uint64_t first_seed(void)
{
    return 1 + number_of_environment("TEST_SEED", 0) * 1000003;
}

/* Whether a run takes case `number` of a list of fixed cases that take long: a short run takes a
 * part of the list, at least one, and other ones with another TEST_SEED. */
static inline bool takes_part(uint64_t number, uint64_t count)
{
    uint64_t by = cases_divisor() < count ? cases_divisor() : count;
    return (number + first_seed()) % by == 0;
}

/* One random case for each seed. */
#define for_random_seeds(seed, usual)                                                              \
    for (uint64_t seed = first_seed(), seed##_end = seed + random_cases(usual); seed < seed##_end; \
         seed++)

#endif
