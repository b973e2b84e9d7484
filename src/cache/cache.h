/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The records of a user's programs: one folder, $XDG_CACHE_HOME/openmpi-tatp, by default
 * ~/.cache/openmpi-tatp, with a file KEY.crs for each program, number of ranks and arguments
 * (program.h). It was changed when the program was recorded, and read when it was used last. mpirun
 * tells the ranks its folder, as their variables may differ.
 *
 * The folder belongs to the effective user and has mode 0700; otherwise nothing in it is used.
 * Files are replaced as a whole, so that any number of jobs may use the folder at the same time,
 * and a killed job leaves at worst a file that is removed later.
 *
 * Functions return 0 or a negative errno value.
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/program.h"

#define CACHE_FOLDER "RMAPS_DLA_CACHE" /* the variable of the folder that mpirun tells */

/* What cache_trim leaves. */
#define CACHE_MOST_ENTRIES 256
#define CACHE_MOST_ARGUMENTS 16 /* entries of one program and number of ranks */
#define CACHE_MOST_BYTES (INT64_C(256) << 20)
#define CACHE_MOST_DAYS 90 /* since the last run */

/* The folder's name; the caller frees it. -ENXIO: no variable has an absolute name. */
int cache_path(char **path);

/* Opens the folder, which is created if `create`. Returns a descriptor, which the caller closes, or
 * a negative errno: -ENOENT: there is none; -EPERM: it is not the user's alone; -ENXIO; errors of
 * the file system. */
int cache_open(bool create);

/* The reason of an error for a message, after "because of an error: ". */
const char *cache_reason(int rc);

/* Opens the record for reading. used: for a run, which is noted. Returns a descriptor, which the
 * caller closes, or a negative errno: -ENOENT: none; -EPERM: it is not the user's, or no file. */
int cache_open_record(int folder, const cache_key *key, bool used);

/* The record's file in the folder; the caller frees it. -ENXIO; -ENOMEM. */
int cache_record_path(const cache_key *key, char **path);

/* Removes the record, if it exists. */
int cache_remove(int folder, const cache_key *key);

typedef struct cache_entry {
    cache_key key;
    int64_t bytes;
    int64_t recorded, used; /* seconds since 1970 */
} cache_entry;

/* All entries, the one that was used last first. The caller frees the array. */
int cache_list(int folder, cache_entry **entries, size_t *count);

/* Removes what is too old, too many or too large, the least recently used first, and what killed
 * jobs left. */
int cache_trim(int folder);

#endif
