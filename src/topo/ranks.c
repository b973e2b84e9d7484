/* SPDX-License-Identifier: BSD-3-Clause */
/* Hops between ranks become hops between nodes. */
#include <stdlib.h>

#include "base/memory.h"
#include "topo/distances.h"

size_t topo_group_ranks(const topo *ranks, size_t *node_of_rank)
{
    size_t nodes = 0;
    for (size_t i = 0; i < ranks->nodes; i++)
        node_of_rank[i] = SIZE_MAX;
    for (size_t i = 0; i < ranks->nodes; i++) {
        if (node_of_rank[i] != SIZE_MAX)
            continue;
        for (size_t k = i; k < ranks->nodes; k++)
            if (node_of_rank[k] == SIZE_MAX && topo_hops(ranks, i, k, i == k) <= TOPO_SAME_NODE)
                node_of_rank[k] = nodes;
        nodes++;
    }
    return nodes;
}

/* Compares rank i with the leader of its node; lowest[n] is the leader of node n. */
static int check_rank(const topo *ranks, const size_t *node_of_rank, const size_t *lowest, size_t i,
                      matrix_error *error)
{
    size_t leader = lowest[node_of_rank[i]];
    for (size_t k = 0; k < ranks->nodes; k++) {
        size_t node = node_of_rank[k];
        double expected =
            node == node_of_rank[i] ? TOPO_SAME_NODE : topo_hops(ranks, leader, lowest[node], 0);
        double hops = i == k ? TOPO_SAME_NODE : topo_hops(ranks, i, k, 0);
        if (hops != expected && node == node_of_rank[i])
            return matrix_refuse(error, 0,
                                 "ranks %zu and %zu share a node, but are %g hops apart, not %g", i,
                                 k, hops, expected);
        if (hops != expected)
            return matrix_refuse(
                error, 0,
                "%g hops from rank %zu to %zu, but %g from rank %zu to %zu of the same nodes", hops,
                i, k, expected, leader, lowest[node]);
    }
    return 0;
}

int topo_of_nodes(const topo *ranks, const size_t *node_of_rank, size_t nodes, topo *t,
                  matrix_error *error)
{
    int rc = 0;
    size_t *lowest = base_zeroed(nodes, sizeof *lowest, &rc);
    uint16_t *hops = base_zeroed(nodes, nodes * sizeof *hops, &rc);
    for (size_t i = ranks->nodes; rc == 0 && i-- > 0;)
        lowest[node_of_rank[i]] = i;
    for (size_t i = 0; rc == 0 && i < ranks->nodes; i++)
        rc = check_rank(ranks, node_of_rank, lowest, i, error);
    for (size_t n = 0; rc == 0 && n < nodes; n++)
        for (size_t m = 0; m < nodes; m++)
            hops[n * nodes + m] = (uint16_t)topo_hops(ranks, lowest[n], lowest[m], n == m);
    if (rc == 0)
        rc = topo_from_hops(t, nodes, hops);
    if (rc == 0)
        t->source = ranks->source;
    free(lowest);
    free(hops);
    return rc;
}
