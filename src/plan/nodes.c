/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains to nodes, a transportation problem over short lists of each domain's cheapest nodes.
 *
 * A domain's list holds all nodes that cost less than its bound. The list was long enough if the
 * dual of the domain is not above the bound, or if no node outside the list costs less than the sum
 * of the duals. Otherwise it grows, and the problem is solved again. */
#include "plan/costs.h"

#include "base/heap.h"
#include "base/memory.h"
#include "lap/transportation.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Nodes in a list at first, and the factor by which lists grow. */
enum { FIRST_QUOTA = 24, GROWTH = 4 };

#define NONE SIZE_MAX

/* A node with bytes of the domain, or the nodes of a class without any. */
struct candidate {
    double cost;        /* with the best rank */
    size_t turn;        /* breaks ties; rotated by domain, so that ties spread over the nodes */
    size_t node, class; /* NONE: it is a class */
};

static inline bool candidate_precedes(const struct candidate *x, const struct candidate *y)
{
    return x->cost < y->cost || (x->cost == y->cost && x->turn < y->turn);
}

#define CANDIDATE_PRECEDES(order, a, b) ((void)(order), candidate_precedes(&(a), &(b)))
BASE_HEAP(candidate_heap, struct candidate, const void *, CANDIDATE_PRECEDES, BASE_HEAP_UNPLACED);

struct listed {
    size_t node;
    double cost;
};

struct node_search {
    const struct costs *costs;

    const double *at_class; /* of the current domain */
    size_t *met;            /* of each node: 1 + the last domain that it has bytes of */
    size_t *met_in_class;   /* number of nodes of the class that have bytes of the domain */
    struct candidate *heap;
    size_t candidates;

    size_t *quota;         /* of each domain, in nodes */
    double *bound;         /* minimum cost of nodes outside the list */
    struct listed *listed; /* scratch: one list */
    size_t *start;         /* the sparse problem */
    size_t *row;
    double *cost;
    size_t used, row_capacity, cost_capacity;

    double *domain_dual, *node_dual;
    double *class_dual; /* maximum over the nodes of the class */
};

/* ---- candidates, cheapest first ---- */

static struct candidate pop_candidate(struct node_search *s)
{
    struct candidate cheapest = s->heap[0];
    if (--s->candidates > 0)
        candidate_heap_down(NULL, s->heap, s->candidates, 0, s->heap[s->candidates]);
    return cheapest;
}

/* The first of `count` equal nodes for domain j. */
static size_t node_first_turn(const struct node_search *s, size_t j, size_t count)
{
    return (size_t)((double)j / (double)s->costs->on_nodes.rows * (double)count);
}

static size_t turn_of(const struct node_search *s, size_t j, size_t node)
{
    size_t nodes = s->costs->on_nodes.cols, first = node_first_turn(s, j, nodes);
    return node >= first ? node - first : node + nodes - first;
}

static void add_nodes(struct node_search *s, size_t j)
{
    const matrix *m = &s->costs->on_nodes;
    for (size_t e = m->row_start[j]; e < m->row_start[j + 1]; e++) {
        size_t n = m->col[e];
        s->met[n] = j + 1;
        s->met_in_class[s->costs->classes.of_node[n]]++;
        double cost = cost_of_entry(s->costs, s->at_class, e);
        if (s->costs->capacity[n] > 0)
            s->heap[s->candidates++] = (struct candidate){cost, turn_of(s, j, n), n, NONE};
    }
}

static void add_classes(struct node_search *s, size_t j)
{
    const struct base_groups *classes = &s->costs->classes.nodes;
    for (size_t p = 0; p < classes->count; p++) {
        size_t first = classes->start[p];
        if (base_group_size(classes, p) > s->met_in_class[p]) {
            size_t turn = turn_of(s, j, classes->item[first]);
            s->heap[s->candidates++] = (struct candidate){s->at_class[p], turn, NONE, p};
        }
        s->met_in_class[p] = 0;
    }
}

