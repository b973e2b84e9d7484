/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A heap of nodes, the one with the lowest key first; of equal keys, that with the lower number.
 * The arrays are the owner's. For the files of this folder only.
 */
#ifndef PLAN_NODE_HEAP_H
#define PLAN_NODE_HEAP_H

#include <stddef.h>

/* item[position[n]] is n for every node n in the heap; several heaps of different nodes may share
 * `position`. After each change of key[n] the owner calls node_heap_move. */
typedef struct node_heap {
    size_t *item;
    size_t count;
    size_t *position;
    const double *key;
} node_heap;

void node_heap_add(node_heap *heap, size_t node); /* item has room for it */
void node_heap_move(node_heap *heap, size_t node);

/* The nodes of the lowest and the next key; SIZE_MAX where there is none. */
size_t node_heap_first(const node_heap *heap);
size_t node_heap_second(const node_heap *heap);

#endif
