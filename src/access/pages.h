/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing many small pieces of a file through a shared mapping of its pages, where a request for
 * each piece takes far longer than copying it.
 *
 * Bytes between the pieces are neither read nor written: a store into a page modifies its own bytes
 * of the page cache only, as a write does, so that other processes may write theirs to the same
 * page at the same time. Linux only.
 */
#ifndef ACCESS_PAGES_H
#define ACCESS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/list.h"

/* Extents that are written together at most: a mapping costs far less than so many requests, and
 * the array fits into a stack. */
#define ACCESS_BATCH 2048

/* Contiguous bytes of a file, at least one, and their data. */
typedef struct access_extent {
    int64_t offset;
    const char *data;
    int64_t bytes;
} access_extent;

/* Whether a mapping takes less time than a request for each extent. Extents ascend and do not
 * overlap, as in the functions below. O(count). */
bool access_pages_pay(const access_extent *extent, size_t count);

/* About as many requests as it takes to write an ordered list where pages are mapped: one for each
 * page and stretch of pages, or one for each block where these are fewer. O(runs). */
int64_t access_pages_estimate(const access_list *list);

/* Whether the file is on a file system on which all processes that can open it share one page
 * cache, and on which a page that was once writable stays so. */
bool access_pages_are_shared(int fd);

/* Writes the extents of a file that is open for reading and writing and already ends behind the
 * last of them. Pages without extents stay as they are: no space is allocated to them. An error
 * (negative errno value) of the file system or of memory, or that the kernel is older than Linux
 * 5.14, is returned before a byte is written; it never is a signal. */
int access_pages_write(int fd, const access_extent *extent, size_t count);

#endif
