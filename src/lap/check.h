/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every solver checks before it allocates anything. For the solvers only.
 */
#ifndef LAP_CHECK_H
#define LAP_CHECK_H

#include "lap/lap.h"

/* 0, -EINVAL, -EDOM or -ERANGE, as lap_solver_fn has it. Time O(a p). */
int lap_check_input(const lap_problem *problem, const lap_solution *solution);

#endif
