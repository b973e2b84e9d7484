/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment of minimum hop-bytes. */
#include "base/memory.h"
#include "plan/plan.h"
#include "plan/steps.h"

#include <errno.h>
#include <stdlib.h>

/* In two steps, which is the minimum unless two domains of a node compete for a rank. */
static int assign_least(const plan_input *in, struct costs *costs, const lap_solver *solver,
                        size_t *rank_of_domain, double *least)
{
    double hop_bytes;
    struct node_proof proof;
    int rc = assign_in_two_steps(costs, plan_savings(in), solver, rank_of_domain, &proof);
    if (rc == 0)
        rc = plan_hop_bytes(in, rank_of_domain, &hop_bytes);
    if (rc != 0)
        return rc;
    *least = proof.total;
    if (hop_bytes > proof.total)
        rc = choose_ranks(costs, in, solver, &proof, hop_bytes, rank_of_domain, least);
    return rc;
}

int plan_least_hop_bytes(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                         double *bound)
{
    double least;
    struct costs costs = {0};
    struct held held = held_bytes(in);
    int rc = in->requests->cols > in->requests->rows ? -EINVAL : 0;
    size_t *made = base_zeroed(in->requests->cols, sizeof *made, &rc);
    if (rc == 0)
        rc = costs_init(&costs, in, &held);
    if (rc == 0)
        rc = assign_least(in, &costs, solver, made, &least);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        rank_of_domain[j] = made[j];
    if (rc == 0 && bound != NULL)
        *bound = least;
    costs_release(&costs);
    free(made);
    return rc;
}
