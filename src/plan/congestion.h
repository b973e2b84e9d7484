/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loads of links, for the search of the least. For this folder only.
 *
 * A domain on node n loads the link above vertex v
 *   downwards with its bytes outside the subtree of v, if n is inside;
 *   upwards with its bytes inside, if n is outside.
 */
#ifndef PLAN_CONGESTION_H
#define PLAN_CONGESTION_H

#include <stdbool.h>
#include <string.h>

#include "lap/lap.h"
#include "plan/costs.h"
#include "plan/links.h"

/* Arrays are in the arena of the costs. */
struct link_problem {
    const topo *topology;
    struct costs *costs; /* with the capacity of each node */
    size_t vertices, nodes, domains;
    double *total;  /* bytes of each domain */
    double *within; /* within[j * vertices + v] = bytes of domain j in the subtree of v */
    double *cost;   /* cost[j * nodes + n] = hop-bytes of domain j on node n, with its best rank;
                       both are NULL where they would take too much memory: for the bound only */
};

struct link_load {
    double most; /* maximum of one cable in one direction */
    bool is_least;
};

/* Sets within[v] to the bytes of domain j in the subtree of each vertex v. */
static inline void sum_within(const struct link_problem *p, size_t j, double *within)
{
    const struct sums *sums = &p->costs->sums;
    memset(within, 0, p->vertices * sizeof *within);
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++)
        within[sums->node[e]] = sums->bytes[e];
    for (size_t v = 0; v + 1 < p->vertices; v++)
        within[parent_of(p->topology, v)] += within[v];
}

/* Adds the bytes that domain j moves through the link above each vertex from or to its `node`. */
static inline void add_loads(const struct link_problem *p, size_t j, const double *within,
                             size_t node, double *up, double *down)
{
    size_t inside = node;
    for (size_t v = 0; v + 1 < p->vertices; v++) {
        if (v != inside) {
            up[v] += within[v];
            continue;
        }
        down[v] += p->total[j] - within[v];
        inside = parent_of(p->topology, v);
    }
}

/* ---- subsets.c ---- */

/* From any assignment to one of the least maximum load, and of those to one of the fewest hop-bytes
 * if each domain has the best rank of its node. Leaves everything as it is where that takes more
 * than a second or so: with more than 16 domains, or many of 10 and more on many nodes. -ENOMEM. */
int assign_by_subsets(const struct link_problem *p, size_t *node_of, struct link_load *load);

/* ---- bound.c ---- */

/* A load that no assignment is below. `most` is that of a known one, > 0. -ENOMEM. */
int bound_congestion(const struct link_problem *p, const lap_solver *solver, double most,
                     double *bound);

#endif
