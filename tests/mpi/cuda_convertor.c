/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload that makes an Open MPI 4.1 without CUDA look like one with it to a component
 * that was built for that: objects of opal_convertor_t are larger, and a convertor that is prepared
 * for memory of device.h says so and copies it. */
#define _GNU_SOURCE
#include "ompi_config.h"

#if OMPI_MAJOR_VERSION < 5

#undef OPAL_CUDA_SUPPORT
#define OPAL_CUDA_SUPPORT 1

#include <dlfcn.h>
#include <string.h>

#include "opal/datatype/opal_convertor.h"

#include "device.h"

__attribute__((constructor)) static void enlarge_convertor(void)
{
    opal_convertor_t_class.cls_sizeof = sizeof(opal_convertor_t);
    device_state()->selected = 1;
}

static void *copy(void *to, const void *from, size_t bytes, opal_convertor_t *convertor)
{
    struct device_state *state = device_state();
    state->copies += (convertor->flags & CONVERTOR_CUDA) != 0;
    state->bytes += bytes;
    return memmove(device_alias(to), device_alias(from), bytes);
}

/* Open MPI's own convertors are not larger, but are never prepared for such memory. */
int32_t opal_convertor_prepare_for_send(opal_convertor_t *convertor,
                                        const struct opal_datatype_t *datatype, size_t count,
                                        const void *buffer)
{
    static int32_t (*prepare)(opal_convertor_t *, const struct opal_datatype_t *, size_t,
                              const void *);
    if (prepare == NULL)
        *(void **)&prepare = dlsym(RTLD_NEXT, "opal_convertor_prepare_for_send");
    if (is_device(buffer) || is_unified(buffer)) {
        convertor->flags |= CONVERTOR_CUDA | (is_unified(buffer) ? CONVERTOR_CUDA_UNIFIED : 0);
        convertor->cbmemcpy = copy;
    }
    return prepare(convertor, datatype, count, buffer);
}

#endif
