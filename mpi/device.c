/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "mpi/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/calls.h"

/* ---- the vendors' functions, which return 0 unless they fail ---- */

/* By the constants of cuda.h and hip_runtime_api.h. */
enum { CU_CONTEXT = 1, CU_MEMORY_TYPE = 2, CU_IS_MANAGED = 8, CU_DEVICE = 2 };
enum { HIP_ANY_DIRECTION = 4 };
enum { NON_BLOCKING = 1, PORTABLE = 1 };
/* By those and the structures of ze_api.h of Level Zero, versions 1.0 to 1.17. */
enum { ZE_GPU_ONLY = 1, ZE_DEVICE = 2, ZE_SYNCHRONOUS = 1 };
enum { ZE_CONTEXT_DESC = 0xd, ZE_QUEUE_DESC = 0xe, ZE_ALLOCATION = 0x17 };

/* Up to release 7 of ROCm at least; the values of `type` have changed. */
typedef struct hip_attributes {
    int type, device;
    void *on_device, *on_host;
    int is_managed;
    unsigned flags, reserved[16];
} hip_attributes;

typedef struct ze_context_desc {
    int structure;
    const void *next;
    uint32_t flags;
} ze_context_desc;

typedef struct ze_queue_desc {
    int structure;
    const void *next;
    uint32_t ordinal, index, flags;
    int mode, priority;
} ze_queue_desc;

typedef struct ze_allocation {
    int structure;
    void *next;
    int type;
    uint64_t id, page_bytes;
} ze_allocation;

/* In the order of `name` of a vendor, NULL where it has none. */
typedef struct vendor_calls {
    union {
        int (*cuda)(void *value, int attribute, uintptr_t address);
        int (*hip)(hip_attributes *attributes, const void *address);
        int (*ze)(void *context, const void *address, ze_allocation *is, void **device);
    } ask;
    union {
        int (*cuda)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
        int (*hip)(void *to, const void *from, size_t bytes, int direction, void *stream);
        int (*ze)(void *list, void *to, const void *from, size_t bytes, void *signal,
                  uint32_t waits, void **events);
    } copy;
    int (*destroy)(void *stream);
    int (*range)(uintptr_t *base, size_t *bytes, uintptr_t address); /* CUDA and HIP, as the next */
    int (*create)(void **stream, unsigned flags);
    int (*synchronize)(void *stream);
    int (*enlist)(void *memory, size_t bytes, unsigned flags);
    int (*dismiss)(void *memory);
    int (*push)(void *context); /* CUDA, as the next */
    int (*pop)(void **context);
    int (*init)(unsigned flags); /* Level Zero, as the next */
    int (*drivers)(uint32_t *count, void **drivers);
    int (*connect)(void *driver, const ze_context_desc *desc, void **context);
    int (*create_list)(void *context, void *device, const ze_queue_desc *queue, void **list);
    int (*find_range)(void *context, const void *address, uintptr_t *base, size_t *bytes);
} vendor_calls;

typedef struct vendor {
    const char *library; /* the beginning of its file's name */
    const char *loader;  /* the library that has its functions; NULL: the same */
    const char *name[sizeof(vendor_calls) / sizeof(void *)];
    bool (*is_device)(const void *address);
    int (*copy)(void *to, const void *from, size_t bytes, void *stream);
    atomic_bool is_loaded;
    vendor_calls call;
} vendor;

enum { CUDA, HIP, ZE, VENDORS };
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

enum { ZE_DRIVERS = 8 };
static void *ze_context[ZE_DRIVERS]; /* of the drivers: each knows its own devices only */
static size_t ze_contexts;

/* The program's zeInit has loaded a driver, and may not have returned: this one waits for it. */
static bool begin_ze(void)
{
    static const ze_context_desc desc = {.structure = ZE_CONTEXT_DESC};
    const vendor_calls *call = &vendors[ZE].call;
    void *driver[ZE_DRIVERS];
    uint32_t drivers = ZE_DRIVERS;
    if (call->init(ZE_GPU_ONLY) != 0 || call->drivers(&drivers, driver) != 0)
        return false;
    for (uint32_t i = 0; i < drivers; i++)
        ze_contexts += call->connect(driver[i], &desc, &ze_context[ze_contexts]) == 0;
    return ze_contexts > 0;
}

/* The context of the device that has the address, or NULL. device may be NULL. */
static void *ask_ze(const void *address, void **device)
{
    for (size_t i = 0; i < ze_contexts; i++) {
        ze_allocation is = {.structure = ZE_ALLOCATION};
        if (vendors[ZE].call.ask.ze(ze_context[i], address, &is, device) == 0 &&
            is.type == ZE_DEVICE)
            return ze_context[i];
    }
    return NULL;
}

static bool is_ze(const void *address)
{
    return ask_ze(address, NULL) != NULL;
}

/* Copies are done when they are started: nothing synchronizes the list. */
static int create_ze(void **list, const void *address)
{
    static const ze_queue_desc queue = {.structure = ZE_QUEUE_DESC, .mode = ZE_SYNCHRONOUS};
    void *device, *context = ask_ze(address, &device);
    return vendors[ZE].call.create_list(context, device, &queue, list);
}

