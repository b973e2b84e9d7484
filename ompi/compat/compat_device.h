/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from and to device memory: by the accelerator framework of Open MPI 5.0 and later, and by
 * the convertor of 4.1, which knows CUDA where it was built with it, and ends the program where a
 * copy fails. */
#ifndef TATP_COMPAT_DEVICE_H
#define TATP_COMPAT_DEVICE_H

#include "ompi/compat/compat.h"

#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"

#if OMPI_MAJOR_VERSION >= 5

#include "opal/mca/accelerator/accelerator.h"
#include "opal/mca/accelerator/base/base.h"

/* Data that 4.1 lacks: weak, so that it can open the component, which then refuses to run there. */
#pragma weak opal_accelerator
#pragma weak opal_accelerator_base_selected_component

#define COMPAT_ANY MCA_ACCELERATOR_NO_DEVICE_ID

typedef struct compat_copier {
    opal_accelerator_stream_t *stream; /* NULL if a copy is complete at once */
    opal_accelerator_event_t *event;
} compat_copier;

/* Host memory that is registered is copied faster. */
static inline void compat_copier_init(compat_copier *copier, const void *device, void *buffers,
                                      size_t bytes)
{
    (void)device;
    (void)opal_accelerator.host_register(COMPAT_ANY, buffers, bytes);
#if OMPI_MAJOR_VERSION >= 6
    int rc = opal_accelerator.create_event(COMPAT_ANY, &copier->event, false);
#else
    int rc = opal_accelerator.create_event(COMPAT_ANY, &copier->event);
#endif
    if (OPAL_SUCCESS != rc)
        copier->event = NULL;
    if (OPAL_SUCCESS != rc ||
        OPAL_SUCCESS != opal_accelerator.create_stream(COMPAT_ANY, &copier->stream))
        copier->stream = NULL;
}

static inline void compat_copier_release(compat_copier *copier, void *buffers)
{
    (void)opal_accelerator.host_unregister(COMPAT_ANY, buffers);
    if (NULL != copier->stream)
        OBJ_RELEASE(copier->stream);
    if (NULL != copier->event)
        OBJ_RELEASE(copier->event);
}

/* Returns the component that knows devices, or NULL. */
static inline const char *compat_accelerator(void)
{
    const char *name = opal_accelerator_base_selected_component.base_version.mca_component_name;
    return 0 == strcmp(name, "null") ? NULL : name;
}

/* Whether the processor cannot access the address. */
static inline bool compat_is_device(const void *address)
{
    uint64_t flags = 0;
    int device;
    return opal_accelerator.check_addr(address, &device, &flags) > 0 &&
           0 == (flags & MCA_ACCELERATOR_FLAGS_UNIFIED_MEMORY);
}

/* The end of the allocation that has the address of a device, or NULL. */
static inline const char *compat_device_end(const char *address)
{
    void *base = NULL;
    size_t bytes = 0;
    int rc = opal_accelerator.get_address_range(COMPAT_ANY, address, &base, &bytes);
    return OPAL_SUCCESS == rc ? (const char *)base + bytes : NULL;
}

/* Copies in any direction. Returns OPAL_SUCCESS or an error, maybe that of an earlier copy. */
static inline int compat_start_copy(compat_copier *copier, void *to, const void *from, size_t bytes)
{
    const opal_accelerator_transfer_type_t type = MCA_ACCELERATOR_TRANSFER_UNSPEC;
    return NULL == copier->stream
               ? opal_accelerator.mem_copy(COMPAT_ANY, COMPAT_ANY, to, from, bytes, type)
               : opal_accelerator.mem_copy_async(COMPAT_ANY, COMPAT_ANY, to, from, bytes,
                                                 copier->stream, type);
}

static inline int compat_wait_copies(compat_copier *copier)
{
    int rc = OPAL_SUCCESS;
    if (NULL != copier->stream)
        rc = opal_accelerator.record_event(COMPAT_ANY, copier->event, copier->stream);
    if (NULL != copier->stream && OPAL_SUCCESS == rc)
        do
            rc = opal_accelerator.query_event(COMPAT_ANY, copier->event);
        while (OPAL_ERR_RESOURCE_BUSY == rc);
    return rc;
}

#else

/* Prepared for an address of the device, in which its flags say what memory that is. */
typedef opal_convertor_t compat_copier;

static inline void compat_copier_init(compat_copier *copier, const void *device, void *buffers,
                                      size_t bytes)
{
    (void)buffers, (void)bytes;
    OBJ_CONSTRUCT(copier, opal_convertor_t);
    (void)opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor,
                                                   &ompi_mpi_byte.dt.super, 1, device, 0, copier);
}

static inline void compat_copier_release(compat_copier *copier, void *buffers)
{
    (void)buffers;
    OBJ_DESTRUCT(copier);
}

#define compat_accelerator() (OPAL_CUDA_SUPPORT ? "cuda" : NULL)

static inline bool compat_is_device(const void *address)
{
    compat_copier copier;
    compat_copier_init(&copier, address, NULL, 0);
    bool is_device = CONVERTOR_CUDA == (copier.flags & (CONVERTOR_CUDA | CONVERTOR_CUDA_UNIFIED));
    OBJ_DESTRUCT(&copier);
    return is_device;
}

#define compat_device_end(address) ((const char *)NULL)

static inline int compat_start_copy(compat_copier *copier, void *to, const void *from, size_t bytes)
{
#if OPAL_CUDA_SUPPORT
    (void)copier->cbmemcpy(to, from, bytes, copier);
#else
    (void)copier, (void)memcpy(to, from, bytes);
#endif
    return OPAL_SUCCESS;
}

#define compat_wait_copies(copier) OPAL_SUCCESS

#endif

#endif