static void find_candidates(struct node_search *s, size_t j)
{
    s->candidates = 0;
    s->at_class = costs_at_classes(s->costs, j);
    add_nodes(s, j);
    add_classes(s, j);
    candidate_heap_build(NULL, s->heap, s->candidates);
}

/* ---- lists ---- */

/* Whether a node of a class accesses none of domain j and may get it. */
static bool is_of_class(const struct node_search *s, size_t j, size_t n)
{
    return s->met[n] != j + 1 && s->costs->capacity[n] > 0;
}

/* Appends the nodes of a class that have none of the domain, up to the quota. True if all are in
 * the list. */
static bool append_class(struct node_search *s, size_t *nodes, size_t j, size_t p)
{
    const struct base_groups *classes = &s->costs->classes.nodes;
    const size_t *member = classes->item + classes->start[p];
    size_t size = base_group_size(classes, p), first = node_first_turn(s, j, size);
    for (size_t k = 0; k < size; k++) {
        size_t n = member[first + k < size ? first + k : first + k - size];
        if (!is_of_class(s, j, n))
            continue;
        if (*nodes >= s->quota[j])
            return false;
        s->listed[(*nodes)++] = (struct listed){n, s->at_class[p]};
    }
    return true;
}

/* Returns the length of the list. */
static size_t list_cheapest(struct node_search *s, size_t j)
{
    size_t nodes = 0;
    s->bound[j] = INFINITY;
    while (s->candidates > 0) {
        struct candidate next = pop_candidate(s);
        bool whole = nodes < s->quota[j];
        if (whole && next.node != NONE)
            s->listed[nodes++] = (struct listed){next.node, next.cost};
        else if (whole)
            whole = append_class(s, &nodes, j, next.class);
        if (!whole) {
            s->bound[j] = next.cost;
            break;
        }
    }
    return nodes;
}

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* The listed nodes, ascending, are the pairs of a column. */
static int add_column(struct node_search *s, size_t j)
{
    find_candidates(s, j);
    size_t nodes = list_cheapest(s, j);
    int rc = base_reserve(&s->row, &s->row_capacity, s->used + nodes, sizeof *s->row);
    if (rc == 0)
        rc = base_reserve(&s->cost, &s->cost_capacity, s->used + nodes, sizeof *s->cost);
    if (rc != 0)
        return rc;
    qsort(s->listed, nodes, sizeof *s->listed, compare_listed);
    for (size_t k = 0; k < nodes; k++) {
        s->row[s->used] = s->listed[k].node;
        s->cost[s->used++] = s->listed[k].cost;
    }
    s->start[j + 1] = s->used;
    return 0;
}

static int build_lists(struct node_search *s)
{
    int rc = 0;
    s->used = 0;
    memset(s->met, 0, s->costs->on_nodes.cols * sizeof *s->met);
    for (size_t j = 0; j < s->costs->on_nodes.rows && rc == 0; j++)
        rc = add_column(s, j);
    return rc;
}

/* ---- proof ---- */

static void find_class_duals(struct node_search *s)
{
    const struct base_groups *classes = &s->costs->classes.nodes;
    for (size_t p = 0; p < classes->count; p++) {
        s->class_dual[p] = -INFINITY;
        for (size_t k = classes->start[p]; k < classes->start[p + 1]; k++)
            s->class_dual[p] = fmax(s->class_dual[p], s->node_dual[classes->item[k]]);
    }
}

static bool is_class_proved(const struct node_search *s, size_t j, size_t p, double least)
{
    const struct base_groups *classes = &s->costs->classes.nodes;
    double cost = s->at_class[p];
    if (cost - s->class_dual[p] >= least)
        return true;
    for (size_t k = classes->start[p]; k < classes->start[p + 1]; k++) {
        size_t n = classes->item[k];
        if (is_of_class(s, j, n) && cost - s->node_dual[n] < least)
            return false;
    }
    return true;
}

