/* SPDX-License-Identifier: BSD-3-Clause */
/* Building lists of runs, and ordering them. */
#include "access/list.h"
#include "access/cursor.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void access_release(access_list *list)
{
    if (list->capacity > 0)
        free(list->run);
    memset(list, 0, sizeof *list);
}

access_list access_borrow(const access_list *list)
{
    return (access_list){.run = list->run, .count = list->count, .bytes = list->bytes};
}

void access_clear(access_list *list)
{
    list->count = 0;
    list->bytes = 0;
}

/* Fields are passed one by one: a copy of a struct waits for them. */
static int append_new_run(access_list *list, int64_t offset, int64_t length, int64_t stride,
                          int64_t count, int64_t stream)
{
    if (base_reserve(&list->run, &list->capacity, list->count + 1, sizeof *list->run) != 0)
        return -ENOMEM;
    access_run *run = &list->run[list->count++];
    run->offset = offset;
    run->length = length;
    run->stride = stride;
    run->count = count;
    run->stream = stream;
    return 0;
}

static int64_t last_block(const access_run *run)
{
    return run->offset + (run->count - 1) * run->stride;
}

/* Appends a block adjacent to the last one, which becomes longer: in a new run, since the
 * blocks of a run are of one length. */
static int lengthen_last(access_list *list, int64_t length)
{
    access_run *last = &list->run[list->count - 1];
    if (last->count == 1) {
        last->length += length;
        return 0;
    }
    int64_t offset = last_block(last), stream = last->stream + (last->count - 1) * last->length;
    if (--last->count == 1)
        last->stride = 0;
    return append_new_run(list, offset, last->length + length, 0, 1, stream);
}

/* 1 when the block continues the last run's stride (or, after a single block, defines it). */
static int continues_run(const access_run *last, int64_t offset, int64_t length)
{
    int64_t step;
    if (last->length != length)
        return 0;
    if (__builtin_sub_overflow(offset, last_block(last), &step))
        return 0;
    return last->count == 1 ? step != 0 : step == last->stride;
}

static int append_block(access_list *list, int64_t offset, int64_t length, int64_t stream)
{
    access_run *last = list->count ? &list->run[list->count - 1] : NULL;
    int follows = last != NULL && last->stream + last->count * last->length == stream, rc = 0;

    if (follows && last_block(last) + last->length == offset) {
        rc = lengthen_last(list, length);
    } else if (follows && continues_run(last, offset, length)) {
        last->stride = offset - last_block(last);
        last->count++;
    } else {
        rc = append_new_run(list, offset, length, 0, 1, stream);
    }
    if (rc == 0)
        list->bytes += length;
    return rc;
}

int access_append(access_list *list, int64_t offset, int64_t length, int64_t stream)
{
    int64_t end;
    if (length == 0)
        return 0;
    if (offset < 0 || length < 0 || __builtin_add_overflow(offset, length, &end))
        return -EINVAL;
    return append_block(list, offset, length, stream);
}

int access_append_memory(access_list *memory, const void *address, size_t length)
{
    if (length == 0)
        return 0;
    if (length > INT64_MAX)
        return -EINVAL;
    return append_block(memory, (int64_t)(intptr_t)address, (int64_t)length, memory->bytes);
}

static int run_is_valid(const access_run *run)
{
    int64_t span, last, end;
    return run->offset >= 0 && run->length > 0 && run->count > 0 &&
           !__builtin_mul_overflow(run->stride, run->count - 1, &span) &&
           !__builtin_add_overflow(run->offset, span, &last) && last >= 0 &&
           !__builtin_add_overflow(last, run->length, &end);
}

int access_append_run(access_list *list, const access_run *run)
{
    if (run->count == 1)
        return access_append(list, run->offset, run->length, run->stream);
    if (!run_is_valid(run))
        return -EINVAL;
    if (run->stride == run->length)
        return append_block(list, run->offset, run->length * run->count, run->stream);
    access_run *last = list->count ? &list->run[list->count - 1] : NULL;
    if (last != NULL && last->count > 1 && last->length == run->length &&
        last->stride == run->stride && run->offset - last_block(last) == run->stride &&
        last->stream + last->count * last->length == run->stream)
        last->count += run->count;
    else if (append_new_run(list, run->offset, run->length, run->stride, run->count, run->stream) !=
             0)
        return -ENOMEM;
    list->bytes += run->count * run->length;
    return 0;
}

