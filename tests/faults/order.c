/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

int order_place(int rank, int ranks, int nth)
{
    int order[ORDER_MOST_RANKS], place = 0;
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int i = 0; i < ranks; i++) {
        int from = i + nth % (ranks - i), next = order[from];
        nth /= ranks - i;
        order[from] = order[i];
        order[i] = next;
        if (next == rank)
            place = i;
    }
    return place;
}
