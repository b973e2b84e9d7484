/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The comment lines of a record: what run wrote it, and what is in it altogether.
 *
 * Functions return 0 or a negative errno value.
 */
#ifndef RECORD_RECORD_HEADER_H
#define RECORD_RECORD_HEADER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The comments end within this number of bytes of the file. */
#define RECORD_HEADER_BYTES ((size_t)16384)
#define RECORD_MOST_NAME 255 /* characters of the name of a program or run; the rest is cut off */

typedef struct record_totals {
    int64_t files, accesses;
    int64_t bytes; /* accessed */
} record_totals;

/* -ERANGE: a sum beyond a quarter of int64, so that no sum of the matrix or the profile, where a
 * byte counts at most twice, exceeds int64; *sum is unchanged then. */
int record_totals_add(record_totals *sum, const record_totals *more);

typedef struct record_header {
    char program[RECORD_MOST_NAME + 1], run[RECORD_MOST_NAME + 1]; /* run "": no record */
    char file[PATH_MAX]; /* of the program; "": not known */
    size_t ranks;
    record_totals totals;
} record_header;

/* Reads the header of an open file. An empty file is no record. -EEXIST: the file is neither empty
 * nor a record; -ENOMEM; errors of the file system. */
int record_header_read(record_header *header, int fd);

/* Whether the process that wrote the version that is open as fd keeps it locked (record_store.h).
 */
bool record_header_is_held(int fd);

/* Whether a process of that run wrote the version that is open as fd. `run` is the run's name,
 * which earlier runs may have had: they hold no version, and changed it before `started`, which is
 * as in record_origin. */
bool record_header_is_of_run(const record_header *header, int fd, const char *run, int64_t started);

/* 0: the file is a record, the beginning of one, or empty. -EEXIST: neither; errors of the file
 * system. */
int record_header_check_begin(int fd);

/* The comments as view_file.comments. Returns NULL without memory; the caller frees it. */
char *record_header_format(const record_header *header);

/* Cut off, and with '?' for control characters. */
void record_header_copy_name(char *name, size_t size, const char *from);

#endif
