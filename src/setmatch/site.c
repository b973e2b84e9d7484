/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes on which ranks are placed, and placement in order. */
#include <errno.h>
#include <stdlib.h>

#include "setmatch/candidates.h"

struct sized_node {
    size_t slots, index;
};

static int compare_node_sizes(const void *a, const void *b)
{
    const struct sized_node *x = a, *y = b;
    if (x->slots != y->slots)
        return x->slots > y->slots ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

int site_init(site *s, const size_t *slots, size_t nodes)
{
    struct sized_node *sized = calloc(nodes + 1, sizeof *sized);
    size_t *by_size = calloc(nodes + 1, sizeof *by_size), count = 0;
    if (sized == NULL || by_size == NULL) {
        free(sized);
        free(by_size);
        return -ENOMEM;
    }
    for (size_t n = 0; n < nodes; n++)
        if (slots[n] > 0)
            sized[count++] = (struct sized_node){slots[n], n};
    qsort(sized, count, sizeof *sized, compare_node_sizes);
    for (size_t k = 0; k < count; k++)
        by_size[k] = sized[k].index;
    free(sized);
    *s = (site){slots, nodes, by_size, count};
    return 0;
}

void site_release(site *s)
{
    free(s->by_size);
    *s = (site){0};
}

int site_suffices(const size_t *slots, size_t nodes, size_t ranks)
{
    for (size_t n = 0; n < nodes && ranks > 0; n++)
        ranks -= slots[n] < ranks ? slots[n] : ranks;
    return ranks == 0;
}

int place_by_slot(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                  size_t *node)
{
    size_t rank = 0;
    (void)threshold;
    (void)variant;
    for (size_t n = 0; n < s->listed; n++)
        for (size_t slot = 0; slot < s->slots[n] && rank < ranks->vertices; slot++)
            node[rank++] = n;
    return 0;
}

int place_by_node(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                  size_t *node)
{
    size_t rank = 0;
    (void)threshold;
    (void)variant;
    for (size_t turn = 0; rank < ranks->vertices; turn++)
        for (size_t n = 0; n < s->listed && rank < ranks->vertices; n++)
            if (turn < s->slots[n])
                node[rank++] = n;
    return 0;
}
