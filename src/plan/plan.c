/* SPDX-License-Identifier: BSD-3-Clause */
/* The strategies of aggregator selection. */
#include "base/memory.h"
#include "lap/lap.h"
#include "plan/plan.h"
#include "plan/costs.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- from domains to ranks ---- */

/* The ranks of a node, and the domains that they get. */
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

/* Maximises the bytes that ranks access of their own domains. Ties go to the lower rank where there
 * is one domain, else as the solver breaks them. */
static int choose_ranks(const struct node_part *c, size_t *rank_of_domain)
{
    assert(c->domains <= c->ranks);
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

static int plan_assign_ranks(struct costs *costs, const matrix *requests,
                             const size_t *node_of_domain, size_t *rank_of_domain)
{
    const struct base_groups *ranks = &costs->ranks;
    size_t domains = requests->cols;
    struct base_groups of_node;
    size_t *row = base_arena_alloc(&costs->arena, domains, sizeof *row);
    int rc = base_group_items(&costs->arena, node_of_domain, domains, ranks->count, &of_node);
    if (row == NULL)
        rc = -ENOMEM;
    for (size_t n = 0; n < ranks->count && rc == 0; n++) {
        size_t first = of_node.start[n];
        const struct node_part part = {requests, ranks->item + ranks->start[n],
                                       base_group_size(ranks, n), of_node.item + first,
                                       base_group_size(&of_node, n)};
        rc = choose_ranks(&part, row + first);
    }
    for (size_t k = 0; k < domains && rc == 0; k++)
        rank_of_domain[of_node.item[k]] = row[k];
    return rc;
}

/* Domains to nodes first, then those of each node to its ranks, so that what ranks have of their
 * own domains in `rows` is maximal. */
static int assign_by_held(const plan_input *in, const struct held *held, const matrix *rows,
                          size_t *rank_of_domain)
{
    struct costs costs;
    if (rows->cols > rows->rows)
        return -EINVAL;
    int rc = costs_init(&costs, in, held);
    size_t *node_of_domain = base_arena_alloc(&costs.arena, rows->cols, sizeof *node_of_domain);
    if (rc == 0)
        rc = node_of_domain == NULL ? -ENOMEM : choose_nodes(&costs, node_of_domain);
    if (rc == 0)
        rc = plan_assign_ranks(&costs, rows, node_of_domain, rank_of_domain);
    costs_release(&costs);
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

/* Moves domains to ranks of their nodes that are nearer to the network, where a domain saves as
 * much as before: hop-bytes and loads stay. Only ranks that `requests` list for a domain can get
 * it. -ENOMEM. */
static int prefer_near_ranks(const plan_input *in, size_t *rank_of_domain)
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

/* ---- tatp ---- */

int plan_least_hop_bytes(const plan_input *in, size_t *rank_of_domain)
{
    const struct held held = held_bytes(in);
    return assign_by_held(in, &held, in->requests, rank_of_domain);
}

/* If ranks cost a domain the same, the nearest to the network gets it. */
static int assign_tatp(const plan_input *in, size_t *rank_of_domain)
{
    int rc = 0;
    if (in->nearness == NULL)
        return plan_least_hop_bytes(in, rank_of_domain);
    size_t *made = base_zeroed(in->requests->cols, sizeof *made, &rc);
    if (rc == 0)
        rc = plan_least_hop_bytes(in, made);
    if (rc == 0)
        rc = prefer_near_ranks(in, made);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        rank_of_domain[j] = made[j];
    free(made);
    return rc;
}

/* ---- latp: the node that accesses most of a domain, then its best rank; all other bytes are 1 hop
 * away ---- */

static int assign_latp_volume(const plan_input *in, size_t *rank_of_domain)
{
    const struct held held = {.by_rank = in->requests, .by_node = in->node_bytes, .apart = 1};
    return assign_by_held(in, &held, in->requests, rank_of_domain);
}

/* Without blocks each entry that is not 0 counts as one. */
static int assign_latp_count(const plan_input *in, size_t *rank_of_domain)
{
    const matrix *rows = in->blocks != NULL ? in->blocks : in->requests;
    matrix counted = *rows;
    struct held held = {.by_rank = &counted, .by_node = in->node_blocks, .apart = 1};
    int rc = 0;
    counted.value = base_zeroed(matrix_entries(rows), sizeof *counted.value, &rc);
    for (size_t k = 0; k < matrix_entries(rows) && rc == 0; k++)
        counted.value[k] = in->blocks != NULL ? rows->value[k] : rows->value[k] != 0;
    if (rc == 0)
        rc = assign_by_held(in, &held, rows, rank_of_domain);
    free(counted.value);
    return rc;
}

/* ---- otp ---- */

/* `turn` is the number of lower ranks on the rank's node, `first` the lowest of them. */
struct turn {
    size_t turn, first, rank;
};

static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int assign_otp(const plan_input *in, size_t *rank_of_domain)
{
    struct base_arena arena = {0};
    size_t nodes = in->topology->nodes, ranks = in->requests->rows, domains = in->requests->cols;
    size_t *ranks_so_far = base_arena_alloc(&arena, nodes, sizeof *ranks_so_far);
    size_t *first_of_node = base_arena_alloc(&arena, nodes, sizeof *first_of_node);
    struct turn *turns = base_arena_alloc(&arena, ranks, sizeof *turns);
    int rc = domains > ranks ? -EINVAL : 0;
    if (rc == 0 && arena.failed)
        rc = -ENOMEM;
    for (size_t i = 0; i < ranks && rc == 0; i++) {
        size_t n = in->node_of_rank[i];
        if (ranks_so_far[n] == 0)
            first_of_node[n] = i;
        turns[i] = (struct turn){ranks_so_far[n]++, first_of_node[n], i};
    }
    if (rc == 0)
        qsort(turns, ranks, sizeof *turns, compare_turns);
    if (rc == 0 && domains > 0 && in->per_node > 0 && turns[domains - 1].turn >= in->per_node)
        rc = -EINVAL;
    for (size_t j = 0; j < domains && rc == 0; j++)
        rank_of_domain[j] = turns[j].rank;
    base_arena_release(&arena);
    return rc;
}

/* ---- the even spread ---- */

/* Capacity of all nodes when none owns more than `most` domains. */
static size_t total_capacity(const size_t *ranks_on_node, size_t nodes, size_t most)
{
    size_t capacity = 0;
    for (size_t n = 0; n < nodes; n++)
        capacity += ranks_on_node[n] < most ? ranks_on_node[n] : most;
    return capacity;
}

size_t plan_even_per_node(const size_t *ranks_on_node, size_t nodes, size_t domains)
{
    size_t largest = 1;
    for (size_t n = 0; n < nodes; n++)
        largest = ranks_on_node[n] > largest ? ranks_on_node[n] : largest;
    size_t most = nodes > 0 ? domains / nodes + (domains % nodes != 0) : 0;
    most = most > 0 ? most : 1;
    while (most < largest && total_capacity(ranks_on_node, nodes, most) < domains)
        most++;
    return most;
}

/* ---- the table ---- */

const plan_strategy plan_strategies[] = {
    {"tatp", assign_tatp, "least hop-bytes to nodes, then on each node", 0},
    {"latp_volume", assign_latp_volume, "the node that accesses most bytes of the domain", 0},
    {"latp_count", assign_latp_count, "the node that accesses most contiguous blocks of the domain",
     1},
    {"otp", assign_otp, "the lowest rank of each node in turn, as two-phase I/O does by default",
     0},
    {NULL, NULL, NULL, 0},
};

const plan_strategy *plan_find_strategy(const char *name)
{
    for (const plan_strategy *s = plan_strategies; name != NULL && s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}
