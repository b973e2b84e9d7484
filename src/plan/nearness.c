/* SPDX-License-Identifier: BSD-3-Clause */
/* Of ranks that cost the same, those near the network. */
#include "plan/steps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* The rank that a domain moves to. saved: a row for each domain, a column for each rank. */
static size_t nearest_rank(const plan_input *in, const matrix *saved, const bool *owns,
                           size_t domain, size_t owner)
{
    size_t best = owner;
    int64_t most = matrix_get(saved, domain, owner);
    for (size_t e = saved->row_start[domain]; e < saved->row_start[domain + 1]; e++) {
        size_t rank = saved->col[e];
        if (saved->value[e] == most && !owns[rank] && in->nearness[rank] > in->nearness[best] &&
            in->node_of_rank[rank] == in->node_of_rank[owner])
            best = rank;
    }
    return best;
}

/* Once each. Returns whether any has moved, which may have made room for others. */
static bool move_domains(const plan_input *in, const matrix *saved, bool *owns,
                         size_t *rank_of_domain)
{
    bool moved = false;
    for (size_t j = 0; j < saved->rows; j++) {
        size_t owner = rank_of_domain[j];
        size_t rank = nearest_rank(in, saved, owns, j, owner);
        moved = moved || rank != owner;
        owns[owner] = false;
        owns[rank] = true;
        rank_of_domain[j] = rank;
    }
    return moved;
}

int prefer_near_ranks(const plan_input *in, size_t *rank_of_domain)
{
    matrix saved;
    bool *owns = calloc(in->requests->rows + 1, sizeof *owns);
    int rc = owns == NULL ? -ENOMEM : matrix_transpose(&saved, in->requests);
    if (rc != 0) {
        free(owns);
        return rc;
    }
    for (size_t j = 0; j < in->requests->cols; j++)
        owns[rank_of_domain[j]] = true;
    while (move_domains(in, &saved, owns, rank_of_domain))
        ;
    matrix_release(&saved);
    free(owns);
    return 0;
}
