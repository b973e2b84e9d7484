/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains to nodes by linear assignment, over short lists of each domain's cheapest nodes.
 *
 * A node with capacity c is c rows ("slots") of the assignment problem. A domain's list holds all
 * nodes that cost less than its bound. The list was long enough if the dual of the domain is not
 * above the bound, or if no node outside the list costs less than the sum of both duals. Otherwise
 * it grows, and the problem is solved again. */
#include "plan/steps.h"

#include "base/heap.h"
#include "base/memory.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Initial slots in a list, and the factor by which lists grow. */
enum { FIRST_QUOTA = 24, GROWTH = 4 };

/* A node with bytes of the domain, or the nodes of a class without any. */
struct candidate {
    double cost;
    size_t turn; /* breaks ties; rotated by domain, so that ties spread over the nodes */
    size_t node, class;
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
    struct costs *costs;
    const size_t *capacity;
    size_t *first_slot; /* of each node; nodes + 1 */
    size_t *node_of_slot;

    const double *at_class; /* of the current domain */
    size_t *met;            /* of each node: 1 + the last domain that it has bytes of */
    size_t *met_in_class;   /* number of nodes of the class that have bytes of the domain */
    struct candidate *heap;
    size_t candidates;

    size_t *quota;         /* of each domain, in slots */
    double *bound;         /* minimum cost of nodes outside the list */
    struct listed *listed; /* scratch: one list */
    size_t *start;         /* the sparse problem */
    size_t *row;
    double *cost;
    size_t used, row_capacity, cost_capacity;

    double *col_dual, *row_dual;
    double *class_dual; /* maximum over the nodes of the class */
    size_t *slot_of_domain;
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
static size_t first_turn(const struct node_search *s, size_t j, size_t count)
{
    return (size_t)((double)j / (double)s->costs->sums.domains * (double)count);
}

static size_t turn_of(const struct node_search *s, size_t j, size_t node)
{
    size_t nodes = s->costs->sums.nodes, first = first_turn(s, j, nodes);
    return node >= first ? node - first : node + nodes - first;
}

static void add_nodes(struct node_search *s, size_t j)
{
    const struct sums *sums = &s->costs->sums;
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++) {
        size_t n = sums->node[e];
        s->met[n] = j + 1;
        s->met_in_class[s->costs->classes.of_node[n]]++;
        if (s->capacity[n] > 0) {
            double cost = cost_of_entry(s->costs, s->at_class, e);
            s->heap[s->candidates++] = (struct candidate){cost, turn_of(s, j, n), n, SIZE_MAX};
        }
    }
}

