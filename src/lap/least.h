/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first pass over the costs. For the solvers only.
 */
#ifndef LAP_LEAST_H
#define LAP_LEAST_H

#include "lap/paths.h"

/* Every solver begins with it. Checks the costs. Where all objects will be assigned, each one's
 * dual becomes its least cost, whose person is noted for column_reduction. Builds partial lists of
 * `lists` (or NULL) on the way, each while its row of costs is in the cache. 0, -EDOM, -ERANGE or
 * -ENOMEM. */
int TYPED(read_costs)(struct state *s, struct paths *lists);

#endif
