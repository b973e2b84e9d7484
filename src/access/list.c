/* SPDX-License-Identifier: BSD-3-Clause */
/* Building lists of runs, also from parts of others, and ordering them. */
#include "access/list.h"
#include "access/cursor.h"
#include "base/memory.h"
#include "base/mix.h"

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

/* Two chains of a 64-bit hash from different states. Each step is a bijection of the state for a
 * given value, and of the value for a given state, so that no difference that stands alone is lost.
 */
static void mix_value(access_fingerprint *fingerprint, int64_t value)
{
    for (size_t i = 0; i < 2; i++)
        fingerprint->half[i] = base_mix(fingerprint->half[i] ^ (uint64_t)value);
}

access_fingerprint access_get_fingerprint(const access_list *list)
{
    access_fingerprint fingerprint = {{1, 2}};
    mix_value(&fingerprint, (int64_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i], *first = &list->run[0];
        mix_value(&fingerprint, (int64_t)((uint64_t)run->offset - (uint64_t)first->offset));
        mix_value(&fingerprint, run->length);
        mix_value(&fingerprint, run->stride);
        mix_value(&fingerprint, run->count);
        mix_value(&fingerprint, run->stream);
    }
    return fingerprint;
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

/* end[leaves + i] is one past the last offset of layer i, 0 where there is no such layer yet;
 * end[n] is the least of end[2 * n] and end[2 * n + 1]. */
typedef struct layer_set {
    access_list *layer;
    size_t count, capacity;
    int64_t *end;
    size_t leaves; /* a power of two, no less than the blocks */
} layer_set;

static void release_layers(layer_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        access_release(&set->layer[i]);
    free(set->layer);
}

/* Takes the first layer that ends at or before the block, or one more. */
static int append_to_layer(layer_set *set, const access_piece *block)
{
    size_t node = 1;
    while (node < set->leaves)
        node = 2 * node + (set->end[2 * node] > block->offset);
    size_t i = node - set->leaves;
    if (i == set->count) {
        int rc = base_reserve(&set->layer, &set->capacity, i + 1, sizeof *set->layer);
        if (rc != 0)
            return rc;
        set->layer[set->count++] = (access_list){0};
    }
    set->end[node] = block->offset + block->length;
    for (node /= 2; node > 0; node /= 2)
        set->end[node] = access_least(set->end[2 * node], set->end[2 * node + 1]);
    return access_append(&set->layer[i], block->offset, block->length, block->stream);
}

int access_layers(const access_list *list, access_list **layers, size_t *count)
{
    layer_set set = {.leaves = 1};
    size_t blocks;
    int rc = 0;
    access_piece *block = sorted_blocks(list, &blocks);
    if (block == NULL)
        return -ENOMEM;
    while (set.leaves < blocks)
        set.leaves *= 2;
    set.end = base_zeroed(set.leaves, 2 * sizeof *set.end, &rc);
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

/* ---- slices ---- */

size_t access_find_run(const access_list *list, int64_t stream)
{
    size_t low = 0, high = list->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (list->run[middle].stream <= stream)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int append_moved(access_list *list, access_run run, int64_t shift)
{
    run.stream = list->bytes;
    if (__builtin_add_overflow(run.offset, shift, &run.offset))
        return -EINVAL;
    return access_append_run(list, &run);
}

/* Bytes [from, to) of one run, counted from its begin: the rest of a block, whole blocks, the head
 * of a block. */
static int append_run_part(access_list *list, const access_run *run, int64_t from, int64_t to,
                           int64_t shift)
{
    int64_t block = from / run->length, within = from % run->length;
    int rc = 0;
    if (within > 0) {
        int64_t rest = run->length - within, length = rest < to - from ? rest : to - from;
        access_run head = {run->offset + block * run->stride + within, length, 0, 1, 0};
        rc = append_moved(list, head, shift);
        from += length;
        block++;
    }
    int64_t whole = (to - from) / run->length;
    if (rc == 0 && whole > 0) {
        access_run body = {run->offset + block * run->stride, run->length, run->stride, whole, 0};
        rc = append_moved(list, body, shift);
        from += whole * run->length;
        block += whole;
    }
    if (rc == 0 && from < to) {
        access_run tail = {run->offset + block * run->stride, to - from, 0, 1, 0};
        rc = append_moved(list, tail, shift);
    }
    return rc;
}

int access_append_slice(access_list *list, const access_list *source, int64_t from, int64_t to,
                        int64_t shift)
{
    int rc = 0;
    for (size_t i = access_find_run(source, from); i < source->count && from < to && rc == 0; i++) {
        const access_run *run = &source->run[i];
        int64_t end = run->count * run->length;
        end = to - run->stream < end ? to - run->stream : end;
        rc = append_run_part(list, run, from - run->stream, end, shift);
        from = run->stream + end;
    }
    return rc;
}

/* ---- tiling ---- */

/* Whole copies, the first of them at `base`. */
static int append_copies(access_list *list, const access_list *period, int64_t base, int64_t extent,
                         int64_t copies)
{
    int rc = 0;
    if (period->count == 1 && period->run[0].count == 1 && copies > 1 && extent >= 0) {
        const access_run *block = &period->run[0];
        access_run run = {0, block->length, extent, copies, list->bytes};
        if (__builtin_add_overflow(base, block->offset, &run.offset))
            return -EINVAL;
        return access_append_run(list, &run);
    }
    for (int64_t c = 0; c < copies && rc == 0; c++)
        rc = access_append_slice(list, period, 0, period->bytes, base + c * extent);
    return rc;
}

int access_append_tiled(access_list *list, const access_list *period, int64_t base, int64_t extent,
                        int64_t from, int64_t bytes)
{
    int64_t size = period->bytes, last, end;
    if (bytes == 0)
        return 0;
    if (size == 0 || __builtin_add_overflow(from, bytes - 1, &last))
        return -EINVAL;
    int64_t copy = from / size, head = from % size, tail = last % size + 1;
    last /= size;
    if (__builtin_mul_overflow(last, extent, &end) || __builtin_add_overflow(base, end, &end))
        return -EINVAL;
    if (copy == last)
        return access_append_slice(list, period, head, tail, end);
    int rc = access_append_slice(list, period, head, size, base + copy * extent);
    if (rc == 0)
        rc = append_copies(list, period, base + (copy + 1) * extent, extent, last - copy - 1);
    if (rc == 0)
        rc = access_append_slice(list, period, 0, tail, end);
    return rc;
}
