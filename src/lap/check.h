/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every solver checks. For the solvers only.
 */
#ifndef LAP_CHECK_H
#define LAP_CHECK_H

#include "lap/lap.h"

/* Checks everything but the costs: 0 or -EINVAL, as lap_solver_fn. */
int lap_check_shape(const lap_problem *problem, const lap_solution *solution);

/* Check `count` costs of the problem: 0, -EDOM or -ERANGE. */
int lap_check_real(const lap_problem *problem, const double *cost, size_t count);
int lap_check_integer(const lap_problem *problem, const int64_t *cost, size_t count);

/* The number of costs: rows * cols, or the length of the list. */
size_t lap_pairs(const lap_problem *problem);

#endif
