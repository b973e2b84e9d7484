/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment of minimum hop-bytes. */
#include "base/memory.h"
#include "plan/plan.h"
#include "plan/steps.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a small problem, solved as a whole ---- */

static int assign_dense(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                        double *total)
{
    int rc = 0;
    double *workload = base_zeroed(in->requests->rows, in->requests->cols * sizeof *workload, &rc);
    lap_problem problem = {
        .rows = in->requests->rows,
        .cols = in->requests->cols,
        .cost = workload,
        .group = in->per_node > 0 ? in->node_of_rank : NULL,
        .groups = in->topology->nodes,
        .group_capacity = in->per_node,
    };
    lap_solution solution = {.row_of_col = rank_of_domain};
    if (rc == 0)
        rc = plan_workload(in, workload);
    if (rc == 0)
        rc = solver->solve(&problem, &solution);
    if (rc == 0)
        *total = solution.total;
    free(workload);
    return rc;
}

static int is_dense_size(const plan_input *in)
{
    size_t pairs;
    return !__builtin_mul_overflow(in->requests->rows, in->requests->cols, &pairs) &&
           pairs <= PLAN_DENSE_PAIRS;
}

/* ---- a problem of any size ---- */

int assign_large(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                 double *bound)
{
    struct held held = held_bytes(in);
    return assign_in_two_steps(in, &held, solver, rank_of_domain, bound);
}

int plan_least_hop_bytes(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                         double *bound)
{
    double least, hop_bytes;
    int rc = in->requests->cols > in->requests->rows ? -EINVAL : 0;
    size_t *made = base_zeroed(in->requests->cols, sizeof *made, &rc);
    if (rc == 0)
        rc = assign_large(in, solver, made, &least);
    if (rc == 0)
        rc = plan_hop_bytes(in, made, &hop_bytes);
    if (rc == 0 && hop_bytes > least && is_dense_size(in))
        rc = assign_dense(in, solver, made, &least);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        rank_of_domain[j] = made[j];
    if (rc == 0 && bound != NULL)
        *bound = least;
    free(made);
    return rc;
}
