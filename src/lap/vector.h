/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inner loops over dense costs: whole blocks without branches, which compilers vectorize. For
 * the solvers only.
 */
#ifndef LAP_VECTOR_H
#define LAP_VECTOR_H

#include "lap/processor.h"
#include "lap/state.h"

#define INLINED static inline __attribute__((always_inline))

/* BLOCK: objects per iteration. CHAINS: independent chains of comparisons, which hide latency. */
enum { BLOCK = 32, CHAINS = 8 };

static inline size_t blocks_of(const struct state *s)
{
    return (s->objects + BLOCK - 1) / BLOCK;
}

INLINED cost_t lesser(cost_t a, cost_t b)
{
    return a < b ? a : b;
}

/* `count` is a multiple of CHAINS. */
INLINED cost_t least_of(const cost_t *key, size_t count)
{
    cost_t chain[CHAINS];
    for (size_t c = 0; c < CHAINS; c++)
        chain[c] = key[c];
    for (size_t k = CHAINS; k < count; k += CHAINS)
        for (size_t c = 0; c < CHAINS; c++)
            chain[c] = lesser(key[k + c], chain[c]);
    for (size_t c = 0; c < CHAINS / 2; c++)
        chain[c] = lesser(chain[c + CHAINS / 2], chain[c]);
    for (size_t c = 0; c < CHAINS / 4; c++)
        chain[c] = lesser(chain[c + CHAINS / 4], chain[c]);
    return lesser(chain[1], chain[0]);
}

INLINED cost_t greater(cost_t a, cost_t b)
{
    return a > b ? a : b;
}

#define FOUR_BITS(k)                                                                               \
    INT64_C(1) << (k), INT64_C(1) << ((k) + 1), INT64_C(1) << ((k) + 2), INT64_C(1) << ((k) + 3)

/* A table, as shifts do not become vectors. */
static const int64_t vector_bit[BLOCK] = {FOUR_BITS(0),  FOUR_BITS(4),  FOUR_BITS(8),
                                          FOUR_BITS(12), FOUR_BITS(16), FOUR_BITS(20),
                                          FOUR_BITS(24), FOUR_BITS(28)};

/* Bit k: key[k] is below the limit, and above COST_MIN. */
INLINED uint32_t mask_below(const cost_t *restrict key, cost_t limit)
{
    int64_t mask = 0;
    for (size_t k = 0; k < BLOCK; k++) {
        int64_t below = key[k] < limit ? vector_bit[k] : 0;
        mask |= key[k] > COST_MIN ? below : 0;
    }
    return (uint32_t)mask;
}

/* A k where key[k] is this, which there is: the first one from `place` on, or of all. */
INLINED size_t index_of(const cost_t *restrict key, cost_t value, size_t place)
{
    int64_t mask = 0;
    for (size_t k = 0; k < BLOCK; k++)
        mask |= key[k] == value ? vector_bit[k] : 0;
    uint32_t all = (uint32_t)mask, later = all >> place << place;
    return (size_t)__builtin_ctz(later != 0 ? later : all);
}

/* key = reduced cost. */
INLINED void reduce_pairs(const cost_t *restrict cost, const cost_t *restrict price,
                          cost_t *restrict key, size_t count)
{
    for (size_t k = 0; k < count; k++)
        key[k] = reduced(cost[k], price[k]);
}

/* The same for all of key[BLOCK], COST_MAX beyond `count`; returns the least. */
INLINED cost_t reduce_block(const cost_t *cost, const cost_t *price, cost_t *key, size_t count)
{
    if (count == BLOCK) {
        fetch_ahead(cost);
        reduce_pairs(cost, price, key, BLOCK);
    } else {
        for (size_t k = 0; k < BLOCK; k++)
            key[k] = COST_MAX;
        reduce_pairs(cost, price, key, count);
    }
    return least_of(key, BLOCK);
}

/* The same of the block of a row that begins with object `first`. */
INLINED cost_t reduce_block_of(const struct state *s, const cost_t *row, size_t first, cost_t *key)
{
    size_t left = s->objects - first;
    return reduce_block(row + first, s->price + first, key, left < BLOCK ? left : BLOCK);
}

/* Lowers least[] to cost[]; of[] is the person of the least. Each loop does one thing: then both
 * become vectors. */
INLINED void lower_least(const cost_t *restrict cost, cost_t *restrict least, size_t *restrict of,
                         size_t person, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t previous = of[k]; /* read and written for all, so without a branch */
        of[k] = cost[k] < least[k] ? person : previous;
    }
    for (size_t k = 0; k < count; k++)
        least[k] = lesser(cost[k], least[k]);
}

/* The same of a whole block. Most blocks have nothing lower. */
INLINED void lower_whole_block(const cost_t *restrict cost, cost_t *restrict least,
                               size_t *restrict of, size_t person)
{
    int64_t lower = 0;
    for (size_t k = 0; k < BLOCK; k++)
        lower |= cost[k] < least[k] ? -1 : 0;
    if (lower != 0)
        lower_least(cost, least, of, person, BLOCK);
}

#endif
