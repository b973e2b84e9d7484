/* SPDX-License-Identifier: BSD-3-Clause */
/* APS of Carpaneto, Martello and Toth, for sparse matrices. See doc/aps.md. */
#include "lap/paths.h"
#include "lap/reduction.h"

static int carpaneto_martello_toth(struct state *s)
{
    struct paths paths;
    int rc = TYPED(paths_init)(&paths, s, s->objects);
    if (rc == 0) {
        rc = TYPED(reduce_and_exchange)(s);
    }
    for (size_t j = 0; j < s->persons && rc == 0; j++) {
        if (s->object_of[j] == NONE) {
            rc = TYPED(augment)(&paths, j);
        }
    }
    return rc;
}

int TYPED(aps)(const lap_problem *problem, lap_solution *solution);
int TYPED(aps)(const lap_problem *problem, lap_solution *solution)
{
    return TYPED(run)(problem, solution, carpaneto_martello_toth);
}

#ifndef LAP_INTEGER
SOLVER_OF_BOTH_KINDS(aps)
#endif
