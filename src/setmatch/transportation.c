/* SPDX-License-Identifier: BSD-3-Clause */
/* Benefits as bytes that a flat network should not move. */
#include "setmatch/transportation.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "plan/auction.h"
#include "setmatch/candidates.h"

/* Items without benefit take the first nodes with room. */
static int place_others(size_t items, size_t nodes, const size_t *capacity, size_t *node_of_item)
{
    int rc = 0;
    size_t *used = base_zeroed(nodes, sizeof *used, &rc), node = 0;
    for (size_t k = 0; k < items && rc == 0; k++)
        if (node_of_item[k] != AUCTION_NOWHERE)
            used[node_of_item[k]]++;
    for (size_t k = 0; k < items && rc == 0; k++) {
        if (node_of_item[k] != AUCTION_NOWHERE)
            continue;
        while (used[node] >= capacity[node])
            node++;
        node_of_item[k] = node;
        used[node]++;
    }
    free(used);
    return rc;
}

int solve_transportation(const matrix *benefit, const size_t *capacity, size_t *node_of_item)
{
    topo flat;
    if (!slots_suffice(capacity, benefit->cols, benefit->rows))
        return -ENOSPC;
    topo_flat(&flat, benefit->cols);
    int rc = auction_solve(benefit, &flat, capacity, node_of_item);
    return rc == 0 ? place_others(benefit->rows, benefit->cols, capacity, node_of_item) : rc;
}
