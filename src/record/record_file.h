/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The record: a view file (matrix/view_file.h) about one run of a program.
 *
 * Several processes of a run may add to it (rank 0 of each communicator that opened files), each
 * when it ends. One of them writes at a time (record_store.h): the first one replaces the record of
 * an earlier run, the others add to what is there. Each keeps its last version locked until its
 * end. So of runs at the same time the first one that writes keeps the file: another one finds a
 * locked version that is not its own, and gives up. So does a process whose run's version is gone.
 *
 * Functions return 0 or a negative errno value. Not for concurrent use of one object.
 */
#ifndef RECORD_RECORD_FILE_H
#define RECORD_RECORD_FILE_H

#include <stdbool.h>

#include "matrix/view_file.h"
#include "record/record_header.h"

/* No range of an access that is added ends beyond this offset, so that no sum and no bin of the
 * profile ends beyond int64. */
#define RECORD_FILE_MOST_OFFSET (INT64_C(1) << 61)

/* An access, or several like it. */
typedef struct record_entry {
    matrix view;            /* a row for each rank of the run */
    access_pattern pattern; /* its file is not set */
    matrix bytes;           /* the profile; no rows: none */
    int64_t accessed;       /* bytes of one access */
    size_t *order;          /* as that of a view_file */
} record_entry;

void record_entry_release(record_entry *entry);

typedef struct record_file record_file;

/* What a record is about. `run` is the same in all processes of a run, and differs between any two
 * runs that write at the same time. A later run may have the name of an earlier one: a file that
 * was changed before `started` is an earlier one's. */
typedef struct record_origin {
    const char *program, *run;
    int64_t started;  /* nanoseconds since 1970; not after any write of the run; 0: not known */
    const char *file; /* of the program; "": not told */
} record_origin;

/* Prepares for recording, and looks at what is there. -EISDIR, -EINVAL: neither a regular file nor
 * a link to one; -EEXIST: neither empty nor a record; the errors of record_file_write for FILE.new
 * and FILE~; -ENOMEM; errors of the file system. */
int record_file_open(record_file **file, const char *path, const record_origin *origin);
void record_file_free(record_file *file);

const char *record_file_path(const record_file *file);

/* Adds the entry `times` times, on a file of that name; new_file: the first one on it. Nothing is
 * written. -EINVAL: another number of ranks than before; -ERANGE: a range beyond
 * RECORD_FILE_MOST_OFFSET, or too large a sum, then nothing is added; -ENOMEM: a part may be
 * missing. */
int record_file_add(record_file *file, const char *name, const record_entry *entry, int64_t times,
                    bool new_file);

/* What a user should know about a call of record_file_write. */
typedef struct record_news {
    bool is_first;        /* the run was not in the file: a new record, or one in place of this: */
    record_header before; /* of an earlier run; without one zeroed */
    bool keeps; /* that one is of another program or number of ranks, and has become FILE~ */
} record_news;

/* Writes what was added, which is empty then. After an error the file is what it was before; an
 * older FILE~ may be lost.
 * -EALREADY: it is news->before of another run at the same time, or a version of this one is gone;
 * -EBADMSG: the record of this run in the file is damaged; -ETIMEDOUT: another process keeps
 * FILE.new locked; -ENOTUNIQ: FILE.new or FILE~ is something else; -ERANGE: a sum; -EEXIST,
 * -EISDIR, -EINVAL: as record_file_open; -ENOMEM; errors of the file system. */
int record_file_write(record_file *file, record_news *news);

/* The reason of an error for a message, after "because of an error: ". */
const char *record_file_reason(int rc);

#endif
