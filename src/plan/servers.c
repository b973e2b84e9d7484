/* SPDX-License-Identifier: BSD-3-Clause */
/* Storage servers as ranks that own nothing. */
#include "plan/servers.h"
#include "plan/input.h"

int plan_count_servers(const plan_input *in, matrix *sum, plan_input *counted)
{
    matrix own = {0};
    int rc = plan_check_nodes(in);
    if (rc != 0)
        return rc;
    *sum = (matrix){0};
    *counted = *in;
    counted->storage = NULL;
    if (in->storage == NULL || in->storage_weight == 0)
        return 0;
    if (in->node_bytes == NULL)
        rc = matrix_sum_rows(&own, in->requests, in->node_of_rank, in->topology->nodes);
    if (rc == 0)
        rc = matrix_add(sum, in->node_bytes != NULL ? in->node_bytes : &own, in->storage,
                        in->storage_weight);
    matrix_release(&own);
    counted->node_bytes = sum;
    return rc;
}
