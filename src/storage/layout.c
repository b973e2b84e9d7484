/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts: how they are built, and what they say. */
#include "storage/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Extents are few, objects many: those of all extents are in one array. */
typedef struct extent {
    int64_t start, end, unit, object_size;
    size_t count, first, objects;
} extent;

struct storage_layout {
    const char *file_system;
    extent *extent;
    size_t extents, extent_capacity;
    uint64_t *number_of; /* the target of each object; until storage_finish */
    size_t objects, object_capacity;
    size_t *target_of; /* the same as indices; after it */
    uint64_t *number;  /* of each target, ascending */
    char **host;
    size_t targets;
    size_t added; /* objects that belong to an extent */
};

/* ---- building ---- */

storage_layout *storage_begin(const char *file_system)
{
    storage_layout *layout = calloc(1, sizeof *layout);
    if (layout != NULL)
        layout->file_system = file_system;
    return layout;
}

int storage_add_object(storage_layout *layout, uint64_t number)
{
    int rc = base_reserve(&layout->number_of, &layout->object_capacity, layout->objects + 1,
                          sizeof *layout->number_of);
    if (rc == 0)
        layout->number_of[layout->objects++] = number;
    return rc;
}

static int check_extent(const storage_layout *layout, const storage_extent *e, matrix_error *error)
{
    size_t index = layout->extents;
    int64_t before = index > 0 ? layout->extent[index - 1].end : 0;
    if (e->start < 0 || e->end <= e->start)
        return matrix_refuse(error, 0, "extent %zu, from %lld to %lld, is none", index,
                             (long long)e->start, (long long)e->end);
    if (e->start < before)
        return matrix_refuse(error, 0,
                             "extent %zu begins at %lld, where the one before it goes "
                             "on to %lld",
                             index, (long long)e->start, (long long)before);
    if (e->unit < 1)
        return matrix_refuse(error, 0, "a stripe unit of %lld bytes", (long long)e->unit);
    if (e->count > STORAGE_MOST_OBJECTS || (e->count == 0 && layout->objects > layout->added))
        return matrix_refuse(error, 0, "a stripe count of %zu", e->count);
    if (e->object < 0 || e->object % e->unit != 0)
        return matrix_refuse(error, 0, "objects of %lld bytes are not whole stripe units of %lld",
                             (long long)e->object, (long long)e->unit);
    return 0;
}

