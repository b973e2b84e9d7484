/* SPDX-License-Identifier: BSD-3-Clause */
/* The weight inside nodes and the cost of a placement. */
#include <errno.h>

#include "setmatch/quality.h"

/* How often the entries of a view contain the weight of each pair. */
static int count_copies(const matrix *view)
{
    return matrix_is_symmetric(view) ? 2 : 1;
}

static int divide_sum(__int128 sum, int copies, int64_t *weight)
{
    sum /= copies;
    *weight = (int64_t)sum;
    return *weight == sum ? 0 : -ERANGE;
}

int setmatch_weight(const matrix *view, const size_t *node_of_rank, int64_t *inside, int64_t *total)
{
    __int128 sum_inside = 0, sum = 0;
    int64_t weight_inside, weight;
    for (size_t row = 0; row < view->rows; row++) {
        for (size_t i = view->row_start[row]; i < view->row_start[row + 1]; i++) {
            if (view->col[i] == row)
                continue;
            sum += view->value[i];
            if (node_of_rank[view->col[i]] == node_of_rank[row])
                sum_inside += view->value[i];
        }
    }
    int copies = count_copies(view);
    if (divide_sum(sum_inside, copies, &weight_inside) != 0 ||
        divide_sum(sum, copies, &weight) != 0)
        return -ERANGE;
    *inside = weight_inside;
    *total = weight;
    return 0;
}

static double class_bandwidth(const setmatch_input *in, size_t k)
{
    const double paper_node = 3500, paper_network = 2100;
    if (in->network != NULL && in->network->bandwidth != NULL)
        return in->network->bandwidth[k];
    return k == 0 ? paper_node : paper_network / (double)k;
}

static double bandwidth_between(const setmatch_input *in, size_t a, size_t b)
{
    return class_bandwidth(in, setmatch_network_distance(in->network, in->nodes, a, b));
}

double setmatch_cost(const setmatch_input *input, const size_t *node_of_rank)
{
    const matrix *view = input->view;
    double sum = 0;
    for (size_t row = 0; row < view->rows; row++)
        for (size_t i = view->row_start[row]; i < view->row_start[row + 1]; i++)
            if (view->col[i] != row)
                sum += (double)view->value[i] /
                       bandwidth_between(input, node_of_rank[row], node_of_rank[view->col[i]]);
    return sum / count_copies(view);
}
