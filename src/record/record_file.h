/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The record file: a view file (matrix/view_file.h) about one run of a program.
 *
 * Several processes of a run may add to it (sub-communicators). They take turns by a lock file,
 * PATH.lock. Each adds to the record if it stems from the same run, replaces it otherwise, and puts
 * the new file in place by a rename, so that a killed process leaves the old file or the new one.
 *
 * Functions return 0 or a negative errno value.
 */
#ifndef RECORD_RECORD_FILE_H
#define RECORD_RECORD_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "access/neighbours.h"
#include "matrix/view_file.h"

/* What the comment lines of a record say. `run` differs between any two runs, and is the same in
 * all processes of one; no newline. */
typedef struct record_origin {
    const char *program, *run;
    size_t ranks;
    access_weight weight;
} record_origin;

typedef struct record_totals {
    int64_t files, accesses;
    int64_t bytes;       /* accessed */
    int64_t independent; /* of these, without aggregators; not in the profile */
    int64_t missed;      /* accessed, but not in the matrix or the profile */
} record_totals;

/* What one process adds. A zeroed one is empty; view.rows and view.cols are set to the number of
 * ranks before entries are added. */
typedef struct record_addition {
    matrix_builder view;
    view_file profile; /* patterns only */
    record_totals totals;
} record_addition;

/* Releases the contents and leaves a zeroed one. */
void record_addition_release(record_addition *addition);

/* The record as this process wrote it last: it is not read again while the file is still the same
 * one. A zeroed one is empty. Private. */
typedef struct record_file {
    bool known;
    struct stat status;
    view_file record;
    record_totals totals;
} record_file;

void record_file_release(record_file *file);

/* Adds to the record at `path`, waiting for other processes that do; the addition keeps its
 * contents. After an error the file is
 * what it was before. -EBADMSG: the file stems from this run but is malformed; -EINVAL: it is about
 * another number of ranks; -ERANGE: a sum beyond int64; -ENOMEM; errors of the file system. */
int record_file_add(record_file *file, const char *path, const record_origin *origin,
                    record_addition *addition);

/* Whether a record can be written to `path`: creates and removes a file beside it. */
int record_file_check(const char *path);

#endif
