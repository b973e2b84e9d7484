/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of Lustre: the attribute lustre.lov. */
#include "storage/internal.h"

#include <errno.h>
#include <string.h>

/* Magic numbers of a plain layout, of one with a pool, of one with chosen targets (as with a pool),
 * of a composite one. */
enum { PLAIN = 0x0BD10BD0, WITH_POOL = 0x0BD30BD0, CHOSEN = 0x0BD50BD0, COMPOSITE = 0x0BD60BD0 };

/* Plain layout: magic, pattern, object id (16), stripe size, stripe count (2), generation (2), then
 * the pool's name, then each object: id (16), generation, target. */
enum { PATTERN_AT = 4, SIZE_AT = 24, COUNT_AT = 28, PLAIN_BYTES = 32, POOL_BYTES = 16 };
enum { OBJECT_BYTES = 24, OBJECT_TARGET_AT = 20 };

/* Stripes in turn; targets may repeat; on the metadata server; the data were moved to an archive.
 */
#define STRIPED UINT32_C(0x001)
#define ON_METADATA UINT32_C(0x100)
#define OVERSTRIPED UINT32_C(0x200)
#define COMPRESSED UINT32_C(0x800)
#define RELEASED UINT32_C(0x80000000)
#define PATTERN_FLAGS UINT32_C(0xffff0000)

/* A count that stands for all targets, of a component that is not initialised. */
enum { ALL_TARGETS = 0xffff };

/* Composite layout: magic, size, generation, flags (2), number of components (2), ...; then each
 * component: id, flags, extent (8, 8), offset and size of its plain layout, ... */
enum { ENTRIES_AT = 14, HEADER_BYTES = 32, ENTRY_BYTES = 48 };
enum { FLAGS_AT = 4, START_AT = 8, END_AT = 16, OFFSET_AT = 24, BLOB_SIZE_AT = 28 };

/* Flags of a component: its mirror is out of date; has objects; can become part of its neighbours;
 * has the parity of others. The mirror is the upper half of the id. */
enum { STALE = 0x01, INITIALISED = 0x10, EXTENSION = 0x40, PARITY = 0x80, MIRROR_SHIFT = 16 };

typedef struct attribute {
    const unsigned char *at;
    size_t length;
    bool big_endian;
    matrix_error *error;
} attribute;

/* The unsigned number of that many bytes at the offset. */
static uint64_t get_number(const attribute *a, size_t offset, size_t bytes)
{
    uint64_t number = 0;
    for (size_t k = 0; k < bytes; k++)
        number = number << 8 | a->at[offset + (a->big_endian ? k : bytes - 1 - k)];
    return number;
}

static uint32_t get_word(const attribute *a, size_t offset)
{
    return (uint32_t)get_number(a, offset, 4);
}

/* ---- plain layouts ---- */

static int refuse_truncated(const attribute *a)
{
    return matrix_refuse(a->error, 0, "the layout is truncated, at %zu bytes", a->length);
}

/* The bytes before the objects. */
static int find_objects(const attribute *a, size_t *begin)
{
    if (a->length < PLAIN_BYTES)
        return refuse_truncated(a);
    uint32_t magic = get_word(a, 0);
    if (magic != PLAIN && magic != WITH_POOL && magic != CHOSEN)
        return matrix_refuse(a->error, 0, "a layout of unknown kind, 0x%08x", magic);
    *begin = magic == PLAIN ? PLAIN_BYTES : PLAIN_BYTES + POOL_BYTES;
    return a->length < *begin ? refuse_truncated(a) : 0;
}

static int add_stripes(storage_layout *layout, const attribute *a, size_t begin, size_t count)
{
    if ((a->length - begin) / OBJECT_BYTES < count)
        return matrix_refuse(a->error, 0, "%zu stripes, but objects of only %zu", count,
                             (a->length - begin) / OBJECT_BYTES);
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < count; k++)
        rc = storage_add_object(layout, get_word(a, begin + k * OBJECT_BYTES + OBJECT_TARGET_AT));
    return rc;
}

/* A component, or a whole file. */
static int add_plain(storage_layout *layout, const attribute *a, int64_t start, int64_t end,
                     bool initialised)
{
    size_t begin = 0;
    int rc = find_objects(a, &begin);
    if (rc != 0)
        return rc;
    uint32_t pattern = get_word(a, PATTERN_AT), kind = pattern & ~PATTERN_FLAGS;
    storage_extent e = {.start = start, .end = end, .unit = get_word(a, SIZE_AT)};
    if ((kind & ~(OVERSTRIPED | COMPRESSED)) != STRIPED && kind != ON_METADATA)
        return matrix_refuse(a->error, 0, "a layout of unknown pattern, 0x%x", pattern);
    e.count = (size_t)get_number(a, COUNT_AT, 2);
    if (!initialised && e.count == ALL_TARGETS)
        e.count = 0;
    if (initialised && kind != ON_METADATA && (pattern & RELEASED) == 0)
        rc = add_stripes(layout, a, begin, e.count);
    return rc == 0 ? storage_add_extent(layout, &e, a->error) : rc;
}

