/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rectangular linear assignment: give each of a columns to one of p >= a rows,
 * no row twice and at most `group_capacity` columns to the rows of one group,
 * so that the sum of the costs is least.
 *
 * In two-phase I/O a column is a file domain, a row a rank and a group a node.
 *
 * Invariants of every solver in the table:
 *  - exact: the duals it returns prove that no assignment costs less
 *    (lap_verify checks them);
 *  - deterministic: equal input gives equal output;
 *  - ties: a solver prefers the lower row wherever two choices cost the same at
 *    the moment it decides; among several optima the one returned is fixed, but
 *    it need not be the lexicographically least;
 *  - thread-safe: no globals, nothing printed.
 */
#ifndef LAP_LAP_H
#define LAP_LAP_H

#include <stddef.h>

/* An answer, not an error: no assignment obeys the constraints. */
#define LAP_INFEASIBLE 1

/* A cost of +INFINITY forbids that pair. NaN and -INFINITY are refused.
 * Costs that are integers of magnitude below 2^53 / (4 * cols) are solved
 * without rounding. Negative costs are allowed. */
typedef struct lap_problem {
    size_t rows;           /* p */
    size_t cols;           /* a, 0 <= a <= p */
    const double *cost;    /* cost[j * rows + i] = cost of giving column j to row i */
    const size_t *group;   /* group[i] < groups is the group of row i; NULL: no groups */
    size_t groups;         /* number of groups; ignored when group is NULL */
    size_t group_capacity; /* at most this many columns on the rows of a group; 0: no limit */
} lap_problem;

/* All arrays are the caller's. row_dual, col_dual and group_dual may be NULL
 * when the proof is not wanted. Nothing is written unless the solver returns 0.
 *
 * The duals satisfy, for every allowed pair (i, j) with g = group[i]:
 *     cost(i, j) - col_dual[j] - row_dual[i] - group_dual[g] >= 0,
 * with equality where column j was given to row i; row_dual[i] <= 0, and 0 for
 * a row without a column; group_dual[g] <= 0, and 0 for a group below capacity.
 * Then  total = sum col_dual + sum row_dual + group_capacity * sum group_dual. */
typedef struct lap_solution {
    size_t *row_of_col; /* cols entries: the row that column j was given to */
    double *col_dual;   /* cols entries, cost units */
    double *row_dual;   /* rows entries, cost units */
    double *group_dual; /* groups entries, cost units; unused without groups */
    double total;       /* sum of the costs of the chosen pairs */
} lap_solution;

/* Returns 0; LAP_INFEASIBLE; -EINVAL (cols > rows, group[i] >= groups, NULL where
 * an array is needed); -EDOM (a cost is NaN or -INFINITY); -ERANGE (a finite cost
 * above DBL_MAX / (32 * (cols + 1)) in magnitude: sums of costs might overflow); -ENOMEM. */
typedef int (*lap_solver_fn)(const lap_problem *problem, lap_solution *solution);

typedef struct lap_solver {
    const char *name;
    lap_solver_fn solve;
    const char *note; /* one line for help texts */
} lap_solver;

/* The table of solvers, closed by an entry whose name is NULL; the first is the default. */
extern const lap_solver lap_solvers[];

/* The solver of that name, or NULL. */
const lap_solver *lap_find_solver(const char *name);

/* Jonker and Volgenant, "A shortest augmenting path algorithm for dense and
 * sparse linear assignment problems", Computing 38 (1987), for rectangular
 * matrices and group capacities. O(a^2 p) time, O(p + a) memory beside the input. */
int lap_jv(const lap_problem *problem, lap_solution *solution);

/* 0 when `solution` is an assignment that obeys every constraint and its duals
 * (all three arrays given) prove it optimal within `tolerance` (cost units, >= 0,
 * per pair; 0 asks for exact arithmetic) and `total` is right; otherwise -EINVAL, or
 * -ENOMEM. Shares no code with the solvers. Time O(a p). */
int lap_verify(const lap_problem *problem, const lap_solution *solution, double tolerance);

#endif
