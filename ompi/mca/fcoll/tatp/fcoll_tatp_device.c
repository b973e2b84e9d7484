/* SPDX-License-Identifier: BSD-3-Clause */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_device.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi.h"
#include "ompi/mca/fcoll/base/base.h"
#include "ompi/compat/compat_device.h"

#include "base/memory.h"

/* Processor and devices do not share a page. */
enum { PAGE_BITS = 12 };

struct tatp_device {
    access_staging staging;
    compat_copier copier;
    coll_device_use use;
    int error;       /* of the call, the first one */
    bool is_copying; /* since the last wait */
    char buffers[ACCESS_STAGING_BYTES];
};

/* The address of a device in the memory, or NULL. To ask takes longer than to look at a run. */
static const void *find_address(const access_list *memory)
{
    int64_t asked = -1;
    if (NULL == compat_accelerator())
        return NULL;
    for (size_t i = 0; i < 2 * memory->count; i++) {
        const access_run *run = &memory->run[i / 2];
        int64_t at = run->offset + (0 == i % 2 ? 0 : (run->count - 1) * run->stride);
        if (at >> PAGE_BITS != asked && compat_is_device((const void *)(intptr_t)at))
            return (const void *)(intptr_t)at;
        asked = at >> PAGE_BITS;
    }
    return NULL;
}

void tatp_device_tell(void)
{
    const char *accelerator = compat_accelerator();
    if (NULL != accelerator)
        opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                            "fcoll:tatp: device memory is accessed by accelerator/%s", accelerator);
}

bool tatp_device_has(const access_list *memory)
{
    return NULL != find_address(memory);
}

static void count_time(tatp_device *device, double begin, int rc)
{
    device->use.seconds += MPI_Wtime() - begin;
    if (OPAL_SUCCESS != rc)
        device->error = MPI_ERR_BUFFER;
}

static void start_copy(void *context, void *to, const void *from, size_t bytes)
{
    tatp_device *device = context;
    double begin = MPI_Wtime();
    if (OMPI_SUCCESS != device->error)
        return;
    device->use.copies++;
    device->use.bytes += (int64_t)bytes;
    device->is_copying = true;
    count_time(device, begin, compat_start_copy(&device->copier, to, from, bytes));
}

static int wait_copies(void *context)
{
    tatp_device *device = context;
    double begin = MPI_Wtime();
    if (device->is_copying)
        count_time(device, begin, compat_wait_copies(&device->copier));
    device->is_copying = false;
    return device->error;
}

static const char *find_end(void *context, const char *address)
{
    (void)context;
    return compat_is_device(address) ? compat_device_end(address) : NULL;
}

int tatp_device_find(tatp_device **device, access_memory *memory)
{
    const void *address = find_address(&memory->list);
    if (NULL == address)
        return OMPI_SUCCESS;
    if (NULL == *device) {
        tatp_device *new = *device = base_alloc(1, sizeof *new);
        if (NULL == new)
            return -ENOMEM;
        compat_copier_init(&new->copier, address, new->buffers, sizeof new->buffers);
        new->use = (coll_device_use){0};
        new->is_copying = false;
    }
    (*device)->error = OMPI_SUCCESS;
    const access_device copies = {*device, start_copy, wait_copies, find_end};
    access_staging_init(&(*device)->staging, &copies, (*device)->buffers);
    memory->staging = &(*device)->staging;
    return OMPI_SUCCESS;
}

void tatp_device_free(tatp_device *device)
{
    if (NULL == device)
        return;
    compat_copier_release(&device->copier, device->buffers);
    free(device);
}

coll_device_use tatp_device_take_use(tatp_device *device)
{
    coll_device_use use = {0}, none = {0};
    if (NULL != device) {
        use = device->use;
        device->use = none;
    }
    return use;
}
