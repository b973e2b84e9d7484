/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs without MPI end, with a message, where memory or a function fails. */
#ifndef BENCH_MUST_H
#define BENCH_MUST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline _Noreturn void refuse(const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, detail);
    exit(EXIT_FAILURE);
}

/* A negative errno value. */
static inline void must(int rc, const char *what)
{
    if (rc != 0)
        refuse(what, strerror(-rc));
}

/* Zeroed. */
static inline void *allocate(size_t count, size_t size)
{
    void *array = calloc(count | 1, size);
    must(array == NULL ? -ENOMEM : 0, "memory");
    return array;
}

#endif
