/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of one list's stream, appended to another list. */
#include "access/list.h"

#include <errno.h>

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
static int append_part(access_list *list, const access_run *run, int64_t from, int64_t to,
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
        rc = append_part(list, run, from - run->stream, end, shift);
        from = run->stream + end;
    }
    return rc;
}