int storage_add_extent(storage_layout *layout, const storage_extent *e, matrix_error *error)
{
    size_t objects = layout->objects - layout->added;
    int rc = check_extent(layout, e, error);
    if (rc == 0)
        rc = base_reserve(&layout->extent, &layout->extent_capacity, layout->extents + 1,
                          sizeof *layout->extent);
    if (rc != 0)
        return rc;
    layout->extent[layout->extents++] =
        (extent){e->start, e->end, e->unit, e->object, e->count, layout->added, objects};
    layout->added = layout->objects;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Fills `number` with the numbers of the targets, ascending and each once. */
static size_t collect_numbers(const storage_layout *layout, uint64_t *number)
{
    size_t count = 0;
    if (layout->objects > 0)
        memcpy(number, layout->number_of, layout->objects * sizeof *number);
    qsort(number, layout->objects, sizeof *number, compare_numbers);
    for (size_t k = 0; k < layout->objects; k++)
        if (number[k] != STORAGE_NO_NUMBER && (count == 0 || number[k] != number[count - 1]))
            number[count++] = number[k];
    return count;
}

/* The index of the target of that number, or STORAGE_NONE. */
static size_t find_number(const storage_layout *layout, uint64_t number)
{
    const uint64_t *found = layout->targets == 0 ? NULL
                                                 : bsearch(&number, layout->number, layout->targets,
                                                           sizeof *layout->number, compare_numbers);
    return found == NULL ? STORAGE_NONE : (size_t)(found - layout->number);
}

int storage_finish(storage_layout *layout)
{
    layout->number = base_alloc(layout->objects, sizeof *layout->number);
    layout->target_of = base_alloc(layout->objects, sizeof *layout->target_of);
    if (layout->number == NULL || layout->target_of == NULL)
        return -ENOMEM;
    size_t targets = collect_numbers(layout, layout->number);
    layout->host = calloc(targets | 1, sizeof *layout->host);
    if (layout->host == NULL)
        return -ENOMEM;
    layout->targets = targets;
    for (size_t k = 0; k < layout->objects; k++)
        layout->target_of[k] = find_number(layout, layout->number_of[k]);
    free(layout->number_of);
    layout->number_of = NULL;
    return 0;
}

int storage_hand_over(storage_layout *built, int rc, storage_layout **layout)
{
    if (rc == 0)
        *layout = built;
    else
        storage_free(built);
    return rc;
}

int storage_stripe(storage_layout *targets, int64_t unit, size_t count, matrix_error *error)
{
    storage_extent all = {
        .end = INT64_MAX, .unit = unit, .count = count > 0 ? count : targets->objects};
    if (all.count > targets->objects)
        return matrix_refuse(error, 0, "%zu targets are fewer than the stripe count, %zu",
                             targets->objects, count);
    int rc = storage_add_extent(targets, &all, error);
    if (rc == 0)
        targets->extent[0].objects = all.count;
    return rc;
}

void storage_free(storage_layout *layout)
{
    if (layout == NULL)
        return;
    for (size_t k = 0; k < layout->targets; k++)
        free(layout->host[k]);
    free(layout->host);
    free(layout->number);
    free(layout->target_of);
    free(layout->number_of);
    free(layout->extent);
    free(layout);
}

/* ---- hosts ---- */

bool storage_is_host_name(const char *host)
{
    size_t length = 0;
    for (; host[length] != '\0'; length++)
        if (length == STORAGE_LONGEST_HOST || host[length] <= ' ' || host[length] > '~')
            return false;
    return length > 0;
}

int storage_set_host(storage_layout *layout, size_t target, const char *host)
{
    if (!storage_is_host_name(host))
        return 0;
    char *copy = base_alloc(strlen(host) + 1, 1);
    if (copy == NULL)
        return -ENOMEM;
    strcpy(copy, host);
    free(layout->host[target]);
    layout->host[target] = copy;
    return 0;
}

/* NULL: none. */
static const char *host_of_number(const storage_layout *hosts, uint64_t number)
{
    size_t target = find_number(hosts, number);
    return target == STORAGE_NONE ? NULL : hosts->host[target];
}

int storage_copy_hosts(storage_layout *layout, const storage_layout *hosts, matrix_error *error)
{
    for (size_t k = 0; k < layout->targets; k++)
        if (layout->host[k] == NULL && host_of_number(hosts, layout->number[k]) == NULL) {
            matrix_refuse(error, 0, "target %llu has no host",
                          (unsigned long long)layout->number[k]);
            return -ENXIO;
        }
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < layout->targets; k++) {
        const char *host = host_of_number(hosts, layout->number[k]);
        if (host != NULL)
            rc = storage_set_host(layout, k, host);
    }
    return rc;
}

/* ---- copying ---- */

/* `count` elements of `size` bytes; NULL: no memory. */
static void *copy_array(const void *array, size_t count, size_t size)
{
    void *copy = base_alloc(count, size);
    if (copy != NULL && count > 0)
        memcpy(copy, array, count * size);
    return copy;
}

int storage_copy(const storage_layout *layout, storage_layout **copy)
{
    storage_layout *made = storage_begin(layout->file_system);
    if (made == NULL)
        return -ENOMEM;
    made->extent = copy_array(layout->extent, layout->extents, sizeof *made->extent);
    made->target_of = copy_array(layout->target_of, layout->objects, sizeof *made->target_of);
    made->number = copy_array(layout->number, layout->targets, sizeof *made->number);
    made->host = calloc(layout->targets | 1, sizeof *made->host);
    made->extents = made->extent_capacity = layout->extents;
    made->objects = layout->objects;
    made->added = layout->added;
    bool complete = made->extent != NULL && made->target_of != NULL && made->number != NULL;
    int rc = complete && made->host != NULL ? 0 : -ENOMEM;
    made->targets = made->host != NULL ? layout->targets : 0;
    for (size_t k = 0; rc == 0 && k < layout->targets; k++)
        if (layout->host[k] != NULL)
            rc = storage_set_host(made, k, layout->host[k]);
    return storage_hand_over(made, rc, copy);
}

/* ---- what a layout says ---- */

const char *storage_file_system(const storage_layout *layout)
{
    return layout->file_system;
}

