/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any bytes as the layout of a file, by a letter in front: L, B, C of Lustre,
 * BeeGFS, CephFS; T of a text, R of the lines of a record. What is accepted must have a target, or
 * none, for every byte. */
#include "storage/storage.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_STEPS = 2000, PATTERN_BYTES = 12, MOST_OBJECTS = 64 };

/* The target of a byte by what the extent says. */
static size_t target_of(const storage_extent *e, int64_t offset)
{
    uint64_t unit = (uint64_t)(offset / e->unit), object = unit % e->count;
    if (e->object > 0)
        object += unit / e->count / (uint64_t)(e->object / e->unit) * e->count;
    return object < e->objects ? e->target[object] : STORAGE_NONE;
}

static void check_extent(const storage_layout *layout, const storage_extent *e)
{
    int64_t offset = e->start, next;
    if (e->start < 0 || e->end <= e->start || e->unit < 1)
        abort();
    for (size_t step = 0; offset < e->end && step < MOST_STEPS; step++, offset = next) {
        size_t target = storage_find(layout, offset, &next);
        if (next <= offset || next > e->end)
            abort();
        if (target != (e->objects == 0 ? STORAGE_NONE : target_of(e, offset)) ||
            target != (e->objects == 0 ? STORAGE_NONE : target_of(e, next - 1)))
            abort();
    }
}

/* No byte is on two targets, or counted twice. */
static void check_sums(const storage_layout *layout, int64_t end)
{
    size_t targets = storage_targets(layout);
    int64_t *bytes = calloc(targets + 1, sizeof *bytes), left = end;
    if (bytes == NULL)
        return;
    storage_count(layout, 0, end, bytes);
    for (size_t t = 0; t <= targets; t++) {
        if (bytes[t] < 0 || bytes[t] > left)
            abort();
        left -= bytes[t];
    }
    if (left != 0)
        abort();
    free(bytes);
}

static void check_storage(const storage_layout *layout)
{
    int64_t before = 0, next;
    for (size_t k = 0; k < storage_extents(layout); k++) {
        storage_extent e;
        storage_get_extent(layout, k, &e);
        if (e.start < before ||
            (e.start > before && storage_find(layout, before, &next) != STORAGE_NONE))
            abort();
        check_extent(layout, &e);
        before = e.end;
    }
    check_sums(layout, (int64_t)1 << 40);
    check_sums(layout, INT64_MAX);
    for (size_t t = 0; t < storage_targets(layout); t++) {
        const char *host = storage_target_host(layout, t);
        if (host != NULL && (*host == '\0' || strlen(host) > 255))
            abort();
    }
}

static int read_text(const uint8_t *data, size_t size, storage_layout **layout, matrix_error *error)
{
    FILE *stream = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (stream == NULL)
        return -1;
    int rc = storage_read_targets(stream, layout, error);
    fclose(stream);
    if (rc == 0 && storage_extents(*layout) == 0 &&
        storage_stripe(*layout, (int64_t)size, 0, error) != 0)
        abort();
    return rc;
}

static int read_recorded(const uint8_t *data, size_t size, storage_layout **layout,
                         matrix_error *error)
{
    char *text = strndup((const char *)data, size), *again;
    int rc = text == NULL ? -1 : storage_read_recorded(text, 1, layout, error);
    free(text);
    if (rc != 0)
        return rc;
    again = storage_record(*layout);
    if (again == NULL || strlen(again) == 0)
        abort();
    free(again);
    return 0;
}

/* The string, and a byte for each object after it. */
static int read_ceph(const uint8_t *data, size_t size, storage_layout **layout, matrix_error *error)
{
    int64_t osd[MOST_OBJECTS];
    size_t length = strnlen((const char *)data, size), objects = 0;
    if (length == size)
        return -1;
    for (size_t k = length + 1; k < size && objects < MOST_OBJECTS; k++)
        osd[objects++] = (int8_t)data[k];
    return storage_from_ceph((const char *)data, osd, objects, layout, error);
}

static int read_layout(const uint8_t *data, size_t size, storage_layout **layout,
                       matrix_error *error)
{
    size_t pattern = size - 1 < PATTERN_BYTES ? size - 1 : PATTERN_BYTES;
    switch (data[0]) {
    case 'L': return storage_from_lustre(data + 1, size - 1, layout, error);
    case 'B':
        return storage_from_beegfs(data + 1, pattern, data + 1 + pattern, size - 1 - pattern,
                                   layout, error);
    case 'C': return read_ceph(data + 1, size - 1, layout, error);
    case 'T': return read_text(data + 1, size - 1, layout, error);
    case 'R': return read_recorded(data + 1, size - 1, layout, error);
    default: return -1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    storage_layout *layout;
    matrix_error error;
    if (size > 0 && read_layout(data, size, &layout, &error) == 0) {
        check_storage(layout);
        storage_free(layout);
    }
    return 0;
}
