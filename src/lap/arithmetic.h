/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The type of costs. For the solvers only.
 *
 * The source files of the solvers are compiled twice: each by itself for real costs, and all
 * together in integer.c, which defines LAP_INTEGER, for integer costs.
 */
#ifndef LAP_ARITHMETIC_H
#define LAP_ARITHMETIC_H

#include <math.h>
#include <stdint.h>

/* COST_MAX is the cost of a pair that is not allowed; COST_MIN is below all costs and lengths. */
#ifdef LAP_INTEGER
typedef int64_t cost_t;
#define COST_MAX INT64_MAX
#define COST_MIN INT64_MIN
#define TYPED(name) lap_##name##_integer
#else
typedef double cost_t;
#define COST_MAX ((double)INFINITY)
#define COST_MIN (-(double)INFINITY)
#define TYPED(name) lap_##name##_real
#endif

#endif
