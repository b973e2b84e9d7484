/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a process, for every front end. What is known of the ranks of a file, and plans for
 * their calls, are kept for the next file of the same ranks. */
#ifndef COLLECTIVE_FILES_H
#define COLLECTIVE_FILES_H

#include "collective/collective.h"

/* Digests of the processes of a file, in the order of their ranks. Zero at first. */
typedef struct coll_ranks {
    uint64_t digest[2];
} coll_ranks;

/* The next process, by a number that no other one has. */
void coll_ranks_add(coll_ranks *ranks, uint64_t process);

/* A file that these ranks have kept, one whose plans fit the facts if there is one, or a new one.
 * Whether it is the same on all ranks is agreed on later. The handle is copied. NULL if memory is
 * exhausted. Local. */
coll_file *coll_files_open(coll_process *process, const coll_ranks *ranks,
                           const coll_handle *handle, const coll_facts *facts);
/* Ends the closing, which coll_file_count_noncollective has begun. Writes what is recorded. Keeps
 * the file, and the oldest of those that are kept goes, unless its opening has failed. Local. */
void coll_files_close(coll_process *process, coll_file *file);
/* Frees those that are kept, and all buffers. No call runs. */
void coll_files_release(coll_process *process);

#endif
