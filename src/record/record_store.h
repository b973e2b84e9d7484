/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that several processes, also of several nodes, read and replace in turn.
 *
 * What has the name of the file is never modified, but replaced as a whole: a killed process leaves
 * the old version or the new one. Whoever replaces a version holds its lock, an fcntl lock of an
 * open file description, which ends with the process. There is no lock file. The new version has no
 * name, or the file's with ".new", until it is complete; a ".new" that a killed process left is
 * removed by the next one.
 *
 * Functions return 0 or a negative errno value: that of the failed call, or what is stated.
 */
#ifndef RECORD_RECORD_STORE_H
#define RECORD_RECORD_STORE_H

#include <stddef.h>

/* Waiting for the lock of one version ends after this time. */
#define RECORD_STORE_SECONDS 30

/* The regular file that `path` is or, as a symbolic link, points to; if there is nothing of that
 * name, `path` itself. The caller frees it. -EISDIR; -EINVAL: another kind of file, or a link to
 * nothing. */
int record_store_resolve(const char *path, char **file);

/* Opens the present version for reading; the caller closes the descriptor. -ENOENT: there is none;
 * -EISDIR and -EINVAL as above. */
int record_store_open(const char *file);

/* The same, with its lock; it remains the present version until the descriptor is closed. Waits for
 * the lock, which another process may keep: -ETIMEDOUT. */
int record_store_lock(const char *file);

/* Reads the first bytes of a version, at most `capacity`, into the text. Returns their number. */
long record_store_read(int fd, char *text, size_t capacity);

/* Replaces the locked version `fd`, whose permissions are kept; or, where fd is negative, creates
 * the first version, with those that the umask gives. -EAGAIN: there is a version by now, maybe an
 * empty one; -ENOTUNIQ: the file's name with ".new" is taken. */
int record_store_put(const char *file, int fd, const char *text, size_t length);

/* Copies the locked version `fd` to the file's name with "~", where it replaces an earlier copy.
 * -ENOTUNIQ: that name is taken by something other than a record; nothing is changed then. */
int record_store_keep(const char *file, int fd);

/* Whether files can be created beside the file, and locked. */
int record_store_check(const char *file);

#endif
