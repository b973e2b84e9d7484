/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap of nodes. */
#include "plan/node_heap.h"

#include <stdint.h>

static int before(const node_heap *heap, size_t a, size_t b)
{
    return heap->key[a] < heap->key[b] || (heap->key[a] == heap->key[b] && a < b);
}

static void put(node_heap *heap, size_t place, size_t node)
{
    heap->item[place] = node;
    heap->position[node] = place;
}

static void move_up(node_heap *heap, size_t node)
{
    size_t place = heap->position[node];
    while (place > 0 && before(heap, node, heap->item[(place - 1) / 2])) {
        put(heap, place, heap->item[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(heap, place, node);
}

static void move_down(node_heap *heap, size_t node)
{
    size_t place = heap->position[node];
    for (size_t child = 2 * place + 1; child < heap->count; child = 2 * place + 1) {
        if (child + 1 < heap->count && before(heap, heap->item[child + 1], heap->item[child]))
            child++;
        if (!before(heap, heap->item[child], node))
            break;
        put(heap, place, heap->item[child]);
        place = child;
    }
    put(heap, place, node);
}

void node_heap_add(node_heap *heap, size_t node)
{
    put(heap, heap->count++, node);
    move_up(heap, node);
}

void node_heap_move(node_heap *heap, size_t node)
{
    move_up(heap, node);
    move_down(heap, node);
}

size_t node_heap_first(const node_heap *heap)
{
    return heap->count > 0 ? heap->item[0] : SIZE_MAX;
}

size_t node_heap_second(const node_heap *heap)
{
    if (heap->count < 2)
        return SIZE_MAX;
    return heap->count > 2 && before(heap, heap->item[2], heap->item[1]) ? heap->item[2]
                                                                         : heap->item[1];
}
