/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The type of costs and its arithmetic. For the solvers only.
 *
 * The source files of the solvers are compiled twice: each by itself for real costs, and all
 * together in integer.c, which defines LAP_INTEGER, for integer costs.
 */
#ifndef LAP_ARITHMETIC_H
#define LAP_ARITHMETIC_H

#include <float.h>
#include <math.h>
#include <stdint.h>

/* COST_MAX is the cost of a pair that is not allowed, COST_MIN is below all costs and lengths. No
 * proof needs prices below PRICE_FLOOR. */
#ifdef LAP_INTEGER
typedef int64_t cost_t;
#define COST_MAX INT64_MAX
#define COST_MIN INT64_MIN
#define PRICE_FLOOR (-(INT64_MAX / 8))
#define TYPED(name) lap_##name##_integer
#else
typedef double cost_t;
#define COST_MAX ((double)INFINITY)
#define COST_MIN (-(double)INFINITY)
#define PRICE_FLOOR (-(DBL_MAX / 8))
#define TYPED(name) lap_##name##_real
#endif

/* Cost less price. A forbidden pair stays forbidden at any price. */
static inline cost_t reduced(cost_t cost, cost_t price)
{
#ifdef LAP_INTEGER
    return cost < COST_MAX ? cost - price : COST_MAX;
#else
    return cost - price;
#endif
}

static inline cost_t next_above(cost_t cost)
{
#ifdef LAP_INTEGER
    return cost < COST_MAX ? cost + 1 : COST_MAX;
#else
    return nextafter(cost, INFINITY);
#endif
}

#endif
