/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "mpi/device.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/calls.h"

static front_vendor *const vendors[] = {&front_cuda, &front_hip, &front_ze, NULL};

/* ---- which of them the process has loaded ---- */

static pthread_mutex_t vendors_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long seen; /* how many libraries were loaded when they were looked at */

/* It does not access the file system. Nothing is loaded or unloaded meanwhile. */
static int note_library(struct dl_phdr_info *info, size_t size, void *adds)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash != NULL ? slash + 1 : info->dlpi_name;
    (void)size;
    *(unsigned long long *)adds = info->dlpi_adds;
    for (front_vendor *const *v = vendors; *v != NULL; v++)
        if (strncmp(file, (*v)->library, strlen((*v)->library)) == 0)
            snprintf((*v)->path, sizeof(*v)->path, "%s", info->dlpi_name);
    return info->dlpi_adds == seen;
}

/* It is used if it has all the functions, and then stays loaded. */
static bool load_vendor(front_vendor *v)
{
    void *library = dlopen(v->loader != NULL ? v->loader : v->path, RTLD_LAZY | RTLD_NOLOAD);
    bool has_all = library != NULL;
    for (int i = 0; has_all && v->function[i].name != NULL; i++) {
        void *function = dlsym(library, v->function[i].name);
        memcpy(v->function[i].pointer, &function, sizeof function);
        has_all = function != NULL;
    }
    if (library != NULL && !has_all)
        dlclose(library);
    return has_all && (v->begin == NULL || v->begin());
}

/* Whether there is any. A program may load them at any time. */
static bool find_vendors(void)
{
    unsigned long long adds;
    bool is_any = false;
    pthread_mutex_lock(&vendors_lock);
    dl_iterate_phdr(note_library, &adds);
    for (front_vendor *const *v = vendors; *v != NULL; v++) {
        if (adds != seen && !(*v)->is_loaded && (*v)->path[0] != '\0')
            (*v)->is_loaded = load_vendor(*v);
        is_any = is_any || (*v)->is_loaded;
    }
    seen = adds;
    pthread_mutex_unlock(&vendors_lock);
    return is_any;
}

static const front_vendor *vendor_of(const void *address)
{
    front_vendor *const *v = vendors;
    while (*v != NULL && !((*v)->is_loaded && (*v)->is_device(address)))
        v++;
    return *v;
}

static bool is_device_memory(const void *address)
{
    return vendor_of(address) != NULL;
}

/* ---- copies ---- */

typedef struct device_copier {
    const front_vendor *vendor;
    void *context; /* NULL: that of the thread */
    void *stream;
} device_copier;

static const device_copier *enter_context(const device_copier *c)
{
    if (c->context != NULL)
        (void)c->vendor->push(c->context);
    return c;
}

static int leave_context(const device_copier *c, int rc)
{
    void *context;
    if (c->context != NULL)
        (void)c->vendor->pop(&context);
    return rc;
}

/* Host memory that is enlisted is copied faster. */
static void *new_device_copier(const void *address, void *buffers, size_t bytes)
{
    enum { NON_BLOCKING = 1, PORTABLE = 1 }; /* of all vendors */
    const front_vendor *v = vendor_of(address);
    device_copier *c = malloc(sizeof *c);
    if (c == NULL)
        return NULL;
    *c = (device_copier){v, v->context_of != NULL ? v->context_of(address) : NULL, NULL};
    enter_context(c);
    int rc = v->create != NULL ? v->create(&c->stream, NON_BLOCKING)
                               : v->create_for(&c->stream, address);
    if (rc == 0 && v->enlist != NULL)
        (void)v->enlist(buffers, bytes, PORTABLE);
    if (leave_context(c, rc) == 0)
        return c;
    free(c);
    return NULL;
}

static void free_device_copier(void *copier, void *buffers)
{
    const device_copier *c = enter_context(copier);
    if (c->vendor->dismiss != NULL)
        (void)c->vendor->dismiss(buffers);
    (void)leave_context(c, c->vendor->destroy(c->stream));
    free(copier);
}

static int start_device_copy(void *copier, void *to, const void *from, size_t bytes)
{
    const device_copier *c = enter_context(copier);
    return leave_context(c, c->vendor->copy(to, from, bytes, c->stream));
}

static int wait_for_device(void *copier)
{
    const device_copier *c = enter_context(copier);
    return leave_context(c, c->vendor->wait != NULL ? c->vendor->wait(c->stream) : 0);
}

static const char *find_device_end(void *copier, const char *address)
{
    const device_copier *c = enter_context(copier);
    char *base;
    size_t bytes;
    const int rc = leave_context(c, c->vendor->range(&base, &bytes, address));
    return rc == 0 ? base + bytes : NULL;
}

const access_device front_device = {MPI_ERR_BUFFER,    find_vendors,       is_device_memory,
                                    new_device_copier, free_device_copier, start_device_copy,
                                    wait_for_device,   find_device_end};
