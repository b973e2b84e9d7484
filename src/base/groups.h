/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Items by group, as ranks by node.
 */
#ifndef BASE_GROUPS_H
#define BASE_GROUPS_H

#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "base/arena.h"

/* Items of group g: item[start[g]] .. item[start[g + 1] - 1], ascending. */
struct base_groups {
    size_t count;
    size_t *start, *item;
};

static inline size_t base_group_size(const struct base_groups *groups, size_t g)
{
    return groups->start[g + 1] - groups->start[g];
}

/* Groups items 0 .. items - 1; one whose group_of is SIZE_MAX is in no group. In the arena;
 * -ENOMEM. A counting sort: start[g + 1] is the position of the next item of group g, finally the
 * end of g. */
static inline int base_group_items(struct base_arena *arena, const size_t *group_of, size_t items,
                                   size_t count, struct base_groups *groups)
{
    size_t *start = base_arena_alloc(arena, count + 2, sizeof *start);
    size_t *item = base_arena_alloc(arena, items, sizeof *item);
    if (start == NULL || item == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < items; i++) {
        assert(group_of[i] < count || group_of[i] == SIZE_MAX);
        if (group_of[i] != SIZE_MAX)
            start[group_of[i] + 2]++;
    }
    for (size_t g = 1; g <= count; g++)
        start[g + 1] += start[g];
    for (size_t i = 0; i < items; i++)
        if (group_of[i] != SIZE_MAX)
            item[start[group_of[i] + 1]++] = i;
    *groups = (struct base_groups){count, start, item};
    return 0;
}

#endif
