/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of assignment solvers. */
#include "lap/lap.h"

#include <string.h>

const lap_solver lap_solvers[] = {
    { "jv", lap_jv, "Jonker-Volgenant shortest augmenting paths, dense" },
    { NULL, NULL, NULL },
};

const lap_solver *lap_find_solver(const char *name)
{
    for (const lap_solver *solver = lap_solvers; name != NULL && solver->name != NULL; solver++) {
        if (strcmp(solver->name, name) == 0) {
            return solver;
        }
    }
    return NULL;
}
