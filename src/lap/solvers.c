/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of assignment solvers.
 *
 * LAP_REAL_COSTS_ONLY: without the solvers for integer costs, which fcoll/tatp does not need. */
#include "lap/lap.h"

#include <errno.h>

struct state;

int lap_run_real(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *));
int lap_run_integer(const lap_problem *problem, lap_solution *solution,
                    int (*solve)(struct state *));

#ifdef LAP_REAL_COSTS_ONLY
#define RUN_INTEGER(name) (-EINVAL)
#else
#define RUN_INTEGER(name) lap_run_integer(problem, solution, lap_##name##_integer)
#endif

/* A solver, from its function for each kind of costs. */
#define SOLVER(name)                                                                               \
    int lap_##name##_real(struct state *s);                                                        \
    int lap_##name##_integer(struct state *s);                                                     \
    int lap_##name(const lap_problem *problem, lap_solution *solution)                             \
    {                                                                                              \
        if (problem != NULL && problem->integer_cost != NULL)                                      \
            return RUN_INTEGER(name);                                                              \
        return lap_run_real(problem, solution, lap_##name##_real);                                 \
    }

SOLVER(jv)
SOLVER(hungarian)
SOLVER(apc)
SOLVER(aps)

const lap_solver lap_solvers[] = {
    {"jv", lap_jv, "Jonker and Volgenant's shortest augmenting paths"},
    {"hungarian", lap_hungarian, "Kuhn and Munkres's method, O(n^3)"},
    {"apc", lap_apc, "Carpaneto, Martello and Toth's method for complete matrices"},
    {"aps", lap_aps, "Carpaneto, Martello and Toth's method for sparse matrices"},
    {NULL, NULL, NULL},
};