/* ---- composite layouts ---- */

static size_t entry_at(size_t index)
{
    return HEADER_BYTES + index * ENTRY_BYTES;
}

static uint32_t mirror_of(const attribute *a, size_t index)
{
    return get_word(a, entry_at(index)) >> MIRROR_SHIFT;
}

static bool is_stale(const attribute *a, size_t entries, uint32_t mirror)
{
    for (size_t k = 0; k < entries; k++)
        if (mirror_of(a, k) == mirror && (get_word(a, entry_at(k) + FLAGS_AT) & STALE) != 0)
            return true;
    return false;
}

static bool has_data(const attribute *a, size_t index)
{
    return (get_word(a, entry_at(index) + FLAGS_AT) & PARITY) == 0;
}

static int choose_mirror(const attribute *a, size_t entries, uint32_t *mirror)
{
    for (size_t k = 0; k < entries; k++) {
        *mirror = mirror_of(a, k);
        if (has_data(a, k) && !is_stale(a, entries, *mirror))
            return 0;
    }
    return matrix_refuse(a->error, 0, "a composite layout of %zu components, none up to date",
                         entries);
}

static int add_component(storage_layout *layout, const attribute *a, size_t index)
{
    size_t at = entry_at(index), offset = get_word(a, at + OFFSET_AT);
    size_t size = get_word(a, at + BLOB_SIZE_AT);
    uint64_t start = get_number(a, at + START_AT, 8), end = get_number(a, at + END_AT, 8);
    uint32_t flags = get_word(a, at + FLAGS_AT);
    if (offset > a->length || size > a->length - offset)
        return matrix_refuse(a->error, 0, "component %zu is at bytes %zu to %zu of a layout of %zu",
                             index, offset, offset + size, a->length);
    if (end == UINT64_MAX)
        end = INT64_MAX;
    if (start > INT64_MAX || end > INT64_MAX)
        return matrix_refuse(a->error, 0, "component %zu is beyond the largest offset", index);
    const attribute blob = {a->at + offset, size, a->big_endian, a->error};
    return add_plain(layout, &blob, (int64_t)start, (int64_t)end,
                     (flags & INITIALISED) != 0 && (flags & EXTENSION) == 0);
}

static int add_components(storage_layout *layout, const attribute *a)
{
    size_t entries = a->length < HEADER_BYTES ? 0 : (size_t)get_number(a, ENTRIES_AT, 2);
    uint32_t mirror = 0;
    if (a->length < HEADER_BYTES || (a->length - HEADER_BYTES) / ENTRY_BYTES < entries)
        return refuse_truncated(a);
    int rc = choose_mirror(a, entries, &mirror);
    for (size_t k = 0; rc == 0 && k < entries; k++)
        if (mirror_of(a, k) == mirror && has_data(a, k))
            rc = add_component(layout, a, k);
    return rc;
}

int storage_from_lustre(const void *bytes, size_t length, storage_layout **layout,
                        matrix_error *error)
{
    attribute a = {bytes, length, false, error};
    if (length < 4)
        return refuse_truncated(&a);
    /* Little-endian by the sources; the lower half of each magic number shows it. */
    a.big_endian = (get_word(&a, 0) & 0xffff) != (PLAIN & 0xffff);
    storage_layout *built = storage_begin("Lustre");
    if (built == NULL)
        return -ENOMEM;
    int rc = get_word(&a, 0) == COMPOSITE ? add_components(built, &a)
                                          : add_plain(built, &a, 0, INT64_MAX, true);
    if (rc == 0)
        rc = storage_finish(built);
    return storage_hand_over(built, rc, layout);
}

/* ---- servers ---- */

void lustre_host_of_nid(const char *nid, char host[STORAGE_LONGEST_HOST + 1])
{
    size_t length = strcspn(nid, "@");
    bool known = length <= STORAGE_LONGEST_HOST && nid[length] == '@' &&
                 strncmp(nid + length, "@lo", 3) != 0;
    memcpy(host, nid, known ? length : 0);
    host[known ? length : 0] = '\0';
}
