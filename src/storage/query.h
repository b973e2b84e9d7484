/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of an open file, as its file system says. Errors: as in storage.h.
 */
#ifndef STORAGE_QUERY_H
#define STORAGE_QUERY_H

#include "storage/storage.h"

/* How long the file system of an open file takes to answer. STORAGE_SLOW: it has to be connected to
 * (CephFS behind FUSE). */
typedef enum storage_speed { STORAGE_SILENT, STORAGE_FAST, STORAGE_SLOW } storage_speed;

/* One system call. */
storage_speed storage_get_speed(int fd);

/* A question, which a thread of its own asks. */
typedef struct storage_question storage_question;

/* Begins to ask the file system. Objects that cannot be listed (CephFS) are asked for one by one,
 * those with bytes of [from, to), in whole rounds of the stripe count and at least one; others have
 * no target. -ENOTSUP: this file system does not say; errors of system calls. The file may be
 * closed before the answer comes. The code must stay loaded. A connection to the servers (CephFS
 * behind FUSE) stays until the process exits. */
int storage_ask(int fd, int64_t from, int64_t to, storage_question **question, matrix_error *error);

/* Waits for the answer, until so many milliseconds have passed since the question began, and frees
 * the question. -ETIMEDOUT: not within that time; -ENOTSUP; -EACCES: the file system's servers
 * refuse to say; other errors of the file system. */
int storage_answer(storage_question *question, int milliseconds, storage_layout **layout,
                   matrix_error *error);

/* No one waits for the answer: the thread frees the question when it comes. NULL is fine. */
void storage_drop(storage_question *question);

/* Both: storage_ask, and storage_answer. */
int storage_query(int fd, int64_t from, int64_t to, int milliseconds, storage_layout **layout,
                  matrix_error *error);

/* Gives an open file, which must not have data, another striping. -ENOTEMPTY: it has data, and
 * stays as it was. Other errors and the time: as storage_query, but a file system that is late may
 * still do it, unless data come first. */
int storage_set_striping(int fd, const file_striping *striping, int milliseconds,
                         matrix_error *error);

#endif
