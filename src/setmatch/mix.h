/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproducible pseudo-random numbers. Private to this folder.
 */
#ifndef SETMATCH_MIX_H
#define SETMATCH_MIX_H

#include <stddef.h>
#include <stdint.h>

/* A 64-bit hash: the finalizer of splitmix64. */
static inline uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* A stride coprime to n, so that steps modulo n visit every number below n once; about n divided by
 * the golden ratio, less for variants 1 .. 7. */
static inline size_t mixed_stride(size_t n, size_t variant)
{
    size_t stride = (size_t)((double)n * (0.6180339887498949 - 0.07 * (double)(variant % 8)));
    for (stride |= 1; n > 1; stride++) {
        size_t a = n, b = stride;
        while (b != 0) {
            size_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return stride;
}

#endif
