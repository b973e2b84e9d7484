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

#include "mpi/calls.h"

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
    int rc = call->create(&c->stream, NON_BLOCKING);
    if (rc == 0)
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
    int rc = c->vendor->call.synchronize(c->stream);
    leave(c);
    return rc;
}

static const char *find_end(void *context, const char *address)
{
    const copier *c = context;
    uintptr_t base;
    size_t bytes;
    enter(c);
    int rc = c->vendor->call.range(&base, &bytes, (uintptr_t)address);
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
