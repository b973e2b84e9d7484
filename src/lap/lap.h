/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rectangular linear assignment: choose min(rows, cols) pairs of a row and a column, no row and no
 * column twice, so that the sum of the costs is least.
 *
 * In two-phase I/O a column is a file domain and a row a rank.
 *
 * Costs are doubles or int64_t, for all pairs (dense) or for a list of allowed pairs (sparse).
 *
 * Invariants of every solver in the table:
 *  - exact, for doubles within rounding: the duals it returns prove that no assignment costs less
 *    (tests/unit/proof.h checks them); integer costs are solved in integers;
 *  - deterministic: equal input gives equal output; two solvers may return different optima;
 *  - thread-safe: no globals, nothing printed.
 */
#ifndef LAP_LAP_H
#define LAP_LAP_H

#include <stddef.h>
#include <stdint.h>

/* Not an error: no assignment satisfies the constraints. */
#define LAP_INFEASIBLE 1

/* The integer cost of a pair that is not allowed. */
#define LAP_FORBIDDEN INT64_MAX

/* The row of an unassigned column, when there are more columns than rows. */
#define LAP_UNASSIGNED SIZE_MAX

/* Exactly one of cost and integer_cost is given (neither is needed without pairs). Real
 * costs: +INFINITY forbids the pair; integers of magnitude below 2^53 / (64 * (n + 1)),
 * n = min(rows, cols), are solved without rounding. Integer costs: LAP_FORBIDDEN forbids the
 * pair. Negative costs are allowed.
 *
 * Dense: start is NULL, and cost[j * rows + i] is the cost of column j on row i.
 * Sparse: the allowed pairs of column j are start[j] .. start[j + 1] - 1; pair k is
 * with row row[k], at cost[k]. The rows of a column ascend. start[0] is 0. */
typedef struct lap_problem {
    size_t rows; /* p */
    size_t cols; /* a */
    const double *cost;
    const int64_t *integer_cost;
    const size_t *start; /* cols + 1 entries, or NULL */
    const size_t *row;   /* start[cols] entries; NULL when dense */
} lap_problem;

/* The caller owns all arrays. Arrays of duals may be NULL when no proof is needed; those of the
 * other kind of costs are not accessed. Nothing is written unless the solver returns 0.
 *
 * The duals satisfy for every allowed pair (i, j), doubles within rounding:
 *     cost(i, j) - col_dual[j] - row_dual[i] >= 0,
 * with equality where column j is assigned to row i. With rows > cols, row_dual[i] <= 0, and
 * 0 for a row without a column; with cols > rows, col_dual[j] <= 0, and 0 for a column
 * without a row; with rows = cols both have any sign. Then
 *     total = sum col_dual + sum row_dual. */
typedef struct lap_solution {
    size_t *row_of_col; /* cols entries: the row assigned to column j, or LAP_UNASSIGNED */
    double *col_dual;   /* cols entries, cost units */
    double *row_dual;   /* rows entries, cost units */
    double total;       /* sum of the costs of the chosen pairs; rounded if they are integers */
    int64_t *integer_col_dual; /* the same for integer costs */
    int64_t *integer_row_dual;
    int64_t integer_total;
} lap_solution;

/* Returns 0; LAP_INFEASIBLE; -ERANGE (a cost that is not forbidden is NaN, or above DBL_MAX or
 * INT64_MAX / (32 * (n + 1)) in magnitude, n = min(rows, cols): sums of costs might overflow);
 * -ENOMEM. */
typedef int (*lap_solver_fn)(const lap_problem *problem, lap_solution *solution);

typedef struct lap_solver {
    const char *name;
    lap_solver_fn solve;
    const char *note; /* one line for help texts */
} lap_solver;

/* The table of solvers, closed by an entry whose name is NULL; the first is the default. */
extern const lap_solver lap_solvers[];

/* With n = min(rows, cols), m = max(rows, cols) and e allowed pairs. Every solver accepts every
 * problem, in O(n + m) memory beside the input, and copies the costs only when cols > rows (to
 * transpose them).
 *
 * Jonker and Volgenant, "A shortest augmenting path algorithm for dense and sparse linear
 * assignment problems", Computing 38 (1987), with the exchanges of lap_apc before the paths.
 * O(n e log m) time. */
int lap_jv(const lap_problem *problem, lap_solution *solution);

/* Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics
 * Quarterly 2 (1955), and Munkres (1957), with a slack for each row. O(n^2 m) time. */
int lap_hungarian(const lap_problem *problem, lap_solution *solution);

/* Carpaneto, Martello and Toth, "Algorithms and codes for the assignment problem", Annals
 * of Operations Research 13 (1988): APC, for complete matrices. O(n^2 m) time. */
int lap_apc(const lap_problem *problem, lap_solution *solution);

/* The same paper's APS, for sparse matrices, with a heap. O(n e log m) time. */
int lap_aps(const lap_problem *problem, lap_solution *solution);

#endif
