/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Items by group: ranks or domains by node. For this folder only.
 */
#ifndef PLAN_INPUT_H
#define PLAN_INPUT_H

#include "base/arena.h"
#include "plan/plan.h"

/* Items of group g: item[start[g]] .. item[start[g + 1] - 1], ascending. */
struct groups {
    size_t count;
    size_t *start, *item;
};

/* Groups items 0 .. items - 1; one whose group_of is SIZE_MAX is in no group. In the arena;
 * -ENOMEM.
 */
int group_items(struct base_arena *arena, const size_t *group_of, size_t items, size_t count,
                struct groups *groups);

static inline size_t group_size(const struct groups *groups, size_t g)
{
    return groups->start[g + 1] - groups->start[g];
}

/* Bytes of domains by rank or, if these are incomplete, by node; and the node of a row of them. */
static inline const matrix *plan_bytes_on_nodes(const plan_input *in)
{
    return in->node_bytes != NULL ? in->node_bytes : in->requests;
}

static inline size_t plan_node_of_row(const plan_input *in, size_t row)
{
    return in->node_bytes != NULL ? row : in->node_of_rank[row];
}

#endif
