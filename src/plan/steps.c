/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains to nodes first, then to the ranks of each node; of ranks that cost the same, to those
 * near the network. */
#include "plan/costs.h"

#include <errno.h>
#include <stdbool.h>

#include "base/memory.h"
#include "lap/lap.h"

/* The ranks of a node, and the domains that they get, no more than ranks. */
struct node_part {
    const matrix *requests;
    const size_t *rank;
    size_t ranks;
    const size_t *domain;
    size_t domains;
};

static size_t best_rank(const struct node_part *c, size_t j)
{
    size_t best = 0;
    int64_t most = matrix_get(c->requests, c->rank[0], j);
    for (size_t r = 1; r < c->ranks; r++) {
        int64_t bytes = matrix_get(c->requests, c->rank[r], j);
        if (bytes > most) {
            most = bytes;
            best = r;
        }
    }
    return c->rank[best];
}

/* Maximum of own bytes: minimum of these negated. */
static int solve_part(const struct node_part *c, double *cost, size_t *rank_of_domain)
{
    lap_problem problem = {.rows = c->ranks, .cols = c->domains, .cost = cost};
    lap_solution solution = {.row_of_col = rank_of_domain};
    for (size_t d = 0; d < c->domains; d++)
        for (size_t r = 0; r < c->ranks; r++)
            cost[d * c->ranks + r] = -(double)matrix_get(c->requests, c->rank[r], c->domain[d]);
    int rc = lap_solvers->solve(&problem, &solution);
    for (size_t d = 0; d < c->domains && rc == 0; d++)
        rank_of_domain[d] = c->rank[rank_of_domain[d]];
    return rc;
}

/* So that the bytes that ranks access of their own domains are maximal. Ties go to the lower rank
 * where there is one domain, else as the solver breaks them. */
static int choose_ranks(const struct node_part *c, size_t *rank_of_domain)
{
    if (c->domains == 1)
        *rank_of_domain = best_rank(c, *c->domain);
    if (c->domains < 2)
        return 0;
    int rc = 0;
    double *cost = base_zeroed(c->ranks, c->domains * sizeof *cost, &rc);
    if (rc == 0)
        rc = solve_part(c, cost, rank_of_domain);
    free(cost);
    return rc;
}

static int assign_ranks(struct costs *costs, const matrix *requests, const size_t *node_of_domain,
                        size_t *rank_of_domain)
{
    const struct groups *ranks = &costs->ranks;
    size_t domains = requests->cols;
    struct groups of_node;
    size_t *row = base_arena_alloc(&costs->arena, domains, sizeof *row);
    int rc = group_items(&costs->arena, node_of_domain, domains, ranks->count, &of_node);
    if (row == NULL)
        rc = -ENOMEM;
    for (size_t n = 0; n < ranks->count && rc == 0; n++) {
        size_t first = of_node.start[n];
        const struct node_part part = {requests, ranks->item + ranks->start[n],
                                       group_size(ranks, n), of_node.item + first,
                                       group_size(&of_node, n)};
        rc = choose_ranks(&part, row + first);
    }
    for (size_t k = 0; k < domains && rc == 0; k++)
        rank_of_domain[of_node.item[k]] = row[k];
    return rc;
}

int assign_in_two_steps(struct costs *costs, const matrix *requests, size_t *rank_of_domain)
{
    size_t *node_of_domain =
        base_arena_alloc(&costs->arena, requests->cols, sizeof *node_of_domain);
    int rc = node_of_domain == NULL ? -ENOMEM : 0;
    if (rc == 0)
        rc = choose_nodes(costs, node_of_domain);
    if (rc == 0)
        rc = assign_ranks(costs, requests, node_of_domain, rank_of_domain);
    return rc;
}

/* ---- nearness ---- */

/* The rank that a domain moves to. saved: a row for each domain, a column for each rank. */
static size_t nearest_rank(const plan_input *in, const matrix *saved, const bool *owns,
                           size_t domain, size_t owner)
{
    size_t best = owner;
    int64_t most = matrix_get(saved, domain, owner);
    for (size_t e = saved->row_start[domain]; e < saved->row_start[domain + 1]; e++) {
        size_t rank = saved->col[e];
        if (saved->value[e] == most && !owns[rank] && in->nearness[rank] > in->nearness[best] &&
            in->node_of_rank[rank] == in->node_of_rank[owner])
            best = rank;
    }
    return best;
}

/* Once each. Returns whether any has moved, which may have made room for others. */
static bool move_domains(const plan_input *in, const matrix *saved, bool *owns,
                         size_t *rank_of_domain)
{
    bool moved = false;
    for (size_t j = 0; j < saved->rows; j++) {
        size_t owner = rank_of_domain[j];
        size_t rank = nearest_rank(in, saved, owns, j, owner);
        moved = moved || rank != owner;
        owns[owner] = false;
        owns[rank] = true;
        rank_of_domain[j] = rank;
    }
    return moved;
}

int prefer_near_ranks(const plan_input *in, size_t *rank_of_domain)
{
    matrix saved;
    bool *owns = calloc(in->requests->rows + 1, sizeof *owns);
    int rc = owns == NULL ? -ENOMEM : matrix_transpose(&saved, in->requests);
    if (rc != 0) {
        free(owns);
        return rc;
    }
    for (size_t j = 0; j < in->requests->cols; j++)
        owns[rank_of_domain[j]] = true;
    while (move_domains(in, &saved, owns, rank_of_domain))
        ;
    matrix_release(&saved);
    free(owns);
    return 0;
}
