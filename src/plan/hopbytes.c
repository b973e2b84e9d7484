/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment of minimum hop-bytes. */
#include "plan/plan.h"
#include "plan/steps.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a small problem, solved as a whole ---- */

static int solve_dense(const plan_input *in, const lap_solver *solver, double *workload,
                       size_t *rank_of_domain, double *total)
{
    int rc = plan_workload(in, workload);
    if (rc != 0)
        return rc;
    lap_problem problem = {
        .rows = in->requests->rows,
        .cols = in->requests->cols,
        .cost = workload,
        .group = in->per_node > 0 ? in->node_of_rank : NULL,
        .groups = in->topology->nodes,
        .group_capacity = in->per_node,
    };
    lap_solution solution = {.row_of_col = rank_of_domain};
    rc = solver->solve(&problem, &solution);
    if (rc == 0)
        *total = solution.total;
    return rc;
}

static int assign_dense(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                        double *total)
{
    double *workload = calloc(in->requests->rows * in->requests->cols | 1, sizeof *workload);
    if (workload == NULL)
        return -ENOMEM;
    int rc = solve_dense(in, solver, workload, rank_of_domain, total);
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

/* Copies the assignment when it is complete. */
static int assign_least(const plan_input *in, const lap_solver *solver, size_t *made,
                        size_t *rank_of_domain, double *bound)
{
    double least, hop_bytes;
    int rc = assign_large(in, solver, made, &least);
    if (rc == 0)
        rc = plan_hop_bytes(in, made, &hop_bytes);
    if (rc == 0 && hop_bytes > least && is_dense_size(in))
        rc = assign_dense(in, solver, made, &least);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        rank_of_domain[j] = made[j];
    if (rc == 0 && bound != NULL)
        *bound = least;
    return rc;
}

int plan_least_hop_bytes(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                         double *bound)
{
    if (in->requests->cols > in->requests->rows)
        return -EINVAL;
    size_t *made = calloc(in->requests->cols | 1, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    int rc = assign_least(in, solver, made, rank_of_domain, bound);
    free(made);
    return rc;
}
