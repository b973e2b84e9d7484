/* SPDX-License-Identifier: BSD-3-Clause */
/* BeeGFS: the stripe pattern of a file, and its targets. */
#include "storage/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/memory.h"

#define GET_PATTERN _IOR('f', 25, char[BEEGFS_PATTERN_BYTES])
#define GET_TARGET _IOR('f', 26, char[BEEGFS_TARGET_BYTES])

/* `targets` receives BEEGFS_TARGET_BYTES for each. */
static int get_targets(int fd, unsigned char *targets, uint32_t count, matrix_error *error)
{
    for (uint32_t k = 0; k < count; k++) {
        unsigned char *target = targets + k * (size_t)BEEGFS_TARGET_BYTES;
        memcpy(target, &k, sizeof k);
        if (ioctl(fd, GET_TARGET, target) != 0)
            return storage_fail(error, "a target of BeeGFS");
    }
    return 0;
}

int beegfs_query(int fd, storage_range range, storage_layout **layout, matrix_error *error)
{
    unsigned char pattern[BEEGFS_PATTERN_BYTES] = {0};
    uint16_t count;
    (void)range;
    if (ioctl(fd, GET_PATTERN, pattern) != 0)
        return storage_fail(error, "the stripe pattern of BeeGFS");
    memcpy(&count, pattern + 8, sizeof count);
    unsigned char *targets = calloc(count | 1u, BEEGFS_TARGET_BYTES);
    if (targets == NULL)
        return -ENOMEM;
    int rc = get_targets(fd, targets, count, error);
    if (rc == 0)
        rc = storage_from_beegfs(pattern, sizeof pattern, targets,
                                 count * (size_t)BEEGFS_TARGET_BYTES, layout, error);
    free(targets);
    return rc;
}
