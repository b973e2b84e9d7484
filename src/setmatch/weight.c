/* SPDX-License-Identifier: BSD-3-Clause */
/* What a placement keeps inside nodes. */
#include "setmatch/setmatch.h"

#include <errno.h>

/* Half of a sum over both triangles, rounded down. */
static int halve(__int128 sum, int64_t *half)
{
    sum /= 2;
    *half = (int64_t)sum;
    return *half == sum ? 0 : -ERANGE;
}

int setmatch_weight(const matrix *view, const size_t *node_of_rank, int64_t *inside, int64_t *total)
{
    __int128 inside_twice = 0, total_twice = 0;
    int64_t inside_half, total_half;
    if (view->rows != view->cols)
        return -EINVAL;
    for (size_t row = 0; row < view->rows; row++) {
        for (size_t i = view->row_start[row]; i < view->row_start[row + 1]; i++) {
            if (view->col[i] == row)
                continue;
            total_twice += view->value[i];
            if (node_of_rank[view->col[i]] == node_of_rank[row])
                inside_twice += view->value[i];
        }
    }
    if (halve(inside_twice, &inside_half) != 0 || halve(total_twice, &total_half) != 0)
        return -ERANGE;
    *inside = inside_half;
    *total = total_half;
    return 0;
}
