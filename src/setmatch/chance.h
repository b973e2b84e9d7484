/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random numbers of simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 220, 1983).
 * Reproducible. Private to this folder.
 */
#ifndef SETMATCH_CHANCE_H
#define SETMATCH_CHANCE_H

#include "base/mix.h"

/* SAMPLE: random swaps whose mean cost is the unit of the initial temperature. */
enum { CHANCE_QUANTILES = 256, CHANCE_SAMPLE = 200 };

typedef struct chance {
    uint64_t state;
    double quantile[CHANCE_QUANTILES]; /* of the exponential distribution */
} chance;

/* The quantiles are the expected values of as many sorted samples. */
static inline void chance_init(chance *c, size_t seed)
{
    double sum = 0;
    c->state = base_mix(seed) | 1;
    for (size_t k = CHANCE_QUANTILES; k-- > 0;)
        c->quantile[k] = sum += 1 / (double)(k + 1);
}

/* xorshift64 (Marsaglia 2003), which takes a few cycles. */
static inline uint64_t chance_draw(chance *c)
{
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return c->state;
}

/* A number below n < 2^21, from the k-th 21 bits of a drawn number. */
static inline size_t chance_below(size_t n, uint64_t drawn, unsigned k)
{
    return (size_t)(((drawn >> 21 * k) & 0x1fffff) * n >> 21);
}

/* The initial temperature of a run, as a share of the mean cost of a random swap: more leads too
 * far away, less nowhere. Which is best depends on the graph, so variants differ. */
static inline double chance_initial_share(size_t variant)
{
    static const double share[] = {.02, .1, .2, .05, .3};
    return share[variant % (sizeof share / sizeof share[0])];
}

/* The loss that is accepted at this temperature, by Metropolis' rule: a value of exponential
 * distribution, from eight of the upper 32 bits of a drawn number. */
static inline double chance_loss(const chance *c, uint64_t drawn, double temperature)
{
    return temperature * c->quantile[drawn >> 40 & (CHANCE_QUANTILES - 1)];
}

#endif
