/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns the domains of one node to its ranks. */
#include "lap/lap.h"
#include "plan/input.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>

/* The ranks of a node, and the domains that they get. */
struct node_part {
    const matrix *requests;
    const size_t *rank;
    size_t ranks;
    const size_t *domain;
    size_t domains;
};

static size_t row_of_rank(const struct node_part *c, size_t r)
{
    return c->rank != NULL ? c->rank[r] : r;
}

static int check_part(const struct node_part *c)
{
    for (size_t r = 0; r < c->ranks; r++)
        if (row_of_rank(c, r) >= c->requests->rows)
            return -EINVAL;
    for (size_t d = 0; d < c->domains; d++)
        if (c->domain[d] >= c->requests->cols)
            return -EINVAL;
    return c->ranks < c->domains ? -EINVAL : 0;
}

static size_t best_row(const struct node_part *c, size_t j)
{
    size_t best = 0;
    int64_t most = matrix_get(c->requests, row_of_rank(c, 0), j);
    for (size_t r = 1; r < c->ranks; r++) {
        int64_t bytes = matrix_get(c->requests, row_of_rank(c, r), j);
        if (bytes > most) {
            most = bytes;
            best = r;
        }
    }
    return row_of_rank(c, best);
}

/* Maximum of own bytes: minimum of these negated. */
static int solve_part(const struct node_part *c, double *cost, size_t *row_of_domain)
{
    lap_problem problem = {.rows = c->ranks, .cols = c->domains, .cost = cost};
    lap_solution solution = {.row_of_col = row_of_domain};
    for (size_t d = 0; d < c->domains; d++) {
        for (size_t r = 0; r < c->ranks; r++) {
            int64_t bytes = matrix_get(c->requests, row_of_rank(c, r), c->domain[d]);
            cost[d * c->ranks + r] = -(double)bytes;
        }
    }
    int rc = lap_solvers->solve(&problem, &solution);
    for (size_t d = 0; d < c->domains && rc == 0; d++)
        row_of_domain[d] = row_of_rank(c, row_of_domain[d]);
    return rc;
}

int plan_choose_ranks(const matrix *requests, const size_t *rank, size_t ranks,
                      const size_t *domain, size_t domains, size_t *row_of_domain)
{
    struct node_part c = {requests, rank, ranks, domain, domains};
    size_t pairs;
    int rc = check_part(&c);
    if (rc != 0 || domains == 0)
        return rc;
    if (domains == 1) {
        *row_of_domain = best_row(&c, *domain);
        return 0;
    }
    if (__builtin_mul_overflow(ranks, domains, &pairs))
        return -ENOMEM;
    double *cost = calloc(pairs, sizeof *cost);
    if (cost == NULL)
        return -ENOMEM;
    rc = solve_part(&c, cost, row_of_domain);
    free(cost);
    return rc;
}
