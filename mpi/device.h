/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of GPUs, by the library of their vendor where the process has loaded it. Local. */
#ifndef MPI_DEVICE_H
#define MPI_DEVICE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

#include "access/memory.h"

extern const access_device front_device;

/* What a vendor's file defines. Functions return 0 unless they fail. */
typedef struct front_vendor {
    const char *library; /* the beginning of its file's name */
    const char *loader;  /* the library that has its functions; NULL: the same */
    struct {
        const char *name;
        void *pointer; /* to it: in this table, or in the vendor's file */
    } function[12];
    bool (*begin)(void); /* they are found; may be NULL */
    bool (*is_device)(const void *address);
    int (*create)(void **stream, unsigned flags); /* NULL: create_for */
    int (*create_for)(void **stream, const void *address);
    int (*copy)(void *to, const void *from, size_t bytes, void *stream);
    int (*destroy)(void *stream);
    int (*range)(char **base, size_t *bytes, const void *address);
    int (*wait)(void *stream); /* NULL: copies are done when they are started */
    int (*enlist)(void *memory, size_t bytes, unsigned flags); /* NULL: no need, as the next */
    int (*dismiss)(void *memory);
    void *(*context_of)(const void *address); /* may be NULL, and return it: that of the thread */
    int (*push)(void *context);
    int (*pop)(void **context);
    char path[PATH_MAX]; /* of the library; "": it is not loaded */
    atomic_bool is_loaded;
} front_vendor;

extern front_vendor front_cuda, front_hip, front_ze; /* `vendors` has them all */

#endif
