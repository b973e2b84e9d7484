/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that is replaced as a whole, by one writer at a time: what has its name is never modified.
 * The next version is written to FILE.new, which its writer keeps locked (an fcntl lock of the open
 * file description, which ends with the process), and renamed; it stays locked until its writer
 * closes it. What a killed writer left there is overwritten by the next one.
 *
 * Functions return 0 or a negative errno value: that of the failed call, or what is stated.
 */
#ifndef RECORD_RECORD_STORE_H
#define RECORD_RECORD_STORE_H

#include <stdbool.h>
#include <stddef.h>

/* Waiting for other writers ends after this time. */
#define RECORD_STORE_SECONDS 30

/* Zeroed, with fd -1: none. */
typedef struct record_store {
    char *file; /* a regular file, or nothing has this name; where the path is a link, its target */
    char *next; /* FILE.new; NULL once it has become the file */
    char *kept; /* FILE~ */
    int fd;     /* of the next version, locked */
} record_store;

/* Begins the next version of the file that `path` is or, as a symbolic link, points to; what a link
 * points to is made if it is missing. -EISDIR; -EINVAL: another kind of file; -EPERM: the link or
 * FILE.new is another user's; -ENOTUNIQ: FILE.new is neither a record nor the beginning of one;
 * -ETIMEDOUT: another process keeps it locked. */
int record_store_begin(record_store *store, const char *path);

/* Opens a version, store->file or store->kept, for reading; the caller closes the descriptor.
 * -ENOENT: there is none; -EISDIR and -EINVAL as above. */
int record_store_open(const char *name);

/* Whether a version may become FILE~. -ENOTUNIQ: something that is no record has this name. */
int record_store_check_kept(const record_store *store);

/* Writes the next version, and puts it in place of the present one, whose permissions it gets;
 * without one, or with another user's, it has those that the umask gives. keep: the present one,
 * which exists, becomes FILE~. -ENOTUNIQ: as above. */
int record_store_commit(record_store *store, const char *text, size_t length, bool keep);

/* Removes a version that was not put in place, and releases the memory. */
void record_store_end(record_store *store);

#endif