static int copy_ze(void *to, const void *from, size_t bytes, void *list)
{
    return vendors[ZE].call.copy.ze(list, to, from, bytes, NULL, 0, NULL);
}

#define PLACE(function) (offsetof(vendor_calls, function) / sizeof(void *))
static vendor vendors[VENDORS] = {
    [CUDA] = {.library = "libcuda.so.",
              .name = {"cuPointerGetAttribute", "cuMemcpyAsync", "cuStreamDestroy_v2",
                       "cuMemGetAddressRange_v2", "cuStreamCreate", "cuStreamSynchronize",
                       "cuMemHostRegister_v2", "cuMemHostUnregister", "cuCtxPushCurrent_v2",
                       "cuCtxPopCurrent_v2"},
              .is_device = is_cuda,
              .copy = copy_cuda},
    [HIP] = {.library = "libamdhip64.so.",
             .name = {"hipPointerGetAttributes", "hipMemcpyAsync", "hipStreamDestroy",
                      "hipMemGetAddressRange", "hipStreamCreateWithFlags", "hipStreamSynchronize",
                      "hipHostRegister", "hipHostUnregister"},
             .is_device = is_hip,
             .copy = copy_hip},
    [ZE] = {.library = "libze_intel_gpu",
            .loader = "libze_loader.so.1",
            .name = {"zeMemGetAllocProperties", "zeCommandListAppendMemoryCopy",
                     "zeCommandListDestroy", [PLACE(init)] = "zeInit", "zeDriverGet",
                     "zeContextCreate", "zeCommandListCreateImmediate", "zeMemGetAddressRange"},
            .is_device = is_ze,
            .copy = copy_ze},
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
    const char *file = v->loader != NULL ? v->loader : path;
    void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD), *function;
    if (library == NULL)
        return false;
    for (size_t i = 0; i < sizeof v->name / sizeof *v->name; i++) {
        if (v->name[i] == NULL)
            continue;
        if ((function = dlsym(library, v->name[i])) == NULL) {
            dlclose(library);
            return false;
        }
        memcpy((char *)&v->call + i * sizeof function, &function, sizeof function);
    }
    return v != &vendors[ZE] || begin_ze();
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

static bool is_device(const void *address)
{
    return vendor_of(address) != NULL;
}

/* ---- copies ---- */

typedef struct copier {
    const vendor *vendor;
    void *context; /* of CUDA; NULL: that of the thread */
    void *stream;
} copier;

static void enter(const copier *c)
{
    if (c->context != NULL)
        (void)c->vendor->call.push(c->context);
}

static void leave(const copier *c)
{
    void *context;
    if (c->context != NULL)
        (void)c->vendor->call.pop(&context);
}

/* Host memory that is enlisted is copied faster. */
static void *new_copier(const void *address, void *buffers, size_t bytes)
{
    copier *c = malloc(sizeof *c);
    if (c == NULL)
        return NULL;
    c->vendor = vendor_of(address);
    const vendor_calls *call = &c->vendor->call;
    if (call->push == NULL || call->ask.cuda(&c->context, CU_CONTEXT, (uintptr_t)address) != 0)
        c->context = NULL;
    enter(c);
    int rc = call->create != NULL ? call->create(&c->stream, NON_BLOCKING)
                                  : create_ze(&c->stream, address);
    if (rc == 0 && call->enlist != NULL)
        (void)call->enlist(buffers, bytes, PORTABLE);
    leave(c);
    if (rc == 0)
        return c;
    free(c);
    return NULL;
}

static void free_copier(void *context, void *buffers)
{
    copier *c = context;
    enter(c);
    if (c->vendor->call.dismiss != NULL)
        (void)c->vendor->call.dismiss(buffers);
    (void)c->vendor->call.destroy(c->stream);
    leave(c);
    free(c);
}

static int start_copy(void *context, void *to, const void *from, size_t bytes)
{
    const copier *c = context;
    enter(c);
    int rc = c->vendor->copy(to, from, bytes, c->stream);
    leave(c);
    return rc;
}

static int wait_for_copies(void *context)
{
    const copier *c = context;
    enter(c);
    int rc = c->vendor->call.synchronize != NULL ? c->vendor->call.synchronize(c->stream) : 0;
    leave(c);
    return rc;
}

static const char *find_end(void *context, const char *address)
{
    const copier *c = context;
    uintptr_t base;
    size_t bytes;
    const vendor_calls *call = &c->vendor->call;
    enter(c);
    int rc = call->range != NULL ? call->range(&base, &bytes, (uintptr_t)address)
                                 : call->find_range(ask_ze(address, NULL), address, &base, &bytes);
    leave(c);
    return rc == 0 ? (const char *)base + bytes : NULL;
}

const access_device front_device = {
    .error = MPI_ERR_BUFFER,
    .is_any = find_vendors,
    .has = is_device,
    .new_copier = new_copier,
    .free_copier = free_copier,
    .start = start_copy,
    .wait = wait_for_copies,
    .end_of = find_end,
};
