/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first pass over the costs of a problem whose objects will all be assigned. For the solvers
 * only.
 */
#ifndef LAP_LEAST_H
#define LAP_LEAST_H

#include "lap/state.h"

/* Checks the costs, and finds the least of each object, for column_reduction. 0, -EDOM, -ERANGE or
 * -ENOMEM. */
int TYPED(check_and_find_least)(struct state *s);

#endif
