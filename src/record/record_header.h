/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The comment lines of a record: which runs added to it, and what is in it altogether.
 *
 * Functions return 0 or a negative errno value.
 */
#ifndef RECORD_RECORD_HEADER_H
#define RECORD_RECORD_HEADER_H

#include <stdbool.h>
#include <stdio.h>

#include "access/neighbours.h"

/* The comments end within this number of bytes of the file, runs included. */
#define RECORD_HEADER_BYTES ((size_t)16384)
#define RECORD_MOST_RUNS 32
#define RECORD_MOST_NAME 255 /* characters of the name of a program or run; the rest is cut off */

typedef struct record_totals {
    int64_t files, accesses;
    int64_t bytes;       /* accessed */
    int64_t independent; /* of these, without aggregators; not in the profile */
    int64_t missed;      /* accessed, but not in the matrix or the profile */
} record_totals;

/* -ERANGE: a sum beyond a quarter of int64, so that no sum of the matrix or the profile, where a
 * byte counts at most twice, exceeds int64; *sum is unchanged then. */
int record_totals_add(record_totals *sum, const record_totals *more);

/* Runs that record at the same time share a record. */
typedef struct record_run {
    char name[RECORD_MOST_NAME + 1];
    int64_t began; /* when it was put into the record: its stamp from then on */
} record_run;

/* Stamps are nanoseconds since 1970, and ascend from one version of a file to the next. */
typedef struct record_header {
    char program[RECORD_MOST_NAME + 1];
    size_t ranks;
    access_weight weight;
    int64_t written; /* the stamp of this version; 0: of an older release, or no record */
    size_t runs;     /* 0: no record */
    record_run run[RECORD_MOST_RUNS];
    record_totals totals;
} record_header;

/* The first `length` bytes of a file, up to RECORD_HEADER_BYTES of them, followed by a NUL; they
 * are modified. An empty file is no record. -EEXIST: the file is neither empty nor a record. */
int record_header_parse(record_header *header, char *text, size_t length);

/* Whether a file that begins so is a record, or the beginning of one. */
bool record_header_begins(const char *text, size_t length);

/* The comments as view_file.comments. Returns NULL without memory; the caller frees it. */
char *record_header_format(const record_header *header);

/* Cut off, and with '?' for control characters. */
void record_header_copy_name(char name[RECORD_MOST_NAME + 1], const char *from);

/* The run of that name, or NULL. */
const record_run *record_header_find(const record_header *header, const char *name);

/* A stamp for the version that follows this one: now, or later. */
int64_t record_header_next_stamp(const record_header *header);

#endif
