/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A binary heap over the caller's array, its first element the one that precedes all others.
 *
 * BASE_HEAP(name, item_t, order_t, precedes, placed) defines static functions for one type of
 * element:
 *   precedes(order, a, b): whether element a comes before element b. To make results independent
 *       of the history of the heap, no two elements should be equal.
 *   placed(order, item, at): called whenever `item` is stored at index `at`; use BASE_HEAP_UNPLACED
 *       where positions do not matter.
 * `order` is passed through: a pointer to the keys, say.
 *
 * name_up, name_down: store `item` at index `at` or, if it belongs there, further up or down.
 *     For a change of a key that may go either way: name_fix.
 * name_build: makes a heap of `count` elements in any order. O(count).
 * All others O(log count).
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stddef.h>

#define BASE_HEAP_UNPLACED(order, item, at) ((void)0)

#define BASE_HEAP(name, item_t, order_t, precedes, placed)                                         \
    static inline void name##_up(order_t order, item_t *heap, size_t at, item_t item)              \
    {                                                                                              \
        while (at > 0 && precedes(order, item, heap[(at - 1) / 2])) {                              \
            heap[at] = heap[(at - 1) / 2];                                                         \
            placed(order, heap[at], at);                                                           \
            at = (at - 1) / 2;                                                                     \
        }                                                                                          \
        heap[at] = item;                                                                           \
        placed(order, item, at);                                                                   \
    }                                                                                              \
    static inline void name##_down(order_t order, item_t *heap, size_t count, size_t at,           \
                                   item_t item)                                                    \
    {                                                                                              \
        for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {                       \
            if (child + 1 < count && precedes(order, heap[child + 1], heap[child]))                \
                child++;                                                                           \
            if (!precedes(order, heap[child], item))                                               \
                break;                                                                             \
            heap[at] = heap[child];                                                                \
            placed(order, heap[at], at);                                                           \
            at = child;                                                                            \
        }                                                                                          \
        heap[at] = item;                                                                           \
        placed(order, item, at);                                                                   \
    }                                                                                              \
    static inline __attribute__((unused)) void name##_fix(order_t order, item_t *heap,             \
                                                          size_t count, size_t at, item_t item)    \
    {                                                                                              \
        if (at > 0 && precedes(order, item, heap[(at - 1) / 2]))                                   \
            name##_up(order, heap, at, item);                                                      \
        else                                                                                       \
            name##_down(order, heap, count, at, item);                                             \
    }                                                                                              \
    static inline                                                                                  \
        __attribute__((unused)) void name##_build(order_t order, item_t *heap, size_t count)       \
    {                                                                                              \
        for (size_t at = count; at-- > count / 2;)                                                 \
            placed(order, heap[at], at);                                                           \
        for (size_t at = count / 2; at-- > 0;)                                                     \
            name##_down(order, heap, count, at, heap[at]);                                         \
    }                                                                                              \
    _Static_assert(sizeof(item_t) > 0, "so that a semicolon ends the use of this macro")

#endif
