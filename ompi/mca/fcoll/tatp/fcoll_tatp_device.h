/* SPDX-License-Identifier: BSD-3-Clause */
/* User's buffers in device memory, as that of a GPU: src/access's staging by Open MPI's copies.
 * Local. */
#ifndef MCA_FCOLL_TATP_DEVICE_H
#define MCA_FCOLL_TATP_DEVICE_H

#include "ompi_config.h"

#include <stdbool.h>

#include "access/memory.h"
#include "collective/stats.h"

/* The staging of a file's calls, which run one after another. */
typedef struct tatp_device tatp_device;

/* Says which component of Open MPI copies, if there is one, where verbosity asks for it. */
void tatp_device_tell(void);
/* Whether any of the memory is a device's: the first or the last block of any run. */
bool tatp_device_has(const access_list *memory);
/* Sets memory->staging where any of memory->list is a device's. *device, NULL at first, is made
 * when it is needed; the caller frees it. */
int tatp_device_find(tatp_device **device, access_memory *memory);
void tatp_device_free(tatp_device *device);
/* Of the copies since the last time; device: may be NULL. */
coll_device_use tatp_device_take_use(tatp_device *device);

#endif
