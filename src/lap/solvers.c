/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of assignment solvers. */
#include "lap/lap.h"

#include <string.h>

const lap_solver lap_solvers[] = {
    {"jv", lap_jv, "Jonker and Volgenant's shortest augmenting paths"},
    {"hungarian", lap_hungarian, "Kuhn and Munkres's method, O(n^3)"},
    {"apc", lap_apc, "Carpaneto, Martello and Toth's method for complete matrices"},
    {"aps", lap_aps, "Carpaneto, Martello and Toth's method for sparse matrices"},
    {NULL, NULL, NULL},
};

const lap_solver *lap_find_solver(const char *name)
{
    for (const lap_solver *solver = lap_solvers; name != NULL && solver->name != NULL; solver++)
        if (strcmp(solver->name, name) == 0)
            return solver;
    return NULL;
}
