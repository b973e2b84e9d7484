/* SPDX-License-Identifier: BSD-3-Clause */
/* What libtatp-mpiio.so calls of libcuda.so.1, or with -DHIP of libamdhip64.so, or with -DZE of
 * libze_loader.so.1, over the memory of tests/mpi/device.h. Copies are done when their stream is
 * synchronized: who uses the bytes before sees old ones. Those of Level Zero are done at once. */
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

static int create(void **stream, unsigned flags)
{
    queue *new = flags == 1 ? malloc(sizeof *new) : NULL;
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

static inline int enlist(void *memory, size_t bytes, unsigned flags)
{
    if (memory == NULL || flags != 1)
        return FAILED;
    device_state()->registered = bytes;
    return 0;
}

/* A vendor's call that is one of those above. */
#define ALIAS(name, function) extern __typeof__(function) name __attribute__((alias(#function)))

#if !defined HIP && !defined ZE

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

ALIAS(cuMemGetAddressRange_v2, find_range);

int cuStreamCreate(void **stream, unsigned flags)
{
    return contexts > 0 ? create(stream, flags) : NO_CONTEXT;
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
    return contexts > 0 ? enlist(memory, bytes, flags) : NO_CONTEXT;
}

int cuMemHostUnregister(void *memory)
{
    return contexts > 0 && memory != NULL ? 0 : NO_CONTEXT;
}

#elif defined HIP

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

ALIAS(hipMemGetAddressRange, find_range);
ALIAS(hipStreamSynchronize, finish_copies);
ALIAS(hipStreamCreateWithFlags, create);
ALIAS(hipStreamDestroy, destroy);
ALIAS(hipHostRegister, enlist);

int hipHostUnregister(void *memory)
{
    return memory != NULL ? 0 : FAILED;
}

#else

/* Of two drivers, the second one has a device. Structures are words of 32 bits. */
static char driver[2], context[2], gpu;
static bool is_initialized;
extern int is_loaded __attribute__((weak)); /* a driver */

int zeInit(unsigned flags)
{
    if (&is_loaded == NULL)
        abort(); /* the program uses no GPU */
    is_initialized = flags == 1;
    return 0;
}

int zeDriverGet(uint32_t *count, char **drivers)
{
    for (*count = 0; *count < 2; ++*count)
        drivers[*count] = &driver[*count];
    return is_initialized ? 0 : FAILED;
}

int zeContextCreate(char *of, const uint32_t *desc, char **new)
{
    *new = &context[of - driver];
    return desc[0] == 13 && desc[4] == 0 ? 0 : FAILED;
}

int zeMemGetAllocProperties(char *in, const void *address, uint32_t *properties, char **device)
{
    if (device != NULL)
        *device = &gpu;
    properties[4] = in != &context[1] ? 0 : is_device(address) ? 2 : is_unified(address) ? 3 : 0;
    return properties[0] == 23 ? 0 : FAILED;
}

int zeMemGetAddressRange(char *in, uintptr_t address, uintptr_t *base, size_t *bytes)
{
    return in == &context[1] ? find_range(base, bytes, address) : FAILED;
}

int zeCommandListCreateImmediate(char *in, char *device, const uint32_t *desc, void **list)
{
    static const uint32_t synchronous[9] = {[0] = 14, [7] = 1};
    const bool is_new = in == &context[1] && device == &gpu;
    return is_new && memcmp(desc, synchronous, sizeof synchronous) == 0 ? create(list, 1) : FAILED;
}

int zeCommandListAppendMemoryCopy(queue *list, void *to, const void *from, size_t bytes,
                                  void *signal, uint32_t waits)
{
    const bool is_plain = signal == NULL && waits == 0;
    return is_plain && start_copy(to, from, bytes, list) == 0 ? finish_copies(list) : FAILED;
}

ALIAS(zeCommandListDestroy, destroy);

#endif
