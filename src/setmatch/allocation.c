/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes on which ranks are placed, and placement in order. */
#define _GNU_SOURCE /* qsort_r */
#include <errno.h>
#include <stdlib.h>

#include "base/mix.h"
#include "setmatch/candidates.h"

static int compare_node_sizes(const void *a, const void *b, void *slots)
{
    const size_t *x = a, *y = b, *size = slots;
    if (size[*x] != size[*y])
        return size[*x] > size[*y] ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

int allocation_init(allocation *s, const size_t *slots, size_t nodes)
{
    *s = (allocation){slots, nodes, calloc(nodes + 1, sizeof *s->by_size), 0};
    if (s->by_size == NULL)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        if (slots[n] > 0)
            s->by_size[s->nodes++] = n;
    qsort_r(s->by_size, s->nodes, sizeof *s->by_size, compare_node_sizes, (void *)(uintptr_t)slots);
    return 0;
}

void allocation_release(allocation *s)
{
    free(s->by_size);
    *s = (allocation){0};
}

/* The least number of nodes, the largest first, that have slots for these ranks. */
static size_t fewest_nodes(const allocation *s, size_t ranks)
{
    size_t nodes = 0;
    for (size_t left = ranks, slots; left > 0; left -= slots < left ? slots : left)
        slots = s->slots[s->by_size[nodes++]];
    return nodes;
}

size_t nodes_to_use(const allocation *s, size_t ranks, variant v)
{
    size_t least = fewest_nodes(s, ranks);
    size_t most = 2 * least < s->nodes ? 2 * least : s->nodes;
    if (v.nodes == FEWEST_NODES)
        return least;
    return v.nodes == MOST_NODES ? most : least + base_mix(v.seed) % (most - least + 1);
}

int place_by_slot(const affinity *ranks, const allocation *s, size_t *node)
{
    size_t rank = 0;
    for (size_t n = 0; n < s->listed; n++)
        for (size_t slot = 0; slot < s->slots[n] && rank < ranks->vertices; slot++)
            node[rank++] = n;
    return 0;
}

int place_by_node(const affinity *ranks, const allocation *s, size_t *node)
{
    size_t rank = 0;
    for (size_t turn = 0; rank < ranks->vertices; turn++)
        for (size_t n = 0; n < s->listed && rank < ranks->vertices; n++)
            if (turn < s->slots[n])
                node[rank++] = n;
    return 0;
}
