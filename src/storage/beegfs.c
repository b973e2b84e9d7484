/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of BeeGFS: what the ioctls of its client return, in the byte order of this host. */
#include "storage/internal.h"

#include <errno.h>
#include <string.h>

enum { IN_TURN = 1, MIRRORED_IN_PAIRS = 2, IN_BUDDY_GROUPS = 3 };

/* Target: index, target or group, primary and secondary target, primary and secondary node, then
 * the names of both nodes. */
enum { TARGET_AT = 4, PRIMARY_AT = 8, NAME_AT = 24, NAME_BYTES = 256 };

static uint32_t get_word(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t number_of_target(const unsigned char *target)
{
    uint32_t primary = get_word(target + PRIMARY_AT);
    return primary != 0 ? primary : get_word(target + TARGET_AT);
}

/* A node that the client does not know has an empty name. */
static int name_targets(storage_layout *layout, const unsigned char *target, size_t count)
{
    storage_extent e;
    char name[NAME_BYTES + 1] = "";
    int rc = 0;
    storage_get_extent(layout, 0, &e);
    for (size_t k = 0; rc == 0 && k < count; k++) {
        memcpy(name, target + k * BEEGFS_TARGET_BYTES + NAME_AT, NAME_BYTES);
        rc = storage_set_host(layout, e.target[k], name);
    }
    return rc;
}

static int add_chunks(storage_layout *layout, size_t chunk, const unsigned char *target,
                      size_t count, matrix_error *error)
{
    const storage_extent all = {.end = INT64_MAX, .unit = (int64_t)chunk, .count = count};
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < count; k++)
        rc = storage_add_object(layout, number_of_target(target + k * BEEGFS_TARGET_BYTES));
    if (rc == 0)
        rc = storage_add_extent(layout, &all, error);
    if (rc == 0)
        rc = storage_finish(layout);
    return rc == 0 ? name_targets(layout, target, count) : rc;
}

int storage_from_beegfs(const void *pattern, size_t length, const void *targets,
                        size_t targets_length, storage_layout **layout, matrix_error *error)
{
    const unsigned char *at = pattern;
    uint16_t count;
    if (length < BEEGFS_PATTERN_BYTES)
        return matrix_refuse(error, 0, "a stripe pattern of %zu bytes", length);
    uint32_t kind = get_word(at), chunk = get_word(at + 4);
    memcpy(&count, at + 8, sizeof count);
    if (kind != IN_TURN && kind != MIRRORED_IN_PAIRS && kind != IN_BUDDY_GROUPS)
        return matrix_refuse(error, 0, "a stripe pattern of unknown kind, %u", kind);
    if (targets_length / BEEGFS_TARGET_BYTES < count || count == 0)
        return matrix_refuse(error, 0, "%u targets, but only %zu are described", count,
                             targets_length / BEEGFS_TARGET_BYTES);
    storage_layout *built = storage_begin("BeeGFS");
    if (built == NULL)
        return -ENOMEM;
    return storage_hand_over(built, add_chunks(built, chunk, targets, count, error), layout);
}
