/* SPDX-License-Identifier: BSD-3-Clause */
/* Storage servers as ranks that own nothing. */
#include "plan/servers.h"
#include "plan/input.h"

/* Where requests are complete. */
static int sum_nodes(const plan_input *in, matrix *node_bytes)
{
    const matrix *c = in->requests;
    matrix_builder builder = {.rows = in->topology->nodes, .cols = c->cols};
    int rc = 0;
    for (size_t i = 0; i < c->rows && rc == 0; i++)
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1] && rc == 0; k++)
            rc = matrix_builder_add(&builder, in->node_of_rank[i], c->col[k], c->value[k]);
    if (rc == 0)
        rc = matrix_builder_finish(&builder, node_bytes);
    matrix_builder_clear(&builder);
    return rc;
}

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
        rc = sum_nodes(in, &own);
    if (rc == 0)
        rc = matrix_add(sum, in->node_bytes != NULL ? in->node_bytes : &own, in->storage,
                        in->storage_weight);
    matrix_release(&own);
    counted->node_bytes = sum;
    return rc;
}