size_t storage_extents(const storage_layout *layout)
{
    return layout->extents;
}

void storage_get_extent(const storage_layout *layout, size_t index, storage_extent *e)
{
    const extent *x = &layout->extent[index];
    *e = (storage_extent){x->start,  x->end,         x->unit,
                          x->count,  x->object_size, layout->target_of + x->first,
                          x->objects};
}

size_t storage_targets(const storage_layout *layout)
{
    return layout->targets;
}

uint64_t storage_target_number(const storage_layout *layout, size_t target)
{
    return layout->number[target];
}

const char *storage_target_host(const storage_layout *layout, size_t target)
{
    return layout->host[target];
}

/* The first extent that ends behind the offset, or the number of extents. */
static size_t find_extent(const storage_layout *layout, int64_t offset)
{
    size_t low = 0, high = layout->extents;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (layout->extent[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The object of a byte of the extent; SIZE_MAX: beyond all that may be listed. */
static size_t object_of(const extent *e, int64_t offset)
{
    uint64_t unit = (uint64_t)(offset / e->unit);
    size_t object = (size_t)(unit % e->count);
    if (e->object_size == 0)
        return object;
    uint64_t round = unit / e->count / (uint64_t)(e->object_size / e->unit);
    return round > STORAGE_MOST_OBJECTS ? SIZE_MAX : (size_t)round * e->count + object;
}

/* The end of the stretch of that length around the offset, or of the extent. */
static int64_t end_of_stretch(const extent *e, int64_t offset, int64_t length)
{
    int64_t end;
    if (length == 0 || __builtin_add_overflow(offset - offset % length, length, &end) ||
        end > e->end)
        return e->end;
    return end;
}

size_t storage_find(const storage_layout *layout, int64_t offset, int64_t *next)
{
    size_t k = find_extent(layout, offset);
    *next = INT64_MAX;
    if (k == layout->extents)
        return STORAGE_NONE;
    const extent *e = &layout->extent[k];
    *next = offset < e->start ? e->start : e->end;
    if (offset < e->start || e->objects == 0)
        return STORAGE_NONE;
    *next = end_of_stretch(e, offset, e->count == 1 ? e->object_size : e->unit);
    size_t object = object_of(e, offset);
    return object < e->objects ? layout->target_of[e->first + object] : STORAGE_NONE;
}

/* Bytes of the first `length` ones that are in the unit of that place in each round of `count`. */
static int64_t bytes_in_turn(const extent *e, int64_t length, size_t place)
{
    int64_t count = (int64_t)e->count, units = length / e->unit, at = (int64_t)place;
    int64_t whole = units / count + (units % count > at);
    return whole * e->unit + (units % count == at ? length % e->unit : 0);
}

/* Bytes of the object before that offset, counted from the beginning of the file. */
static int64_t bytes_before(const extent *e, int64_t offset, size_t object)
{
    int64_t round, begin;
    if (e->object_size == 0)
        return bytes_in_turn(e, offset, object);
    round = e->object_size * (int64_t)e->count;
    begin = round * (int64_t)(object / e->count);
    offset = offset < begin ? 0 : offset - begin < round ? offset - begin : round;
    return bytes_in_turn(e, offset, object % e->count);
}

/* Adds the bytes of [start, end), within the extent, to those of each target. Returns how many are
 * on any. */
static int64_t count_in_extent(const storage_layout *layout, const extent *e, int64_t start,
                               int64_t end, int64_t *bytes)
{
    int64_t counted = 0;
    for (size_t i = 0; i < e->objects; i++) {
        size_t target = layout->target_of[e->first + i];
        if (target == STORAGE_NONE)
            continue;
        int64_t here = bytes_before(e, end, i) - bytes_before(e, start, i);
        bytes[target] += here;
        counted += here;
    }
    return counted;
}

void storage_count(const storage_layout *layout, int64_t start, int64_t end, int64_t *bytes)
{
    int64_t left = end - start;
    memset(bytes, 0, layout->targets * sizeof *bytes);
    for (size_t k = find_extent(layout, start); k < layout->extents; k++) {
        const extent *e = &layout->extent[k];
        if (e->start >= end)
            break;
        left -= count_in_extent(layout, e, start > e->start ? start : e->start,
                                end < e->end ? end : e->end, bytes);
    }
    bytes[layout->targets] = left;
}
