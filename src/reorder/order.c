/* SPDX-License-Identifier: BSD-3-Clause */
/* All processes learn their number from rank 0, which places them. */
#include <errno.h>

#include "base/memory.h"
#include "reorder/reorder.h"

/* Sets number[] of all processes. */
static void place_all(const reorder_group *g, const reorder_task *task, const int64_t *key,
                      int *number)
{
    char line[REORDER_LINE];
    int rc = reorder_place(task, key, (size_t)g->processes, number, line);
    if (*line != '\0')
        g->report(rc == -EINVAL, line);
    for (int i = 0; rc != 0 && i < g->processes; i++)
        number[i] = REORDER_KEEPS;
}

/* Where rank 0 has no memory for all, nobody is reordered. */
static int exchange(const reorder_group *g, const reorder_task *task, int64_t key, int64_t *keys,
                    int *numbers, int *number)
{
    int has_memory = keys != NULL && numbers != NULL;
    *number = REORDER_KEEPS;
    int rc = g->broadcast(g->context, &has_memory);
    if (rc != 0 || !has_memory)
        return rc;
    rc = g->gather(g->context, key, keys);
    if (rc == 0 && g->rank == 0)
        place_all(g, task, keys, numbers);
    return rc == 0 ? g->scatter(g->context, numbers, number) : rc;
}

int reorder_number(const reorder_group *g, const reorder_task *task, int64_t key, int *number)
{
    const size_t count = g->rank == 0 ? (size_t)g->processes : 0;
    int64_t *keys = base_alloc(count, sizeof *keys);
    int *numbers = base_alloc(count, sizeof *numbers);
    int rc = exchange(g, task, key, keys, numbers, number);
    free(keys);
    free(numbers);
    return rc;
}
