/* SPDX-License-Identifier: BSD-3-Clause */
/* What libtatp-mpiio.so calls of libcuda.so.1, or with -DHIP of libamdhip64.so, over the memory of
 * tests/mpi/device.h. Copies are done when their stream is synchronized: who uses the bytes before
 * sees old ones. */
#include "../mpi/device.h"

#include <stdlib.h>
#include <string.h>

enum { FAILED = 1, NO_CONTEXT = 201 };
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8 };

typedef struct pending {
    struct pending *next;
    void *to;
    const void *from;
    size_t bytes;
    bool fails;
} pending;

typedef struct queue {
    pending *first, **last;
} queue;

__attribute__((constructor)) static void start(void)
{
    device_state()->selected = 1;
}

static uint64_t add(uint64_t *counter, uint64_t number)
{
    return __atomic_add_fetch(counter, number, __ATOMIC_RELAXED);
}

/* ---- copies ---- */

static bool fails(uint64_t number)
{
    const struct device_state *state = device_state();
    return state->fail > 0 && (state->mode % 2 ? number >= state->fail : number == state->fail);
}

/* Memory of a device must be allocated, all of it. */
static bool is_allocated(const void *address, size_t bytes)
{
    const char *at = address, *base = device_base(at);
    if (!is_device(at) && !is_unified(at))
        return true;
    size_t size = device_size(base);
    return at >= base && (size_t)(at - base) <= size && bytes <= size - (size_t)(at - base);
}

static int start_copy(void *to, const void *from, size_t bytes, queue *stream)
{
    struct device_state *state = device_state();
    const bool is_failing = fails(add(&state->copies, 1));
    pending *p = malloc(sizeof *p);
    add(&state->bytes, bytes);
    if (p == NULL || (is_failing && state->mode < 2)) {
        free(p);
        return FAILED;
    }
    *p = (pending){NULL, to, from, bytes, is_failing};
    *stream->last = p;
    stream->last = &p->next;
    return 0;
}

static int finish_copies(queue *stream)
{
    int rc = 0;
    for (pending *p = stream->first, *next; p != NULL; p = next) {
        next = p->next;
        if (p->fails || !is_allocated(p->to, p->bytes) || !is_allocated(p->from, p->bytes))
            rc = FAILED;
        else
            memmove(device_alias(p->to), device_alias(p->from), p->bytes);
        free(p);
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
    const void *at = (const void *)address;
    if (!is_device(at) && !is_unified(at)) {
        add(&device_state()->host_ranges, 1);
        return FAILED;
    }
    *base = (uintptr_t)device_base(at);
    *bytes = device_size((const void *)*base);
    return *bytes == 0;
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
