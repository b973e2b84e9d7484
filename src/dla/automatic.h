/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement by the record that an earlier run of the program left in the user's cache (src/cache):
 * file=auto. Or by the record that `tatp run` has found: file=auto:NAME.
 */
#ifndef DLA_AUTOMATIC_H
#define DLA_AUTOMATIC_H

#include <stddef.h>
#include <stdio.h>

#include "cache/cache.h"

/* What the launcher starts, on all ranks; borrowed. */
typedef struct dla_program {
    const char *name;      /* as the user wrote it */
    char *const *argument; /* ends with NULL; argument[0] is the name */
    const char *folder;    /* in which it is started; absolute */
} dla_program;

typedef struct dla_automatic {
    int folder; /* a descriptor; -1: the record is of no cache */
    cache_key key;
    char *path; /* of the record */
    FILE *record;
} dla_automatic;

/* Finds the record of the program with that number of ranks and these arguments; or, where the two
 * others that were used last have the same view in spite of different arguments, the last one. 0;
 * another negative errno, mostly -ENOENT: there is none that may be used. */
int dla_automatic_open(dla_automatic *a, const dla_program *program, size_t ranks);
void dla_automatic_close(dla_automatic *a);

#endif
