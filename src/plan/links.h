/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Links: those of a topology's tree or, where it has none, one from each node to a single switch.
 * For this folder only.
 */
#ifndef PLAN_LINKS_H
#define PLAN_LINKS_H

#include "plan/plan.h"

static inline size_t count_vertices(const topo *t)
{
    return t->tree.vertices > 0 ? t->tree.vertices : t->nodes + 1;
}

static inline size_t parent_of(const topo *t, size_t v)
{
    return t->tree.vertices > 0 ? t->tree.parent[v] : t->nodes;
}

static inline double cables(const topo *t, size_t v)
{
    return t->tree.vertices > 0 ? (double)t->tree.width[v] : 1.0;
}

#endif
