/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks by node: checks of the input, the lists of ranks, the even spread. */
#include "plan/input.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>

static int has_shape(const plan_input *in, const matrix *by_node)
{
    return by_node == NULL ||
           (by_node->rows == in->topology->nodes && by_node->cols == in->requests->cols);
}

int plan_check_nodes(const plan_input *in)
{
    if (!has_shape(in, in->node_bytes) || !has_shape(in, in->node_blocks))
        return -EINVAL;
    for (size_t i = 0; i < in->requests->rows; i++)
        if (in->node_of_rank[i] >= in->topology->nodes)
            return -EINVAL;
    return 0;
}

int plan_check_assignment(const plan_input *in, const size_t *rank_of_domain)
{
    for (size_t j = 0; j < in->requests->cols; j++)
        if (rank_of_domain[j] >= in->requests->rows)
            return -EINVAL;
    return plan_check_nodes(in);
}

/* Counting sort: start[n + 1] is the position of the next rank of node n, finally the end of n. */
static void sort_by_node(const plan_input *in, struct ranks *ranks)
{
    for (size_t i = 0; i < in->requests->rows; i++)
        ranks->start[in->node_of_rank[i] + 2]++;
    for (size_t n = 1; n <= ranks->nodes; n++)
        ranks->start[n + 1] += ranks->start[n];
    for (size_t i = 0; i < in->requests->rows; i++)
        ranks->rank[ranks->start[in->node_of_rank[i] + 1]++] = i;
}

int plan_list_ranks(const plan_input *in, struct ranks *ranks)
{
    int rc = plan_check_nodes(in);
    if (rc != 0)
        return rc;
    struct ranks sorted = {.nodes = in->topology->nodes};
    sorted.start = calloc(sorted.nodes + 2, sizeof *sorted.start);
    sorted.rank = calloc(in->requests->rows | 1, sizeof *sorted.rank);
    if (sorted.start == NULL || sorted.rank == NULL) {
        plan_release_ranks(&sorted);
        return -ENOMEM;
    }
    sort_by_node(in, &sorted);
    *ranks = sorted;
    return 0;
}

void plan_release_ranks(struct ranks *ranks)
{
    free(ranks->start);
    free(ranks->rank);
}

size_t plan_capacity(size_t ranks_on_node, size_t per_node, size_t domains)
{
    size_t most = per_node > 0 && per_node < domains ? per_node : domains;
    return ranks_on_node < most ? ranks_on_node : most;
}

/* Capacity of all nodes when none owns more than `most` domains. */
static size_t total_capacity(const size_t *ranks_on_node, size_t nodes, size_t most)
{
    size_t capacity = 0;
    for (size_t n = 0; n < nodes; n++)
        capacity += ranks_on_node[n] < most ? ranks_on_node[n] : most;
    return capacity;
}

size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains)
{
    size_t largest = 1;
    for (size_t n = 0; n < nodes; n++)
        largest = ranks_on_node[n] > largest ? ranks_on_node[n] : largest;
    size_t most = nodes > 0 ? domains / nodes + (domains % nodes != 0) : 0;
    most = most > 0 ? most : 1;
    while (most < largest && total_capacity(ranks_on_node, nodes, most) < domains)
        most++;
    return most;
}