static void add_classes(struct node_search *s, size_t j)
{
    const struct groups *classes = &s->costs->classes.nodes;
    for (size_t p = 0; p < classes->count; p++) {
        size_t first = classes->start[p], size = group_size(classes, p);
        if (size > s->met_in_class[p]) {
            size_t turn = turn_of(s, j, classes->item[first]);
            s->heap[s->candidates++] = (struct candidate){s->at_class[p], turn, SIZE_MAX, p};
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

struct list {
    size_t nodes, slots;
};

static void append_node(struct node_search *s, struct list *list, size_t n, double cost)
{
    s->listed[list->nodes++] = (struct listed){n, cost};
    list->slots += s->capacity[n];
}

/* Appends the nodes of a class that have none of the domain, up to the quota. True if all are in
 * the list. */
static bool append_class(struct node_search *s, struct list *list, size_t j, size_t p)
{
    const struct groups *classes = &s->costs->classes.nodes;
    const size_t *member = classes->item + classes->start[p];
    size_t size = group_size(classes, p), first = first_turn(s, j, size);
    for (size_t k = 0; k < size; k++) {
        size_t n = member[first + k < size ? first + k : first + k - size];
        if (s->met[n] == j + 1 || s->capacity[n] == 0)
            continue;
        if (list->slots >= s->quota[j])
            return false;
        append_node(s, list, n, s->at_class[p]);
    }
    return true;
}

static struct list list_cheapest(struct node_search *s, size_t j)
{
    struct list list = {0, 0};
    s->bound[j] = INFINITY;
    while (s->candidates > 0) {
        struct candidate next = pop_candidate(s);
        bool whole = list.slots < s->quota[j];
        if (whole && next.node != SIZE_MAX)
            append_node(s, &list, next.node, next.cost);
        else if (whole)
            whole = append_class(s, &list, j, next.class);
        if (!whole) {
            s->bound[j] = next.cost;
            break;
        }
    }
    return list;
}

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Appends the slots of the listed nodes, ascending, as the pairs of a column. */
static int add_column(struct node_search *s, size_t j)
{
    find_candidates(s, j);
    struct list list = list_cheapest(s, j);
    int rc = base_reserve(&s->row, &s->row_capacity, s->used + list.slots, sizeof *s->row);
    if (rc == 0)
        rc = base_reserve(&s->cost, &s->cost_capacity, s->used + list.slots, sizeof *s->cost);
    if (rc != 0)
        return rc;
    qsort(s->listed, list.nodes, sizeof *s->listed, compare_listed);
    for (size_t k = 0; k < list.nodes; k++) {
        size_t n = s->listed[k].node;
        for (size_t slot = s->first_slot[n]; slot < s->first_slot[n + 1]; slot++) {
            s->row[s->used] = slot;
            s->cost[s->used++] = s->listed[k].cost;
        }
    }
    s->start[j + 1] = s->used;
    return 0;
}

static int build_lists(struct node_search *s)
{
    int rc = 0;
    s->used = 0;
    memset(s->met, 0, s->costs->sums.nodes * sizeof *s->met);
    for (size_t j = 0; j < s->costs->sums.domains && rc == 0; j++)
        rc = add_column(s, j);
    return rc;
}

/* ---- proof ---- */

static void find_class_duals(struct node_search *s)
{
    const struct groups *classes = &s->costs->classes.nodes;
    for (size_t p = 0; p < classes->count; p++) {
        s->class_dual[p] = -INFINITY;
        for (size_t k = classes->start[p]; k < classes->start[p + 1]; k++) {
            size_t n = classes->item[k];
            if (s->capacity[n] > 0)
                s->class_dual[p] = fmax(s->class_dual[p], s->row_dual[s->first_slot[n]]);
        }
    }
}

/* Whether no node, listed or not, is cheaper than the duals allow. Duals of nodes are at most 0.
 * All slots of a node have one dual, since a domain on one of them would take the cheapest. */
static bool is_proved(struct node_search *s, size_t j)
{
    double least = s->col_dual[j] - 8.0 * DBL_EPSILON * fabs(s->col_dual[j]);
    if (s->bound[j] >= least)
        return true;
    find_candidates(s, j);
    for (size_t k = 0; k < s->candidates; k++) {
        const struct candidate *c = &s->heap[k];
        double dual =
            c->node != SIZE_MAX ? s->row_dual[s->first_slot[c->node]] : s->class_dual[c->class];
        if (c->cost - dual < least)
            return false;
    }
    return true;
}

/* Raises the quotas of lists that were too short. Returns their number. */
static size_t raise_quotas(struct node_search *s, bool feasible)
{
    size_t raised = 0, most = s->first_slot[s->costs->sums.nodes];
    memset(s->met, 0, s->costs->sums.nodes * sizeof *s->met);
    if (feasible)
        find_class_duals(s);
    for (size_t j = 0; j < s->costs->sums.domains; j++) {
        if (s->bound[j] < (double)INFINITY && (!feasible || !is_proved(s, j))) {
            s->quota[j] = s->quota[j] < most / GROWTH ? s->quota[j] * GROWTH : most;
            raised++;
        }
    }
    return raised;
}

/* ---- the search ---- */

static int solve_lists(struct node_search *s, const lap_solver *solver, double *total)
{
    /* One row more than slots, without pairs: then duals of rows are at most 0, and 0 for a free
     * slot. */
    lap_problem problem = {
        .rows = s->first_slot[s->costs->sums.nodes] + 1,
        .cols = s->costs->sums.domains,
        .cost = s->cost,
        .start = s->start,
        .row = s->row,
    };
    lap_solution solution = {
        .row_of_col = s->slot_of_domain,
        .col_dual = s->col_dual,
        .row_dual = s->row_dual,
    };
    int rc = solver->solve(&problem, &solution);
    *total = solution.total;
    return rc;
}

static int search_nodes(struct node_search *s, const lap_solver *solver, double *total)
{
    int rc = 0;
    do {
        rc = build_lists(s);
        if (rc == 0)
            rc = solve_lists(s, solver, total);
        if (rc < 0)
            return rc;
    } while (raise_quotas(s, rc == 0) > 0);
    return rc == LAP_INFEASIBLE ? -EINVAL : 0;
}

static int node_search_init(struct node_search *s)
{
    struct base_arena *arena = &s->costs->arena;
    size_t nodes = s->costs->sums.nodes, domains = s->costs->sums.domains;
    size_t classes = s->costs->classes.count;
    size_t *first = s->first_slot = base_arena_alloc(arena, nodes + 1, sizeof *first);
    for (size_t n = 0; n < nodes && first != NULL; n++)
        first[n + 1] = first[n] + s->capacity[n];
    size_t slots = first != NULL ? first[nodes] : domains;
    if (slots < domains)
        return -EINVAL;
    s->node_of_slot = base_arena_alloc(arena, slots, sizeof *s->node_of_slot);
    s->met = base_arena_alloc(arena, nodes, sizeof *s->met);
    s->met_in_class = base_arena_alloc(arena, classes, sizeof *s->met_in_class);
    s->heap = base_arena_alloc(arena, nodes + classes, sizeof *s->heap);
    s->quota = base_arena_alloc(arena, domains, sizeof *s->quota);
    s->bound = base_arena_alloc(arena, domains, sizeof *s->bound);
    s->listed = base_arena_alloc(arena, nodes, sizeof *s->listed);
    s->start = base_arena_alloc(arena, domains + 1, sizeof *s->start);
    s->col_dual = base_arena_alloc(arena, domains, sizeof *s->col_dual);
    s->row_dual = base_arena_alloc(arena, slots + 1, sizeof *s->row_dual);
    s->class_dual = base_arena_alloc(arena, classes, sizeof *s->class_dual);
    s->slot_of_domain = base_arena_alloc(arena, domains, sizeof *s->slot_of_domain);
    if (arena->failed)
        return -ENOMEM;
    for (size_t j = 0; j < domains; j++)
        s->quota[j] = FIRST_QUOTA;
    for (size_t n = 0; n < nodes; n++)
        for (size_t slot = first[n]; slot < first[n + 1]; slot++)
            s->node_of_slot[slot] = n;
    return 0;
}

int choose_nodes(struct costs *costs, const lap_solver *solver, size_t *node_of_domain,
                 double *total)
{
    struct node_search s = {.costs = costs, .capacity = costs->capacity};
    double sum = 0.0;
    int rc = node_search_init(&s);
    if (rc == 0)
        rc = search_nodes(&s, solver, &sum);
    if (rc == 0) {
        for (size_t j = 0; j < costs->sums.domains; j++)
            node_of_domain[j] = s.node_of_slot[s.slot_of_domain[j]];
        *total = sum;
    }
    free(s.row);
    free(s.cost);
    return rc;
}
