/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Locks of parts of an open file, which other processes see on all nodes where the file system has
 * such locks. Functions wait, and return 0 or a negative errno value; 0 as well where it has none.
 */
#ifndef STORAGE_LOCKS_H
#define STORAGE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Locks `bytes` bytes from `offset` on, 0: without end. Not exclusive: others that do the same do
 * not wait; only a descriptor for writing alone gets an exclusive one anyway. */
int storage_lock(int fd, bool exclusive, int64_t offset, int64_t bytes);
/* Gives up that lock or, where this fails, all that the process has of the file. */
int storage_unlock(int fd, int64_t offset, int64_t bytes);

#endif
