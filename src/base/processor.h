/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that are worth building for more than one processor.
 */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include <limits.h> /* defines __GLIBC__ */

/* Marks a function that is compiled for baseline processors and for those with AVX2 or AVX-512,
 * where the dynamic linker can select one of them. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

#endif