int64_t access_lower(const access_list *list)
{
    return list->count ? list->run[0].offset : ACCESS_END;
}

int64_t access_upper(const access_list *list)
{
    if (list->count == 0)
        return 0;
    const access_run *last = &list->run[list->count - 1];
    return last_block(last) + last->length;
}

int64_t access_blocks(const access_list *list)
{
    int64_t blocks = 0, end = -1;
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i];
        blocks += (run->stride == run->length ? 1 : run->count) - (run->offset == end);
        end = last_block(run) + run->length;
    }
    return blocks;
}

int access_is_ordered(const access_list *list)
{
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i];
        if (run->offset < end || (run->count > 1 && run->stride < run->length))
            return 0;
        end = last_block(run) + run->length;
    }
    return 1;
}

static size_t count_blocks(const access_list *list)
{
    size_t blocks = 0;
    for (size_t i = 0; i < list->count; i++)
        blocks += (size_t)list->run[i].count;
    return blocks;
}

static int compare_blocks(const void *a, const void *b)
{
    const access_piece *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

static access_piece *sorted_blocks(const access_list *list, size_t *count)
{
    size_t n = 0;
    *count = count_blocks(list);
    access_piece *block = base_alloc(*count, sizeof *block);
    if (block == NULL)
        return NULL;
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i];
        for (int64_t b = 0; b < run->count; b++, n++) {
            block[n] = (access_piece){run->offset + b * run->stride, run->length,
                                      run->stream + b * run->length};
        }
    }
    qsort(block, n, sizeof *block, compare_blocks);
    return block;
}

/* end[leaves + i] is one past the last offset of layer i, ACCESS_END where there is no such layer
 * yet; end[n] is the least of end[2 * n] and end[2 * n + 1]. */
typedef struct layer_set {
    access_list *layer;
    size_t count, capacity;
    int64_t *end;
    size_t leaves; /* a power of two, or 0 */
} layer_set;

static void release_layers(layer_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        access_release(&set->layer[i]);
    free(set->layer);
}

static int64_t lesser_end(const int64_t *end, size_t node)
{
    return end[2 * node] < end[2 * node + 1] ? end[2 * node] : end[2 * node + 1];
}

static int double_leaves(layer_set *set)
{
    size_t leaves = set->leaves > 0 ? 2 * set->leaves : 1;
    int64_t *end = base_alloc(leaves, 2 * sizeof *end);
    if (end == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < leaves; i++)
        end[leaves + i] = i < set->leaves ? set->end[set->leaves + i] : ACCESS_END;
    for (size_t node = leaves - 1; node > 0; node--)
        end[node] = lesser_end(end, node);
    free(set->end);
    set->end = end;
    set->leaves = leaves;
    return 0;
}

/* The first layer that ends at or before `offset`; set->count if none does. */
static size_t find_layer(const layer_set *set, int64_t offset)
{
    size_t node = 1;
    if (set->leaves == 0 || set->end[node] > offset)
        return set->count;
    while (node < set->leaves)
        node = 2 * node + (set->end[2 * node] > offset);
    return node - set->leaves;
}

static void set_end(layer_set *set, size_t layer, int64_t end)
{
    size_t node = set->leaves + layer;
    set->end[node] = end;
    for (node /= 2; node > 0; node /= 2)
        set->end[node] = lesser_end(set->end, node);
}

static int append_to_layer(layer_set *set, const access_piece *block)
{
    size_t i = find_layer(set, block->offset);
    int rc = 0;
    if (i == set->count) {
        rc = base_reserve(&set->layer, &set->capacity, i + 1, sizeof *set->layer);
        if (rc == 0 && i == set->leaves)
            rc = double_leaves(set);
        if (rc != 0)
            return rc;
        set->layer[set->count++] = (access_list){0};
    }
    rc = access_append(&set->layer[i], block->offset, block->length, block->stream);
    set_end(set, i, block->offset + block->length);
    return rc;
}

int access_layers(const access_list *list, access_list **layers, size_t *count)
{
    layer_set set = {0};
    size_t blocks;
    int rc = 0;
    access_piece *block = sorted_blocks(list, &blocks);
    if (block == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < blocks && rc == 0; i++)
        rc = append_to_layer(&set, &block[i]);
    free(block);
    free(set.end);
    if (rc != 0) {
        release_layers(&set);
        return rc;
    }
    *layers = set.layer;
    *count = set.count;
    return 0;
}
