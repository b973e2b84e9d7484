/* SPDX-License-Identifier: BSD-3-Clause */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_device.h"

#include <stdlib.h>

#include "mpi.h"
#include "ompi/mca/fcoll/base/base.h"
#include "ompi/compat/compat_device.h"

void tatp_device_tell(void)
{
    const char *accelerator = compat_accelerator();
    if (NULL != accelerator)
        opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                            "fcoll:tatp: device memory is accessed by accelerator/%s", accelerator);
}

static bool has_accelerator(void)
{
    return NULL != compat_accelerator();
}

static void *new_copier(const void *address, void *buffers, size_t bytes)
{
    compat_copier *copier = malloc(sizeof *copier);
    if (NULL != copier)
        compat_copier_init(copier, address, buffers, bytes);
    return copier;
}

static void free_copier(void *copier, void *buffers)
{
    compat_copier_release(copier, buffers);
    free(copier);
}

static int start_copy(void *copier, void *to, const void *from, size_t bytes)
{
    return compat_start_copy(copier, to, from, bytes);
}

static int wait_for_copies(void *copier)
{
    (void)copier;
    return compat_wait_copies(copier);
}

static const char *find_end(void *copier, const char *address)
{
    (void)copier, (void)address;
    return compat_device_end(address);
}

const access_device tatp_device = {
    .error = MPI_ERR_BUFFER,
    .is_any = has_accelerator,
    .has = compat_is_device,
    .new_copier = new_copier,
    .free_copier = free_copier,
    .start = start_copy,
    .wait = wait_for_copies,
    .end_of = find_end,
};