/* Whether no node, listed or not, is cheaper than the duals allow. Those of nodes are at most 0. */
static bool is_proved(struct node_search *s, size_t j)
{
    double least = s->domain_dual[j] - 8.0 * DBL_EPSILON * fabs(s->domain_dual[j]);
    bool proved = true;
    if (s->bound[j] >= least)
        return true;
    find_candidates(s, j);
    for (size_t k = 0; k < s->candidates && proved; k++) {
        const struct candidate *c = &s->heap[k];
        proved = c->node != NONE ? c->cost - s->node_dual[c->node] >= least
                                 : is_class_proved(s, j, c->class, least);
    }
    return proved;
}

/* Raises the quotas of lists that were too short. Returns their number. */
static size_t raise_quotas(struct node_search *s, bool feasible)
{
    size_t raised = 0, most = s->costs->on_nodes.cols;
    memset(s->met, 0, s->costs->on_nodes.cols * sizeof *s->met);
    if (feasible)
        find_class_duals(s);
    for (size_t j = 0; j < s->costs->on_nodes.rows; j++) {
        if (s->bound[j] < (double)INFINITY && (!feasible || !is_proved(s, j))) {
            s->quota[j] = s->quota[j] < most / GROWTH ? s->quota[j] * GROWTH : most;
            raised++;
        }
    }
    return raised;
}

/* ---- the search ---- */

static int solve_lists(const struct node_search *s, size_t *node_of_domain)
{
    const lap_problem problem = {
        .rows = s->costs->on_nodes.cols,
        .cols = s->costs->on_nodes.rows,
        .cost = s->cost,
        .start = s->start,
        .row = s->row,
    };
    lap_solution solution = {
        .row_of_col = node_of_domain,
        .col_dual = s->domain_dual,
        .row_dual = s->node_dual,
    };
    return lap_transportation(&problem, s->costs->capacity, &solution);
}

static int search_nodes(struct node_search *s, size_t *node_of_domain)
{
    int rc = 0;
    do {
        rc = build_lists(s);
        if (rc == 0)
            rc = solve_lists(s, node_of_domain);
        if (rc < 0)
            return rc;
    } while (raise_quotas(s, rc == 0) > 0);
    return rc == LAP_INFEASIBLE ? -EINVAL : 0;
}

static int node_search_allocate(struct node_search *s, struct base_arena *arena)
{
    size_t nodes = s->costs->on_nodes.cols, domains = s->costs->on_nodes.rows;
    size_t classes = s->costs->classes.count;
    s->met = base_arena_alloc(arena, nodes, sizeof *s->met);
    s->met_in_class = base_arena_alloc(arena, classes, sizeof *s->met_in_class);
    s->heap = base_arena_alloc(arena, nodes + classes, sizeof *s->heap);
    s->quota = base_arena_alloc(arena, domains, sizeof *s->quota);
    s->bound = base_arena_alloc(arena, domains, sizeof *s->bound);
    s->listed = base_arena_alloc(arena, nodes, sizeof *s->listed);
    s->start = base_arena_alloc(arena, domains + 1, sizeof *s->start);
    s->domain_dual = base_arena_alloc(arena, domains, sizeof *s->domain_dual);
    s->node_dual = base_arena_alloc(arena, nodes, sizeof *s->node_dual);
    s->class_dual = base_arena_alloc(arena, classes, sizeof *s->class_dual);
    return arena->failed ? -ENOMEM : 0;
}

static bool nodes_suffice(const struct costs *costs)
{
    size_t room = 0;
    for (size_t n = 0; n < costs->on_nodes.cols; n++)
        room += costs->capacity[n];
    return room >= costs->on_nodes.rows;
}

int choose_nodes(struct costs *costs, size_t *node_of_domain)
{
    struct node_search s = {.costs = costs};
    int rc = nodes_suffice(costs) ? node_search_allocate(&s, &costs->arena) : -EINVAL;
    for (size_t j = 0; j < costs->on_nodes.rows && rc == 0; j++)
        s.quota[j] = FIRST_QUOTA;
    if (rc == 0)
        rc = search_nodes(&s, node_of_domain);
    free(s.row);
    free(s.cost);
    return rc;
}
