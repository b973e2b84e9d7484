/* SPDX-License-Identifier: BSD-3-Clause */
/* A lower bound of the maximum load of a link.
 *
 * For any weights of the links, at least 0 and 1 in all, the maximum load of an assignment is at
 * least the weighted mean of its loads, and this at least the minimum of that mean over all
 * assignments: a linear assignment problem. Weights are raised where the assignment of the minimum
 * has most load (exponentiated gradient), which raises the minimum. */
#include "plan/congestion.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Rounds, and in all of them domains times vertices. */
enum { MOST_ROUNDS = 300 };
#define MOST_STEPS ((size_t)1 << 28)

/* Domains times slots of nodes. Larger problems ignore the capacity of nodes. */
#define MOST_SLOT_PAIRS ((size_t)1 << 16)

struct link_bound {
    const struct link_problem *p;
    double *up_weight, *down_weight; /* by vertex, of the link above it; 1 in all */
    double *up, *down;               /* loads of the last minimum */
    double *within;                  /* of the current domain, by vertex */
    double *cost;                    /* of the current domain, by vertex: what it adds to the mean
                                        if its owner is in the subtree */
    size_t *node_of;                 /* of each domain: the last minimum */
    size_t slots;                    /* 0: capacities are ignored */
    size_t *node_of_slot;
    double *pairs; /* domains x slots: the mean by domain and slot */
};

/* ---- the minimum of the mean ---- */

/* What each node adds to the mean as owner of domain j, in b->cost. */
static void fill_costs(struct link_bound *b, size_t j)
{
    const topo *t = b->p->topology;
    size_t root = b->p->vertices - 1;
    double total = b->p->total[j], outside = 0.0;
    sum_within(b->p, j, b->within);
    for (size_t v = 0; v < root; v++)
        outside += b->up_weight[v] / cables(t, v) * b->within[v];
    b->cost[root] = outside;
    for (size_t v = root; v-- > 0;) {
        double down = b->down_weight[v] * (total - b->within[v]);
        double up = b->up_weight[v] * b->within[v];
        b->cost[v] = b->cost[parent_of(t, v)] + (down - up) / cables(t, v);
    }
}

static size_t cheapest_node(const struct link_bound *b)
{
    size_t best = SIZE_MAX;
    for (size_t n = 0; n < b->p->nodes; n++)
        if (b->p->costs->capacity[n] > 0 && (best == SIZE_MAX || b->cost[n] < b->cost[best]))
            best = n;
    return best;
}

static int assign_slots(struct link_bound *b, const lap_solver *solver, double *mean)
{
    lap_problem problem = {.rows = b->slots, .cols = b->p->domains, .cost = b->pairs};
    lap_solution solution = {.row_of_col = b->node_of};
    int rc = solver->solve(&problem, &solution);
    for (size_t j = 0; j < b->p->domains && rc == 0; j++)
        b->node_of[j] = b->node_of_slot[b->node_of[j]];
    *mean = solution.total;
    return rc;
}

static int find_minimum(struct link_bound *b, const lap_solver *solver, double *mean)
{
    *mean = 0.0;
    for (size_t j = 0; j < b->p->domains; j++) {
        fill_costs(b, j);
        for (size_t k = 0; k < b->slots; k++)
            b->pairs[j * b->slots + k] = b->cost[b->node_of_slot[k]];
        b->node_of[j] = cheapest_node(b);
        *mean += b->cost[b->node_of[j]];
    }
    return b->slots > 0 ? assign_slots(b, solver, mean) : 0;
}

/* ---- the weights ---- */

static void load_links(struct link_bound *b)
{
    memset(b->up, 0, b->p->vertices * sizeof *b->up);
    memset(b->down, 0, b->p->vertices * sizeof *b->down);
    for (size_t j = 0; j < b->p->domains; j++) {
        sum_within(b->p, j, b->within);
        add_loads(b->p, j, b->within, b->node_of[j], b->up, b->down);
    }
    for (size_t v = 0; v + 1 < b->p->vertices; v++) {
        b->up[v] /= cables(b->p->topology, v);
        b->down[v] /= cables(b->p->topology, v);
    }
}

static void set_weights(struct link_bound *b, double step, double most)
{
    double sum = 0.0;
    for (size_t v = 0; v + 1 < b->p->vertices; v++) {
        b->up_weight[v] *= exp(step * (b->up[v] / most - 1.0));
        b->down_weight[v] *= exp(step * (b->down[v] / most - 1.0));
        sum += b->up_weight[v] + b->down_weight[v];
    }
    for (size_t v = 0; v + 1 < b->p->vertices; v++) {
        b->up_weight[v] /= sum;
        b->down_weight[v] /= sum;
    }
}

static int raise_bound(struct link_bound *b, const lap_solver *solver, double most, double *bound)
{
    size_t steps = b->p->domains * b->p->vertices, rounds = MOST_STEPS / (steps + 1) + 1;
    int rc = 0;
    *bound = 0.0;
    for (size_t v = 0; v + 1 < b->p->vertices; v++)
        b->up_weight[v] = b->down_weight[v] = 0.5 / (double)(b->p->vertices - 1);
    for (size_t k = 0; k < rounds && k < MOST_ROUNDS && *bound < most && rc == 0; k++) {
        double mean;
        rc = find_minimum(b, solver, &mean);
        if (rc != 0)
            break;
        *bound = fmax(*bound, mean);
        load_links(b);
        set_weights(b, 1.0 / sqrt((double)k + 1.0), most);
    }
    return rc;
}

/* ---- set-up ---- */

/* Rounding of weights must not lift the bound above the least load. */
enum { ROUNDING = 1000 };

static int count_slots(struct link_bound *b, struct base_arena *arena)
{
    const size_t *capacity = b->p->costs->capacity;
    size_t slots = 0, pairs;
    for (size_t n = 0; n < b->p->nodes; n++)
        slots += capacity[n];
    if (__builtin_mul_overflow(slots, b->p->domains, &pairs) || pairs > MOST_SLOT_PAIRS)
        return 0;
    b->slots = slots;
    b->node_of_slot = base_arena_alloc(arena, slots, sizeof *b->node_of_slot);
    b->pairs = base_arena_alloc(arena, pairs, sizeof *b->pairs);
    if (arena->failed)
        return -ENOMEM;
    for (size_t n = 0, k = 0; n < b->p->nodes; n++)
        for (size_t c = 0; c < capacity[n]; c++)
            b->node_of_slot[k++] = n;
    return 0;
}

int bound_congestion(const struct link_problem *p, const lap_solver *solver, double most,
                     double *bound)
{
    struct base_arena *arena = &p->costs->arena;
    struct link_bound b = {.p = p};
    double found = 0.0;
    b.up_weight = base_arena_alloc(arena, p->vertices, sizeof *b.up_weight);
    b.down_weight = base_arena_alloc(arena, p->vertices, sizeof *b.down_weight);
    b.up = base_arena_alloc(arena, p->vertices, sizeof *b.up);
    b.down = base_arena_alloc(arena, p->vertices, sizeof *b.down);
    b.within = base_arena_alloc(arena, p->vertices, sizeof *b.within);
    b.cost = base_arena_alloc(arena, p->vertices, sizeof *b.cost);
    b.node_of = base_arena_alloc(arena, p->domains, sizeof *b.node_of);
    int rc = arena->failed ? -ENOMEM : count_slots(&b, arena);
    if (rc == 0)
        rc = raise_bound(&b, solver, most, &found);
    if (rc == 0)
        *bound = fmin(found * (1.0 - DBL_EPSILON * ROUNDING), most);
    return rc;
}
