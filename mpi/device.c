/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "mpi/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/calls.h"

/* Processor and devices do not share a page. */
enum { PAGE_BITS = 12 };

/* ---- the vendors' functions, which return 0 unless they fail ---- */

/* By the constants of cuda.h and hip_runtime_api.h. */
enum { CU_CONTEXT = 1, CU_MEMORY_TYPE = 2, CU_IS_MANAGED = 8, CU_DEVICE = 2 };
enum { HIP_ANY_DIRECTION = 4 };
enum { NON_BLOCKING = 1, PORTABLE = 1 };

/* Up to release 7 of ROCm at least; the values of `type` have changed. */
typedef struct hip_attributes {
    int type, device;
    void *on_device, *on_host;
    int is_managed;
    unsigned flags, reserved[16];
} hip_attributes;

/* In the order of `name` of a vendor. */
typedef struct vendor_calls {
    union {
        int (*cuda)(void *value, int attribute, uintptr_t address);
        int (*hip)(hip_attributes *attributes, const void *address);
    } ask;
    union {
        int (*cuda)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
        int (*hip)(void *to, const void *from, size_t bytes, int direction, void *stream);
    } copy;
    int (*range)(uintptr_t *base, size_t *bytes, uintptr_t address);
    int (*create)(void **stream, unsigned flags);
    int (*synchronize)(void *stream);
    int (*destroy)(void *stream);
    int (*enlist)(void *memory, size_t bytes, unsigned flags);
    int (*dismiss)(void *memory);
    int (*push)(void *context); /* CUDA only, as the next: HIP needs no context */
    int (*pop)(void **context);
} vendor_calls;

typedef struct vendor {
    const char *library; /* the beginning of its file's name */
    const char *name[sizeof(vendor_calls) / sizeof(void *)];
    bool (*is_device)(const void *address);
    int (*copy)(void *to, const void *from, size_t bytes, void *stream);
    atomic_bool is_loaded;
    vendor_calls call;
} vendor;

enum { CUDA, HIP, VENDORS };
static vendor vendors[VENDORS];

static bool is_cuda(const void *address)
{
    const vendor_calls *call = &vendors[CUDA].call;
    int type = 0, is_managed = 0;
    const uintptr_t at = (uintptr_t)address;
    return call->ask.cuda(&type, CU_MEMORY_TYPE, at) == 0 && type == CU_DEVICE &&
           call->ask.cuda(&is_managed, CU_IS_MANAGED, at) == 0 && !is_managed;
}

static int copy_cuda(void *to, const void *from, size_t bytes, void *stream)
{
    return vendors[CUDA].call.copy.cuda((uintptr_t)to, (uintptr_t)from, bytes, stream);
}

static bool is_hip(const void *address)
{
    hip_attributes is = {0};
    return vendors[HIP].call.ask.hip(&is, address) == 0 && is.on_device != NULL &&
           is.on_host == NULL && !is.is_managed;
}

static int copy_hip(void *to, const void *from, size_t bytes, void *stream)
{
    return vendors[HIP].call.copy.hip(to, from, bytes, HIP_ANY_DIRECTION, stream);
}

static vendor vendors[VENDORS] = {
    [CUDA] = {.library = "libcuda.so.",
              .name = {"cuPointerGetAttribute", "cuMemcpyAsync", "cuMemGetAddressRange_v2",
                       "cuStreamCreate", "cuStreamSynchronize", "cuStreamDestroy_v2",
                       "cuMemHostRegister_v2", "cuMemHostUnregister", "cuCtxPushCurrent_v2",
                       "cuCtxPopCurrent_v2"},
              .is_device = is_cuda,
              .copy = copy_cuda},
    [HIP] = {.library = "libamdhip64.so.",
             .name = {"hipPointerGetAttributes", "hipMemcpyAsync", "hipMemGetAddressRange",
                      "hipStreamCreateWithFlags", "hipStreamSynchronize", "hipStreamDestroy",
                      "hipHostRegister", "hipHostUnregister"},
             .is_device = is_hip,
             .copy = copy_hip},
};

/* ---- which of them the process has loaded ---- */

static pthread_mutex_t vendors_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long seen; /* how many libraries were loaded when they were looked at */
static char found[VENDORS][PATH_MAX];

/* Without a look into the file system. Nothing is loaded or unloaded meanwhile. */
static int note_library(struct dl_phdr_info *info, size_t size, void *adds)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash != NULL ? slash + 1 : info->dlpi_name;
    (void)size;
    *(unsigned long long *)adds = info->dlpi_adds;
    for (size_t i = 0; i < VENDORS; i++)
        if (strncmp(file, vendors[i].library, strlen(vendors[i].library)) == 0 &&
            strlen(info->dlpi_name) < PATH_MAX)
            strcpy(found[i], info->dlpi_name);
    return info->dlpi_adds == seen;
}

/* It is used if it has all the functions, and then stays loaded. */
static bool load(vendor *v, const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *function;
    if (library == NULL)
        return false;
    for (size_t i = 0; i < sizeof v->name / sizeof *v->name && v->name[i] != NULL; i++) {
        if ((function = dlsym(library, v->name[i])) == NULL) {
            dlclose(library);
            return false;
        }
        memcpy((char *)&v->call + i * sizeof function, &function, sizeof function);
    }
    return true;
}

