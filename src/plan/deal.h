/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the nodes of the units to their aggregators. For fitted.c only.
 */
#ifndef PLAN_DEAL_H
#define PLAN_DEAL_H

#include <stddef.h>

typedef struct deal_input {
    const size_t *node_of_unit; /* SIZE_MAX: a unit without bytes */
    size_t units, nodes;
    const size_t *node_of_aggregator;
    size_t aggregators;
    size_t least; /* each aggregator gets that many units with bytes, or one more */
} deal_input;

/* -ENOMEM. */
int deal_units(const deal_input *in, size_t *aggregator_of_unit);

#endif
