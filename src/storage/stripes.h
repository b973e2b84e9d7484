/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stripes and locks of an open file, as its file system says them.
 */
#ifndef STORAGE_STRIPES_H
#define STORAGE_STRIPES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct storage_stripes {
    int64_t size;  /* bytes of a stripe; 0: not known */
    int64_t count; /* storage targets, or objects, that take stripes in turn, below 100,000;
                      0: not known, as without a size */
    bool locked;   /* the file system locks stripes: writers to one of them wait for each other */
} storage_stripes;

/* Asks about a regular file on Lustre, BeeGFS or CephFS; zeroed where nothing is known. A layout of
 * several extents has a size where these have the same one and no border is inside a stripe, and no
 * count. Makes system calls on the descriptor, of which the servers see none or one. */
storage_stripes storage_get_stripes(int fd);

/* Bytes of the open file that its file system locks together, where stripes are not known: a block,
 * which of a distributed one is large. 0: a file system that is known as local, or not known. */
int64_t storage_get_lock_unit(int fd);

/* Whether a node sees at once what another one has written to the open file, and storage what was
 * written last: known of local file systems, and of those with servers that say so. */
bool storage_is_coherent(int fd);
/* Whether the open file is on NFS, whose locks flush and empty the cache of a node. */
bool storage_is_nfs(int fd);

/* What this node has written is then in storage, or the negative errno value says why not. */
int storage_flush(int fd);
/* This node then reads what others have flushed. */
void storage_refresh(int fd);

/* Whether a request to the open file waits for a device or a server: reads a byte of it. */
bool storage_is_slow(int fd);

/* Whether hints of MPI_File_open set the stripes of new files in the folder, and nobody has set
 * them: it is on Lustre, without a layout of its own. */
bool storage_takes_stripes(const char *folder);

/* Storage targets of the Lustre file system that this node has mounted, of the one with the fewest
 * if there are several; 0: not known. root: "", or a folder that stands for the root. */
int storage_count_targets(const char *root);

/* How many stripes a new file gets that so many nodes (>= 1) access at once: one for each
 * node, as far as there are targets (0: not known), and not more than STORAGE_MOST_STRIPES, as it
 * may stay small; with fewer a number that divides the nodes, unless it is below half of that. */
enum { STORAGE_MOST_STRIPES = 16 };
int storage_choose_count(int nodes, int targets);

/* ---- locks ---- */

/* Other processes see locks of parts of an open file on all nodes where the file system has such
 * locks. Functions wait, and return 0 or a negative errno value; 0 as well where it has none. */

/* Locks `bytes` bytes from `offset` on, 0: without end. Not exclusive: others that do the same do
 * not wait; only a descriptor for writing alone gets an exclusive one anyway. */
int storage_lock(int fd, bool exclusive, int64_t offset, int64_t bytes);
/* Gives up that lock or, where this fails, all that the process has of the file. */
int storage_unlock(int fd, int64_t offset, int64_t bytes);

#endif
