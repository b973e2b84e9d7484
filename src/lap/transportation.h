/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transportation problem with one unit of each column: choose a row for every column, for row i
 * at most capacity[i] times, so that the sum of the costs is least. The same as the linear
 * assignment problem with capacity[i] equal rows, in the memory and time of one.
 */
#ifndef LAP_TRANSPORTATION_H
#define LAP_TRANSPORTATION_H

#include "lap/lap.h"

/* `problem` is sparse, with finite real costs, and is not checked; capacity[i]
 * of a row that is listed is at least 1. All of row_of_col, col_dual and row_dual are written. For
 * each listed pair cost(i, j) - col_dual[j] - row_dual[i] >= 0, with equality where column j is
 * assigned to row i; row_dual[i] <= 0, and 0 for a row below its capacity. Then total = sum
 * col_dual + sum capacity[i] * row_dual[i].
 *
 * Exact, as far as sums of costs are; deterministic; ties are fixed by the input. Auctions without
 * epsilon (Bertsekas and Castanon, "The auction algorithm for the transportation problem", Annals
 * of Operations Research 20 (1989)), then shortest augmenting paths. O(cols * e log rows) time
 * with e pairs, O(rows + cols + sum of min(capacity[i], cols)) memory.
 *
 * Returns 0, LAP_INFEASIBLE or -ENOMEM. Nothing is written unless it returns 0. */
int lap_transportation(const lap_problem *problem, const size_t *capacity, lap_solution *solution);

#endif
