/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mixing of bits: reproducible pseudo-random numbers, and digests to compare data by. Not for data
 * that somebody may have chosen to collide.
 */
#ifndef BASE_MIX_H
#define BASE_MIX_H

#include <stdint.h>

/* A 64-bit hash: a step of SplitMix64. */
static inline uint64_t base_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The digest of a sequence with one value more. */
static inline uint64_t base_digest(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

/* The digest of a sequence with the bytes of a text more. */
static inline uint64_t base_digest_text(uint64_t digest, const char *text)
{
    for (; *text != '\0'; text++)
        digest = base_digest(digest, (unsigned char)*text);
    return digest;
}

#endif
