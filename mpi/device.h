/* SPDX-License-Identifier: BSD-3-Clause
 *
 * User's buffers in the memory of a GPU, by the library of its vendor where the process has loaded
 * it: src/access's staging. Local.
 */
#ifndef MPI_DEVICE_H
#define MPI_DEVICE_H

#include "access/memory.h"
#include "collective/stats.h"

/* The staging of a file's calls, which run one after another. */
typedef struct front_device front_device;

/* Sets memory->staging where the processor cannot access some of memory->list, by the first and the
 * last block of each run. *device, NULL at first, is made when it is needed; the caller frees it.
 * Returns 0 or a negative errno value. */
int front_device_find(front_device **device, access_memory *memory);
void front_device_free(front_device *device); /* NULL is allowed, as in the next */
/* Of the copies since the last time. */
coll_device_use front_device_take_use(front_device *device);

#endif
