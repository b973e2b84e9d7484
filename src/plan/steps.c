/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains to nodes first, then to the ranks of each node. */
#include "plan/steps.h"

#include "plan/plan.h"

#include <errno.h>

int assign_ranks(struct costs *costs, const matrix *requests, const size_t *node_of_domain,
                 size_t *rank_of_domain)
{
    const struct groups *ranks = &costs->ranks;
    size_t domains = requests->cols;
    struct groups of_node;
    size_t *row = base_arena_alloc(&costs->arena, domains, sizeof *row);
    int rc = group_items(&costs->arena, node_of_domain, domains, ranks->count, &of_node);
    if (row == NULL)
        rc = -ENOMEM;
    for (size_t n = 0; n < ranks->count && rc == 0; n++) {
        size_t first = of_node.start[n], count = group_size(&of_node, n);
        if (count > 0)
            rc = plan_choose_ranks(requests, ranks->item + ranks->start[n], group_size(ranks, n),
                                   of_node.item + first, count, row + first);
    }
    for (size_t k = 0; k < domains && rc == 0; k++)
        rank_of_domain[of_node.item[k]] = row[k];
    return rc;
}

int assign_in_two_steps(struct costs *costs, const matrix *requests, size_t *rank_of_domain)
{
    size_t *node_of_domain =
        base_arena_alloc(&costs->arena, requests->cols, sizeof *node_of_domain);
    int rc = node_of_domain == NULL ? -ENOMEM : 0;
    if (rc == 0)
        rc = choose_nodes(costs, node_of_domain);
    if (rc == 0)
        rc = assign_ranks(costs, requests, node_of_domain, rank_of_domain);
    return rc;
}
