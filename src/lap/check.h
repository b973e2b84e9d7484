/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every solver checks. For the solvers only.
 */
#ifndef LAP_CHECK_H
#define LAP_CHECK_H

#include "lap/lap.h"

/* All but the costs: 0 or -EINVAL, as lap_solver_fn has it. */
int lap_check_shape(const lap_problem *problem, const lap_solution *solution);

/* So many of its costs, or copies of them: 0, -EDOM or -ERANGE. */
int lap_check_real(const lap_problem *problem, const double *cost, size_t count);
int lap_check_integer(const lap_problem *problem, const int64_t *cost, size_t count);

/* The number of pairs that have a cost: rows * cols, or the entries of the list. */
size_t lap_pairs(const lap_problem *problem);

#endif
