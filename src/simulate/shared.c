/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that ranks share: in one process it is mapped once. The system allows fewer mappings than
 * there are ranks. Programs are linked with --wrap for mmap and munmap. */
#include <sys/mman.h>
#include <sys/stat.h>

#include "simulate/memory.h"

typedef struct mapping {
    struct mapping *next;
    void *base;
    size_t length;
    dev_t device; /* of the object */
    ino_t inode;
    int users;
} mapping;

static mapping *mappings; /* the newest first */

void *__real_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t length);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t length);

void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    struct stat object;
    if (fd < 0 || (flags & MAP_SHARED) == 0 || fstat(fd, &object) != 0)
        return __real_mmap(address, length, protection, flags, fd, offset);
    for (mapping *m = mappings; m != NULL; m = m->next)
        if (m->inode == object.st_ino && m->device == object.st_dev && m->length == length) {
            m->users++;
            return m->base;
        }
    void *base = __real_mmap(address, length, protection, flags, fd, offset);
    if (base == MAP_FAILED)
        return base;
    mapping *made = sim_zeroed(1, sizeof *made);
    *made = (mapping){mappings, base, length, object.st_dev, object.st_ino, 1};
    mappings = made;
    return base;
}

int __wrap_munmap(void *address, size_t length)
{
    mapping **at = &mappings;
    while (*at != NULL && (*at)->base != address)
        at = &(*at)->next;
    mapping *m = *at;
    if (m != NULL && --m->users > 0)
        return 0;
    if (m != NULL)
        *at = m->next;
    __real_free(m);
    return __real_munmap(address, length);
}
