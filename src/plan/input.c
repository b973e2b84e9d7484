/* SPDX-License-Identifier: BSD-3-Clause */
/* Items by group, the even spread. */
#include "plan/input.h"

#include <assert.h>
#include <errno.h>

/* Counting sort: start[g + 1] is the position of the next item of group g, finally the end of g. */
int group_items(struct base_arena *arena, const size_t *group_of, size_t items, size_t count,
                struct groups *groups)
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
    *groups = (struct groups){count, start, item};
    return 0;
}

/* Capacity of all nodes when none owns more than `most` domains. */
static size_t total_capacity(const size_t *ranks_on_node, size_t nodes, size_t most)
{
    size_t capacity = 0;
    for (size_t n = 0; n < nodes; n++)
        capacity += ranks_on_node[n] < most ? ranks_on_node[n] : most;
    return capacity;
}

size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains)
{
    size_t largest = 1;
    for (size_t n = 0; n < nodes; n++)
        largest = ranks_on_node[n] > largest ? ranks_on_node[n] : largest;
    size_t most = nodes > 0 ? domains / nodes + (domains % nodes != 0) : 0;
    most = most > 0 ? most : 1;
    while (most < largest && total_capacity(ranks_on_node, nodes, most) < domains)
        most++;
    return most;
}
