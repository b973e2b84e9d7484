/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The record: a view file (matrix/view_file.h) about one run of a program.
 *
 * Several processes of a run may add to it (sub-communicators), and several runs of one program
 * with the same number of ranks that record at the same time. What was in the file before a run
 * opened it is replaced; the record of another program or number of ranks is kept as FILE~. If
 * another program, or another number of ranks, records into the file at the same time, the run that
 * comes later uses FILE.2, or the next number that is free.
 *
 * A process keeps all that it has added, and compares stamps in the file: if another run took its
 * record for an earlier one and replaced it, it adds everything again.
 *
 * Functions return 0 or a negative errno value. Not for concurrent use of one object.
 */
#ifndef RECORD_RECORD_FILE_H
#define RECORD_RECORD_FILE_H

#include <stdbool.h>

#include "matrix/view_file.h"
#include "record/record_header.h"

/* FILE, FILE.2, ... FILE.9. */
#define RECORD_FILE_NAMES 9

/* No range of an access that is added ends beyond this offset, so that no sum and no bin of the
 * profile ends beyond int64. */
#define RECORD_FILE_MOST_OFFSET (INT64_C(1) << 61)

/* What a record is about. `run` is the same in all processes of a run, and differs between any two
 * runs that write at the same time. A later run may have the name of an earlier one: in what is
 * there when the file is opened, a run that began before `started` is an earlier one. */
typedef struct record_origin {
    const char *program, *run;
    access_weight weight;
    int64_t started; /* nanoseconds since 1970; not after any write of the run; 0: not known */
} record_origin;

/* An access, or several like it. */
typedef struct record_entry {
    matrix view;            /* a row for each rank of the run */
    access_pattern pattern; /* its file is not set */
    matrix bytes;           /* the profile; no rows: none */
    record_totals totals;   /* of one access; `files` is not used */
} record_entry;

void record_entry_release(record_entry *entry);

typedef struct record_file record_file;

/* Prepares for recording: looks at what is there. -EISDIR, -EINVAL: neither a regular file nor a
 * link to one; -EEXIST: neither empty nor a record; -ENOMEM; errors of the file system. */
int record_file_open(record_file **file, const char *path, const record_origin *origin);
void record_file_free(record_file *file);

/* Whether the object is for that path and weight. */
bool record_file_is(const record_file *file, const char *path, access_weight weight);

/* The path that was opened, and that of the record now: the same, or with a number. */
const char *record_file_path(const record_file *file);
const char *record_file_place(const record_file *file);

/* Adds the entry `times` times, on a file of that name; new_file: the first one on it. Nothing is
 * written. -EINVAL: another number of ranks than before; -ERANGE: a range beyond
 * RECORD_FILE_MOST_OFFSET, or too large a sum, then nothing is added; -ENOMEM: a part may be
 * missing. */
int record_file_add(record_file *file, const char *name, const record_entry *entry, int64_t times,
                    bool new_file);

/* Of all that was added. */
record_totals record_file_totals(const record_file *file);

/* What a user should know about a call of record_file_write. */
typedef struct record_news {
    bool elsewhere;    /* it put the run into a file of another name than that which was opened */
    size_t kept_ranks; /* it replaced a record of another program or number of ranks, that of: */
    char kept_program[RECORD_MOST_NAME + 1];
} record_news;

/* Writes what was added and is not in the file. After an error the file is what it was before, and
 * another call writes all. -EBADMSG: the record of this run in the file is damaged; -ETIMEDOUT:
 * another process keeps the file locked; -EBUSY: no name is free; -ENOTUNIQ: FILE.new or FILE~ is
 * something else; -ERANGE: a sum; -EEXIST, -EISDIR, -EINVAL: as record_file_open; -ENOMEM; errors
 * of the file system. */
int record_file_write(record_file *file, record_news *news);

/* The reason of an error for a message, after "because of an error: ". */
const char *record_file_reason(int rc);

#endif
