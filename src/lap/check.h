/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every solver checks. For the solvers only.
 */
#ifndef LAP_CHECK_H
#define LAP_CHECK_H

#include "lap/lap.h"

/* Checks the arguments and the costs: 0, -EINVAL, -EDOM or -ERANGE, as lap_solver_fn. */
int lap_check(const lap_problem *problem, const lap_solution *solution);

/* The number of costs: rows * cols, or the length of the list. */
size_t lap_pairs(const lap_problem *problem);

#endif
