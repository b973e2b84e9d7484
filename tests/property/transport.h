/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An exact solver of the transportation problem, to compare with: successive shortest paths on the
 * graph of the nodes, over the whole matrix of costs. It shares nothing with src/plan.
 */
#ifndef TESTS_TRANSPORT_H
#define TESTS_TRANSPORT_H

#include <stddef.h>

/* cost[u * nodes + n]: of unit u on node n, which serves least[n] to most[n] units. */
typedef struct transport {
    size_t units, nodes;
    const double *cost;
    const size_t *least, *most;
} transport;

/* 0, or -1 without memory or without an answer. O(units (nodes^2 + units)) time. */
int transport_solve(const transport *in, size_t *node_of_unit, double *total);

#endif
