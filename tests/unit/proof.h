/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Proof of an assignment by its duals.
 */
#ifndef TESTS_PROOF_H
#define TESTS_PROOF_H

#include "lap/lap.h"

/* 0 when `solution` is an assignment that satisfies every constraint, its duals (all arrays of the
 * costs' kind) prove it optimal within `tolerance` (cost units, >= 0, per pair; 0: exactly) and the
 * total is correct; otherwise -EINVAL, or -ENOMEM. Shares no code with the solvers. Time
 * O(rows * cols), or O(e) when sparse. */
int lap_verify(const lap_problem *problem, const lap_solution *solution, double tolerance);

#endif
