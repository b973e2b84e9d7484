/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that are worth building for more than one processor, and access to memory. For the
 * solvers only.
 */
#ifndef LAP_PROCESSOR_H
#define LAP_PROCESSOR_H

#include <limits.h> /* defines __GLIBC__ */

/* Marks a function that is compiled for baseline processors and for those with AVX2 or AVX-512,
 * where the dynamic linker can select one of them. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* While one block of 32 costs is read, fetches the eighth after it: processors do not look beyond
 * a page. Of no effect beyond the end of the costs. */
static inline void fetch_ahead(const void *block)
{
    enum { LINE = 64, BYTES = 256, AHEAD = 8 * BYTES };
    for (const char *line = block, *end = line + BYTES; line < end; line += LINE)
        __builtin_prefetch(line + AHEAD);
}

#endif
