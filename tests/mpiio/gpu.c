/* SPDX-License-Identifier: BSD-3-Clause */
/* What libtatp-mpiio.so calls of libcuda.so.1, or with -DHIP of libamdhip64.so, over the memory of
 * tests/mpi/device.h. Copies are done when their stream is synchronized: who uses the bytes before
 * sees old ones. */
#include "../mpi/device.h"

enum { FAILED = 1, NO_CONTEXT = 201 };
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8 };

typedef struct queue {
    device_copy *first, **last;
} queue;

__attribute__((constructor)) static void start(void)
{
    device_state()->selected = 1;
}

/* ---- copies ---- */

static int start_copy(void *to, const void *from, size_t bytes, queue *stream)
{
    device_copy *copy = device_start(to, from, bytes);
    if (copy == NULL)
        return FAILED;
    *stream->last = copy;
    stream->last = &copy->next;
    return 0;
}

static int finish_copies(queue *stream)
{
    int rc = 0;
    for (device_copy *copy = stream->first, *next; copy != NULL; copy = next) {
        next = copy->next;
        if (copy->fails || !device_move(copy->to, copy->from, copy->bytes))
            rc = FAILED;
        free(copy);
    }
    *stream = (queue){NULL, &stream->first};
    return rc;
}

static int create(void **stream)
{
    queue *new = malloc(sizeof *new);
    if (new == NULL)
        return FAILED;
    *new = (queue){NULL, &new->first};
    *stream = new;
    return 0;
}

static int destroy(void *stream)
{
    free(stream);
    return 0;
}

/* ---- memory ---- */

static int find_range(uintptr_t *base, size_t *bytes, uintptr_t address)
{
    return device_range((const void *)address, (void **)base, bytes) ? 0 : FAILED;
}

static int enlist(size_t bytes)
{
    device_state()->registered = bytes;
    return 0;
}

#ifndef HIP

static _Thread_local int contexts;

int cuCtxPushCurrent_v2(void *context)
{
    contexts++;
    return context == (void *)device_state() ? 0 : FAILED;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = device_state();
    return contexts-- > 0 ? 0 : NO_CONTEXT;
}

int cuPointerGetAttribute(void *value, int attribute, uintptr_t address)
{
    const void *at = (const void *)address;
    if (!is_device(at) && !is_unified(at))
        return FAILED;
    if (attribute == CONTEXT)
        *(void **)value = device_state();
    else
        *(int *)value = attribute == MEMORY_TYPE ? 2 : attribute == IS_MANAGED && is_unified(at);
    return 0;
}

int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, void *stream)
{
    return contexts > 0 ? start_copy((void *)to, (const void *)from, bytes, stream) : NO_CONTEXT;
}

int cuMemGetAddressRange_v2(uintptr_t *base, size_t *bytes, uintptr_t address)
{
    return find_range(base, bytes, address);
}

int cuStreamCreate(void **stream, unsigned flags)
{
    return contexts > 0 && flags == 1 ? create(stream) : NO_CONTEXT;
}

int cuStreamSynchronize(void *stream)
{
    return contexts > 0 ? finish_copies(stream) : NO_CONTEXT;
}

int cuStreamDestroy_v2(void *stream)
{
    return contexts > 0 ? destroy(stream) : NO_CONTEXT;
}

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    return contexts > 0 && memory != NULL && flags == 1 ? enlist(bytes) : NO_CONTEXT;
}

int cuMemHostUnregister(void *memory)
{
    return contexts > 0 && memory != NULL ? 0 : NO_CONTEXT;
}

#else

struct attributes {
    int type, device;
    void *on_device, *on_host;
    int is_managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct attributes *attributes, const void *address)
{
    const bool is_known = is_device(address) || is_unified(address);
    *attributes = (struct attributes){.device = is_known ? 0 : -2,
                                      .on_device = is_known ? (void *)address : NULL,
                                      .is_managed = is_unified(address)};
    return 0;
}

int hipMemcpyAsync(void *to, const void *from, size_t bytes, int direction, void *stream)
{
    return direction == 4 ? start_copy(to, from, bytes, stream) : FAILED;
}

int hipMemGetAddressRange(uintptr_t *base, size_t *bytes, uintptr_t address)
{
    return find_range(base, bytes, address);
}

int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    return flags == 1 ? create(stream) : FAILED;
}

int hipStreamSynchronize(void *stream)
{
    return finish_copies(stream);
}

int hipStreamDestroy(void *stream)
{
    return destroy(stream);
}

int hipHostRegister(void *memory, size_t bytes, unsigned flags)
{
    return memory != NULL && flags == 1 ? enlist(bytes) : FAILED;
}

int hipHostUnregister(void *memory)
{
    return memory != NULL ? 0 : FAILED;
}

#endif
