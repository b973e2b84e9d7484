/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a collective access needs aggregators. */
#include "collective/aggregation.h"

/* Bytes that are worth a request. A request to a local file system costs less than a microsecond,
 * as much as 2 to 4 KiB on their way through an aggregator; a server takes longer. */
#define LARGE_LOCAL_PIECE ((int64_t)8 << 10)
#define LARGE_PIECE ((int64_t)64 << 10)

/* The largest offset of a block that does not begin at a multiple of `unit`; -1: there is none. */
static int64_t last_unaligned(const access_run *run, int64_t unit)
{
    int64_t last = run->offset + (run->count - 1) * run->stride;
    if (last % unit != 0)
        return last;
    return run->count > 1 && run->stride % unit != 0 ? last - run->stride : -1;
}

aggregation_access aggregation_describe(const access_list *list, int64_t lock_unit)
{
    aggregation_access access = {
        .lo = access_lower(list),
        .pieces = access_blocks(list),
        .bytes = list->bytes,
        .unaligned = -1,
        .lock_unit = lock_unit,
    };
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i];
        int64_t unaligned = lock_unit > 0 ? last_unaligned(run, lock_unit) : -1;
        if (unaligned > access.unaligned)
            access.unaligned = unaligned;
    }
    return access;
}

aggregation_access aggregation_move(const aggregation_access *access, int64_t distance)
{
    aggregation_access moved = *access;
    if (access->pieces == 0)
        return moved;
    moved.lo += distance;
    if (access->lock_unit > 0 && distance % access->lock_unit != 0)
        moved.unaligned = ACCESS_END; /* maybe none; only the list would show it */
    else if (access->unaligned >= 0 && access->unaligned < ACCESS_END)
        moved.unaligned += distance;
    return moved;
}

int64_t aggregation_piece(const aggregation_access *access)
{
    return access->pieces > 0 ? access->bytes / access->pieces : ACCESS_END;
}

bool aggregation_pays(const aggregation_access *access, bool write)
{
    bool is_local = access->lock_unit == 0, one_piece = access->pieces <= 1;
    bool large = aggregation_piece(access) >= (is_local ? LARGE_LOCAL_PIECE : LARGE_PIECE);
    return !(one_piece || large) || (write && aggregation_shares_locks(access));
}

/* The first piece of all has no neighbour before it. */
bool aggregation_shares_locks(const aggregation_access *access)
{
    return access->unaligned > access->lo;
}

bool aggregation_merges(int64_t pieces, int64_t saved)
{
    return saved > pieces / 5;
}
