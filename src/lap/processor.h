/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that are worth building for more than one processor. For the solvers only.
 */
#ifndef LAP_PROCESSOR_H
#define LAP_PROCESSOR_H

#include <limits.h> /* defines __GLIBC__ */

/* Marks a function that is compiled for baseline processors and for those with AVX2, where the
 * dynamic linker can select one of the two. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

#endif
