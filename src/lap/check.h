/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every solver checks before it allocates anything. For the solvers only.
 */
#ifndef LAP_CHECK_H
#define LAP_CHECK_H

#include "lap/lap.h"

/* 0, -EINVAL, -EDOM or -ERANGE, as lap_solver_fn has it. O(e) time. */
int lap_check_input(const lap_problem *problem, const lap_solution *solution);

/* The number of pairs that have a cost: rows * cols, or the entries of the list. */
size_t lap_pairs(const lap_problem *problem);

#endif