/* Whether there is any. A program may load them at any time. */
static bool find_vendors(void)
{
    unsigned long long adds;
    bool is_any = false;
    pthread_mutex_lock(&vendors_lock);
    dl_iterate_phdr(note_library, &adds);
    for (size_t i = 0; i < VENDORS; i++) {
        if (adds != seen && !vendors[i].is_loaded && found[i][0] != '\0')
            vendors[i].is_loaded = load(&vendors[i], found[i]);
        is_any = is_any || vendors[i].is_loaded;
    }
    seen = adds;
    pthread_mutex_unlock(&vendors_lock);
    return is_any;
}

static const vendor *vendor_of(const void *address)
{
    for (const vendor *v = vendors; v < vendors + VENDORS; v++)
        if (v->is_loaded && v->is_device(address))
            return v;
    return NULL;
}

/* ---- the staging of a file ---- */

struct front_device {
    access_staging staging;
    const vendor *vendor;
    void *context; /* of CUDA; NULL: that of the thread */
    void *stream;
    coll_device_use use;
    int error;       /* of the call, the first one */
    bool is_copying; /* since the last wait */
    char buffers[ACCESS_STAGING_BYTES];
};

/* The address of a device in the memory, or NULL. To ask takes longer than to look at a run. */
static const void *find_address(const access_list *memory)
{
    int64_t asked = -1;
    for (size_t i = 0; i < 2 * memory->count; i++) {
        const access_run *run = &memory->run[i / 2];
        int64_t at = run->offset + (i % 2 == 0 ? 0 : (run->count - 1) * run->stride);
        if (at >> PAGE_BITS != asked && vendor_of((const void *)(intptr_t)at) != NULL)
            return (const void *)(intptr_t)at;
        asked = at >> PAGE_BITS;
    }
    return NULL;
}

static void enter(const front_device *device)
{
    if (device->context != NULL)
        (void)device->vendor->call.push(device->context);
}

static void leave(const front_device *device)
{
    void *context;
    if (device->context != NULL)
        (void)device->vendor->call.pop(&context);
}

static void count_time(front_device *device, double begin, int rc)
{
    device->use.seconds += mpi.Wtime() - begin;
    if (rc != 0)
        device->error = MPI_ERR_BUFFER;
}

static void start_copy(void *context, void *to, const void *from, size_t bytes)
{
    front_device *device = context;
    double begin = mpi.Wtime();
    if (device->error != 0)
        return;
    device->use.copies++;
    device->use.bytes += (int64_t)bytes;
    device->is_copying = true;
    enter(device);
    count_time(device, begin, device->vendor->copy(to, from, bytes, device->stream));
    leave(device);
}

static int wait_for_copies(void *context)
{
    front_device *device = context;
    double begin = mpi.Wtime();
    if (device->is_copying) {
        enter(device);
        count_time(device, begin, device->vendor->call.synchronize(device->stream));
        leave(device);
    }
    device->is_copying = false;
    return device->error;
}

static const char *find_end(void *context, const char *address)
{
    const front_device *device = context;
    uintptr_t base;
    size_t bytes;
    if (!device->vendor->is_device(address))
        return NULL;
    enter(device);
    int rc = device->vendor->call.range(&base, &bytes, (uintptr_t)address);
    leave(device);
    return rc == 0 ? (const char *)base + bytes : NULL;
}

/* NULL if memory is exhausted, or the device's. Host memory that is enlisted is copied faster. */
static front_device *new_device(const void *address)
{
    front_device *device = base_alloc(1, sizeof *device);
    if (device == NULL)
        return NULL;
    memset(device, 0, offsetof(front_device, buffers));
    device->vendor = vendor_of(address);
    const vendor_calls *call = &device->vendor->call;
    if (call->push != NULL && call->ask.cuda(&device->context, CU_CONTEXT, (uintptr_t)address) != 0)
        device->context = NULL;
    enter(device);
    int rc = call->create(&device->stream, NON_BLOCKING);
    if (rc == 0)
        (void)call->enlist(device->buffers, sizeof device->buffers, PORTABLE);
    leave(device);
    if (rc == 0)
        return device;
    free(device);
    return NULL;
}

int front_device_find(front_device **device, access_memory *memory)
{
    const void *address = find_vendors() ? find_address(&memory->list) : NULL;
    if (address == NULL)
        return 0;
    if (*device == NULL)
        *device = new_device(address);
    if (*device == NULL)
        return -ENOMEM;
    (*device)->error = 0;
    const access_device copies = {*device, start_copy, wait_for_copies, find_end};
    access_staging_init(&(*device)->staging, &copies, (*device)->buffers);
    memory->staging = &(*device)->staging;
    return 0;
}

void front_device_free(front_device *device)
{
    if (device == NULL)
        return;
    enter(device);
    (void)device->vendor->call.dismiss(device->buffers);
    (void)device->vendor->call.destroy(device->stream);
    leave(device);
    free(device);
}

coll_device_use front_device_take_use(front_device *device)
{
    coll_device_use use = {0}, none = {0};
    if (device != NULL) {
        use = device->use;
        device->use = none;
    }
    return use;
}
