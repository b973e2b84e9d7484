/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on nodes: the check that all of plan shares, and the even spread. */
#include "plan/input.h"

#include <errno.h>

int plan_check_nodes(const plan_input *in)
{
    for (size_t i = 0; i < in->requests->rows; i++) {
        if (in->node_of_rank[i] >= in->topology->nodes) {
            return -EINVAL;
        }
    }
    return 0;
}

/* Domains that fit when no node serves more than `most`. */
static size_t count_places(const size_t *ranks_on_node, size_t nodes, size_t most)
{
    size_t places = 0;
    for (size_t n = 0; n < nodes; n++) {
        places += ranks_on_node[n] < most ? ranks_on_node[n] : most;
    }
    return places;
}

size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains)
{
    size_t largest = 1;
    for (size_t n = 0; n < nodes; n++) {
        largest = ranks_on_node[n] > largest ? ranks_on_node[n] : largest;
    }
    size_t most = nodes > 0 ? domains / nodes + (domains % nodes != 0) : 0;
    most = most > 0 ? most : 1;
    while (most < largest && count_places(ranks_on_node, nodes, most) < domains) {
        most++;
    }
    return most;
}
