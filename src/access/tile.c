/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiling of a period of accesses. */
#include "access/tile.h"

#include <errno.h>

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
