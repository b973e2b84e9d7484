/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains to nodes first, then to the ranks of each node. */
#include "plan/steps.h"

#include "base/memory.h"
#include "plan/nodes.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>

/* ---- ranks ---- */

/* Domains of node n: domain[start[n]] .. domain[start[n + 1] - 1], ascending. */
struct grouped {
    size_t *start, *domain, *row;
};

static void group_domains(const size_t *node_of_domain, size_t domains, size_t nodes,
                          struct grouped *g)
{
    for (size_t j = 0; j < domains; j++)
        g->start[node_of_domain[j] + 2]++;
    for (size_t n = 1; n <= nodes; n++)
        g->start[n + 1] += g->start[n];
    for (size_t j = 0; j < domains; j++)
        g->domain[g->start[node_of_domain[j] + 1]++] = j;
}

static int assign_groups(const matrix *requests, const struct ranks *ranks, const struct grouped *g,
                         const lap_solver *solver)
{
    int rc = 0;
    for (size_t n = 0; n < ranks->nodes && rc == 0; n++) {
        size_t first = g->start[n], count = g->start[n + 1] - first;
        if (count > 0) {
            rc = plan_choose_ranks(requests, ranks->rank + ranks->start[n],
                                   ranks->start[n + 1] - ranks->start[n], g->domain + first, count,
                                   solver, g->row + first);
        }
    }
    return rc;
}

int assign_ranks(const matrix *requests, const struct ranks *ranks, const size_t *node_of_domain,
                 const lap_solver *solver, size_t *rank_of_domain)
{
    size_t domains = requests->cols;
    struct grouped g;
    int rc = 0;
    g.start = base_zeroed(ranks->nodes + 2, sizeof *g.start, &rc);
    g.domain = base_zeroed(domains, sizeof *g.domain, &rc);
    g.row = base_zeroed(domains, sizeof *g.row, &rc);
    if (rc == 0) {
        group_domains(node_of_domain, domains, ranks->nodes, &g);
        rc = assign_groups(requests, ranks, &g, solver);
    }
    for (size_t k = 0; k < domains && rc == 0; k++)
        rank_of_domain[g.domain[k]] = g.row[k];
    free(g.start);
    free(g.domain);
    free(g.row);
    return rc;
}

/* ---- nodes, then ranks ---- */

static int assign_nodes(const struct two_steps *steps, const struct ranks *ranks,
                        size_t *node_of_domain, double *total)
{
    struct sums sums = {0};
    struct costs costs = {0};
    int rc = 0;
    size_t *capacity = base_zeroed(ranks->nodes, sizeof *capacity, &rc);
    for (size_t n = 0; n < ranks->nodes && rc == 0; n++)
        capacity[n] = plan_capacity(ranks->start[n + 1] - ranks->start[n], steps->in->per_node,
                                    steps->held.by_rank->cols);
    if (rc == 0)
        rc = sums_of_ranks(&steps->held, ranks, &sums);
    if (rc == 0)
        rc = costs_init(&costs, steps->classes, &sums, steps->own);
    if (rc == 0)
        rc = choose_nodes(&costs, capacity, steps->solver, node_of_domain, total);
    costs_release(&costs);
    sums_release(&sums);
    free(capacity);
    return rc;
}

int assign_in_two_steps(const struct two_steps *steps, size_t *rank_of_domain, double *total)
{
    struct ranks ranks;
    int rc = plan_list_ranks(steps->in, &ranks);
    if (rc != 0)
        return rc;
    size_t *node_of_domain = calloc(steps->held.by_rank->cols | 1, sizeof *node_of_domain);
    rc = node_of_domain != NULL ? assign_nodes(steps, &ranks, node_of_domain, total) : -ENOMEM;
    if (rc == 0) {
        rc = assign_ranks(steps->held.by_rank, &ranks, node_of_domain, steps->solver,
                          rank_of_domain);
    }
    free(node_of_domain);
    plan_release_ranks(&ranks);
    return rc;
}
