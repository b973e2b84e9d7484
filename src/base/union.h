/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Union-find over an array: parent[v] == v for the root of a set.
 */
#ifndef BASE_UNION_H
#define BASE_UNION_H

#include <stddef.h>

/* The root of the set of v. Halves the path to it, so that a search costs O(log n) on average. */
static inline size_t base_root(size_t *parent, size_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

#endif
