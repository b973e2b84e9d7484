/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of CephFS: the attribute ceph.file.layout, and the OSDs of the objects of a file. */
#include "storage/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char file_system[] = "CephFS";

/* Numbers in the attribute have 32 bits. */
static bool read_number(const char *at, uint64_t *number)
{
    *number = 0;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9' && *number <= UINT32_MAX; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return *number <= UINT32_MAX && (*at == ' ' || *at == '\0');
}

/* "stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=NAME": the name may have blanks, and
 * is not needed. */
static int read_key(const char *attribute, const char *key, uint64_t *number, matrix_error *error)
{
    size_t length = strlen(key);
    for (const char *at = attribute; strncmp(at, "pool", 4) != 0; at += strspn(at, " ")) {
        if (strncmp(at, key, length) == 0 && at[length] == '=' &&
            read_number(at + length + 1, number))
            return 0;
        at += strcspn(at, " ");
        if (*at == '\0')
            break;
    }
    return matrix_refuse(error, 0, "'%.100s' has no %s of 32 bits", attribute, key);
}

int ceph_read_striping(const char *attribute, file_striping *striping, matrix_error *error)
{
    uint64_t unit = 0, count = 0, object = 0;
    int rc = read_key(attribute, "stripe_unit", &unit, error);
    if (rc == 0)
        rc = read_key(attribute, "stripe_count", &count, error);
    if (rc == 0)
        rc = read_key(attribute, "object_size", &object, error);
    if (rc != 0)
        return rc;
    if (unit == 0 || object == 0 || object % unit != 0 || count == 0 ||
        count > STORAGE_MOST_OBJECTS)
        return matrix_refuse(error, 0, "'%.100s' cannot be", attribute);
    *striping = (file_striping){(int64_t)unit, (int64_t)object, (size_t)count};
    return 0;
}

int ceph_find_objects(const file_striping *striping, storage_range range, size_t *first,
                      size_t *end, matrix_error *error)
{
    int64_t round = striping->object * (int64_t)striping->count;
    int64_t last = range.to > range.from ? range.to - 1 : range.from;
    if (last / round >= STORAGE_MOST_OBJECTS / (int64_t)striping->count)
        return matrix_refuse(error, 0, "more than %d objects", STORAGE_MOST_OBJECTS);
    *first = (size_t)(range.from / round) * striping->count;
    *end = (size_t)(last / round + 1) * striping->count;
    return 0;
}

int64_t ceph_object_offset(const file_striping *striping, size_t object)
{
    int64_t round = (int64_t)(object / striping->count);
    return round * striping->object * (int64_t)striping->count +
           (int64_t)(object % striping->count) * striping->unit;
}

/* ---- placement groups ---- */

void ceph_name_object(uint64_t inode, size_t object, char name[CEPH_OBJECT_BYTES])
{
    snprintf(name, CEPH_OBJECT_BYTES, "%" PRIx64 ".%08zx", inode, object);
}

/* One round of Bob Jenkins' hash of 1996. Positive: a shift to the right. */
static void mix_words(uint32_t word[3])
{
    static const int shift[] = {13, -8, 13, 12, -16, 5, 3, -10, 15};
    for (size_t k = 0; k < sizeof shift / sizeof *shift; k++) {
        uint32_t *mixed = &word[k % 3], last = word[(k + 2) % 3];
        *mixed -= word[(k + 1) % 3] + last;
        *mixed ^= shift[k] > 0 ? last >> shift[k] : last << -shift[k];
    }
}

/* Bytes are those of little-endian words; the length is in the lowest one of the third word. */
static uint32_t hash_name(const char *name, size_t length)
{
    enum { BYTES = 12 };
    uint32_t word[3] = {0x9e3779b9, 0x9e3779b9, 0};
    for (size_t k = 0; k < length; k++) {
        bool is_last = k >= length / BYTES * BYTES;
        size_t at = k % BYTES + (is_last && k % BYTES >= 8);
        word[at / 4] += (uint32_t)(unsigned char)name[k] << at % 4 * 8;
        if (k % BYTES == BYTES - 1)
            mix_words(word);
    }
    word[2] += (uint32_t)length;
    mix_words(word);
    return word[2];
}

/* A namespace and the name are separated by a character. Where the number of groups is no power of
 * two, hashes beyond it have a bit less. */
int64_t ceph_find_group(const char *name_space, const char *object, int64_t groups)
{
    char name[CEPH_LONGEST_NAME + 1 + CEPH_OBJECT_BYTES];
    int length = snprintf(name, sizeof name, "%s%s%s", name_space,
                          name_space[0] != '\0' ? "\037" : "", object);
    int64_t hash = hash_name(name, (size_t)length), mask = 1;
    while (mask < groups)
        mask *= 2;
    int64_t group = hash & (mask - 1);
    return group < groups ? group : hash & (mask / 2 - 1);
}

/* ---- layouts ---- */

/* From objects to a layout, unless rc is an error. */
static int finish_file(storage_layout *built, const file_striping *striping, int rc,
                       storage_layout **layout, matrix_error *error)
{
    const storage_extent all = {.end = INT64_MAX,
                                .unit = striping->unit,
                                .count = striping->count,
                                .object = striping->object};
    if (rc == 0)
        rc = storage_add_extent(built, &all, error);
    if (rc == 0)
        rc = storage_finish(built);
    return storage_hand_over(built, rc, layout);
}

int storage_from_ceph(const char *attribute, const int64_t *osd, size_t objects,
                      storage_layout **layout, matrix_error *error)
{
    file_striping striping = {0};
    int rc = ceph_read_striping(attribute, &striping, error);
    if (rc != 0)
        return rc;
    storage_layout *built = storage_begin(file_system);
    if (built == NULL)
        return -ENOMEM;
    for (size_t k = 0; rc == 0 && k < objects; k++)
        rc = storage_add_object(built, osd[k] < 0 ? STORAGE_NO_NUMBER : (uint64_t)osd[k]);
    return finish_file(built, &striping, rc, layout, error);
}

/* ---- other stripings ---- */

/* What CephFS takes is a multiple of 64 KiB. Objects are no smaller than by default, or a large
 * file would have very many; servers refuse to write beyond a limit of their own, 128 MiB by
 * default. */
bool storage_can_be_striped(const storage_layout *layout, file_striping_limits *limits)
{
    *limits = (file_striping_limits){.grain = 64 << 10,
                                     .least_object = 4 << 20,
                                     .most_object = 64 << 20,
                                     .targets = storage_targets(layout)};
    return strcmp(storage_file_system(layout), file_system) == 0 && storage_extents(layout) == 1;
}

/* An object has the same OSD whatever is in it: it follows from the numbers of file and object. */
int storage_with_striping(const storage_layout *layout, const file_striping *striping,
                          int64_t bytes, storage_layout **other)
{
    storage_extent e;
    matrix_error error;
    size_t first, needed = 0;
    storage_get_extent(layout, 0, &e);
    int rc = ceph_find_objects(striping, (storage_range){0, bytes}, &first, &needed, &error);
    if (rc != 0 || needed > e.objects)
        return -ENOENT;
    storage_layout *built = storage_begin(file_system);
    if (built == NULL)
        return -ENOMEM;
    for (size_t k = 0; rc == 0 && k < e.objects; k++)
        rc = storage_add_object(built, e.target[k] == STORAGE_NONE
                                           ? STORAGE_NO_NUMBER
                                           : storage_target_number(layout, e.target[k]));
    return finish_file(built, striping, rc, other, &error);
}
