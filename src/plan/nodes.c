/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains to nodes, or to ranks, by linear assignment over short lists of each domain's cheapest
 * nodes.
 *
 * A node with capacity c is one row, which c domains can have at the cost of its best rank, or c
 * rows for each domain: the ranks that access most of it. A domain's list holds all nodes that cost
 * less than its bound. The list was long enough if the dual of the domain is not above the bound,
 * or if no row of a node outside the list costs less than the sum of the duals. Otherwise it grows,
 * and the problem is solved again.
 *
 * Where rows are ranks, the duals of the first problem exclude nodes: an assignment that uses a
 * pair costs at least their total and what the pair costs above the sum of both duals. */
#include "plan/best.h"
#include "plan/steps.h"

#include "base/heap.h"
#include "base/memory.h"
#include "lap/transport.h"

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
    double cost;         /* with the best rank */
    size_t turn;         /* breaks ties; rotated by domain, so that ties spread over the nodes */
    size_t entry, class; /* of the sums; NONE: it is a class */
};

static inline bool candidate_precedes(const struct candidate *x, const struct candidate *y)
{
    return x->cost < y->cost || (x->cost == y->cost && x->turn < y->turn);
}

#define CANDIDATE_PRECEDES(order, a, b) ((void)(order), candidate_precedes(&(a), &(b)))
BASE_HEAP(candidate_heap, struct candidate, const void *, CANDIDATE_PRECEDES, BASE_HEAP_UNPLACED);

struct listed {
    size_t node, entry;
    double cost;
};

struct node_search {
    struct costs *costs;
    const size_t *rows_for_domain; /* of each node */
    size_t *first_row;             /* of each node; nodes + 1 */
    size_t *node_of_row;           /* one row more than there are: `nodes` */

    const size_t *capacity; /* of each row, where rows are nodes; else NULL and: */
    const lap_solver *solver;
    size_t most_on_node; /* domains on the rows of a node */
    struct best best;
    const struct node_proof *proof; /* of the problem whose rows are nodes */
    double spare;                   /* what an assignment may cost above its total */

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

    double *col_dual, *row_dual, *group_dual;
    double *class_dual; /* maximum over the nodes of the class */
    size_t *row_of_domain;
};

/* ---- the rows of a node for a domain, ascending ---- */

struct row_walk {
    size_t next;
    const struct best_rank *best, *best_end;
    size_t others; /* number of rows that access none of the domain */
};

/* entry: NONE where the node accesses none of the domain. */
static struct row_walk begin_rows(const struct node_search *s, size_t n, size_t entry)
{
    struct row_walk walk = {.next = s->first_row[n], .others = s->rows_for_domain[n]};
    if (s->best.start != NULL && entry != NONE) {
        walk.best = s->best.rank + s->best.start[entry];
        walk.best_end = s->best.rank + s->best.start[entry + 1];
        walk.others -= (size_t)(walk.best_end - walk.best);
    }
    return walk;
}

/* The next row, or NONE, and the bytes of the domain that it accesses. */
static size_t next_row(struct row_walk *walk, double *bytes)
{
    *bytes = 0.0;
    if (walk->best != walk->best_end && (walk->others == 0 || walk->best->place == walk->next)) {
        *bytes = walk->best->bytes;
        walk->next = walk->best->place + 1;
        return walk->best++->place;
    }
    if (walk->others == 0)
        return NONE;
    walk->others--;
    return walk->next++;
}

/* The cost of a row above that of the best rank. */
static double extra_cost(const struct node_search *s, size_t entry, double bytes)
{
    bool is_rank = s->best.start != NULL && entry != NONE;
    return is_rank ? s->costs->own * (s->costs->sums.most[entry] - bytes) : 0.0;
}

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

/* Whether no assignment that is better than the known one has domain j on a node, or on any one
 * where that costs as much: duals of nodes are at most 0. */
static bool is_excluded(const struct node_search *s, size_t j, size_t node, double cost)
{
    const struct node_proof *proof = s->proof;
    return proof != NULL && cost - proof->domain_dual[j] - proof->node_dual[node] > s->spare;
}

static bool is_excluded_anywhere(const struct node_search *s, size_t j, double cost)
{
    return s->proof != NULL && cost - s->proof->domain_dual[j] > s->spare;
}

static void add_nodes(struct node_search *s, size_t j)
{
    const struct sums *sums = &s->costs->sums;
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++) {
        size_t n = sums->node[e];
        s->met[n] = j + 1;
        s->met_in_class[s->costs->classes.of_node[n]]++;
        double cost = cost_of_entry(s->costs, s->at_class, e);
        if (s->rows_for_domain[n] > 0 && !is_excluded(s, j, n, cost))
            s->heap[s->candidates++] = (struct candidate){cost, turn_of(s, j, n), e, NONE};
    }
}

static void add_classes(struct node_search *s, size_t j)
{
    const struct groups *classes = &s->costs->classes.nodes;
    for (size_t p = 0; p < classes->count; p++) {
        size_t first = classes->start[p], size = group_size(classes, p);
        if (size > s->met_in_class[p] && !is_excluded_anywhere(s, j, s->at_class[p])) {
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

struct list {
    size_t nodes, rows;
};

static void append_node(struct node_search *s, struct list *list, struct listed node)
{
    s->listed[list->nodes++] = node;
    list->rows += s->rows_for_domain[node.node];
}

/* Of the nodes of a class those that access none of domain j. */
static bool is_of_class(const struct node_search *s, size_t j, size_t n, double cost)
{
    return s->met[n] != j + 1 && s->rows_for_domain[n] > 0 && !is_excluded(s, j, n, cost);
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
        if (!is_of_class(s, j, n, s->at_class[p]))
            continue;
        if (list->nodes >= s->quota[j])
            return false;
        append_node(s, list, (struct listed){n, NONE, s->at_class[p]});
    }
    return true;
}

static struct list list_cheapest(struct node_search *s, size_t j)
{
    struct list list = {0, 0};
    s->bound[j] = INFINITY;
    while (s->candidates > 0) {
        struct candidate next = pop_candidate(s);
        bool whole = list.nodes < s->quota[j];
        if (whole && next.entry != NONE)
            append_node(s, &list,
                        (struct listed){s->costs->sums.node[next.entry], next.entry, next.cost});
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

static void append_rows(struct node_search *s, const struct listed *node)
{
    struct row_walk walk = begin_rows(s, node->node, node->entry);
    double bytes;
    for (size_t row; (row = next_row(&walk, &bytes)) != NONE;) {
        s->row[s->used] = row;
        s->cost[s->used++] = node->cost + extra_cost(s, node->entry, bytes);
    }
}

/* Appends the rows of the listed nodes, ascending, as the pairs of a column. */
static int add_column(struct node_search *s, size_t j)
{
    find_candidates(s, j);
    struct list list = list_cheapest(s, j);
    int rc = base_reserve(&s->row, &s->row_capacity, s->used + list.rows, sizeof *s->row);
    if (rc == 0)
        rc = base_reserve(&s->cost, &s->cost_capacity, s->used + list.rows, sizeof *s->cost);
    if (rc != 0)
        return rc;
    qsort(s->listed, list.nodes, sizeof *s->listed, compare_listed);
    for (size_t k = 0; k < list.nodes; k++)
        append_rows(s, &s->listed[k]);
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

/* The least cost of a node's rows less their duals; `cost` is that of the best rank. */
static double reduced_cost(const struct node_search *s, size_t n, size_t entry, double cost)
{
    struct row_walk walk = begin_rows(s, n, entry);
    double least = INFINITY, bytes;
    for (size_t row; (row = next_row(&walk, &bytes)) != NONE;)
        least = fmin(least, cost + extra_cost(s, entry, bytes) - s->row_dual[row]);
    return least - s->group_dual[n];
}

static void find_class_duals(struct node_search *s)
{
    const struct groups *classes = &s->costs->classes.nodes;
    for (size_t p = 0; p < classes->count; p++) {
        s->class_dual[p] = -INFINITY;
        for (size_t k = classes->start[p]; k < classes->start[p + 1]; k++) {
            double reduced = reduced_cost(s, classes->item[k], NONE, 0.0);
            s->class_dual[p] = fmax(s->class_dual[p], -reduced);
        }
    }
}

static bool is_class_proved(const struct node_search *s, size_t j, size_t p, double least)
{
    const struct groups *classes = &s->costs->classes.nodes;
    double cost = s->at_class[p];
    if (cost - s->class_dual[p] >= least)
        return true;
    for (size_t k = classes->start[p]; k < classes->start[p + 1]; k++) {
        size_t n = classes->item[k];
        if (is_of_class(s, j, n, cost) && reduced_cost(s, n, NONE, cost) < least)
            return false;
    }
    return true;
}

/* Whether no node, listed or not, is cheaper than the duals allow. Those of rows and nodes are at
 * most 0. */
static bool is_proved(struct node_search *s, size_t j)
{
    double least = s->col_dual[j] - 8.0 * DBL_EPSILON * fabs(s->col_dual[j]);
    bool proved = true;
    if (s->bound[j] >= least)
        return true;
    find_candidates(s, j);
    for (size_t k = 0; k < s->candidates && proved; k++) {
        const struct candidate *c = &s->heap[k];
        size_t n = c->entry != NONE ? s->costs->sums.node[c->entry] : NONE;
        proved = n != NONE ? reduced_cost(s, n, c->entry, c->cost) >= least
                           : is_class_proved(s, j, c->class, least);
    }
    return proved;
}

/* Raises the quotas of lists that were too short. Returns their number. */
static size_t raise_quotas(struct node_search *s, bool feasible)
{
    size_t raised = 0, most = s->costs->sums.nodes;
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

static int solve_for_ranks(const struct node_search *s, lap_problem problem, lap_solution *solution)
{
    /* One row more, without pairs: then duals of rows are at most 0, and 0 for a free row. */
    problem.rows++;
    problem.group = s->most_on_node > 0 ? s->node_of_row : NULL;
    problem.groups = s->costs->sums.nodes + 1;
    problem.group_capacity = s->most_on_node;
    return s->solver->solve(&problem, solution);
}

static int solve_lists(struct node_search *s, double *total)
{
    lap_problem problem = {
        .rows = s->first_row[s->costs->sums.nodes],
        .cols = s->costs->sums.domains,
        .cost = s->cost,
        .start = s->start,
        .row = s->row,
    };
    lap_solution solution = {
        .row_of_col = s->row_of_domain,
        .col_dual = s->col_dual,
        .row_dual = s->row_dual,
        .group_dual = s->group_dual,
    };
    int rc = s->capacity != NULL ? lap_transport(&problem, s->capacity, &solution)
                                 : solve_for_ranks(s, problem, &solution);
    *total = solution.total;
    return rc;
}

static int search_nodes(struct node_search *s, double *total)
{
    int rc = 0;
    do {
        rc = build_lists(s);
        if (rc == 0)
            rc = solve_lists(s, total);
        if (rc < 0)
            return rc;
    } while (raise_quotas(s, rc == 0) > 0);
    return rc == LAP_INFEASIBLE ? -EINVAL : 0;
}

static int node_search_allocate(struct node_search *s)
{
    struct base_arena *arena = &s->costs->arena;
    size_t nodes = s->costs->sums.nodes, domains = s->costs->sums.domains;
    size_t classes = s->costs->classes.count, rows = s->first_row[nodes];
    s->node_of_row = base_arena_alloc(arena, rows + 1, sizeof *s->node_of_row);
    s->met = base_arena_alloc(arena, nodes, sizeof *s->met);
    s->met_in_class = base_arena_alloc(arena, classes, sizeof *s->met_in_class);
    s->heap = base_arena_alloc(arena, nodes + classes, sizeof *s->heap);
    s->quota = base_arena_alloc(arena, domains, sizeof *s->quota);
    s->bound = base_arena_alloc(arena, domains, sizeof *s->bound);
    s->listed = base_arena_alloc(arena, nodes, sizeof *s->listed);
    s->start = base_arena_alloc(arena, domains + 1, sizeof *s->start);
    s->col_dual = base_arena_alloc(arena, domains, sizeof *s->col_dual);
    s->row_dual = base_arena_alloc(arena, rows + 1, sizeof *s->row_dual);
    s->group_dual = base_arena_alloc(arena, nodes + 1, sizeof *s->group_dual);
    s->class_dual = base_arena_alloc(arena, classes, sizeof *s->class_dual);
    s->row_of_domain = base_arena_alloc(arena, domains, sizeof *s->row_of_domain);
    return arena->failed ? -ENOMEM : 0;
}

/* first_row is set. */
static int node_search_run(struct node_search *s, double *total)
{
    size_t nodes = s->costs->sums.nodes, domains = s->costs->sums.domains;
    int rc = node_search_allocate(s);
    if (rc != 0)
        return rc;
    for (size_t j = 0; j < domains; j++)
        s->quota[j] = s->proof != NULL ? s->proof->quota[j] : FIRST_QUOTA;
    for (size_t n = 0; n < nodes; n++)
        for (size_t row = s->first_row[n]; row < s->first_row[n + 1]; row++)
            s->node_of_row[row] = n;
    s->node_of_row[s->first_row[nodes]] = nodes;
    rc = search_nodes(s, total);
    free(s->row);
    free(s->cost);
    return rc;
}

/* A node with capacity is a row. Their capacity in all. */
static size_t number_nodes(const struct costs *costs, size_t *first_row, size_t *rows_for_domain,
                           size_t *capacity)
{
    size_t sum = 0;
    for (size_t n = 0; n < costs->sums.nodes; n++) {
        rows_for_domain[n] = costs->capacity[n] > 0;
        if (rows_for_domain[n] > 0)
            capacity[first_row[n]] = costs->capacity[n];
        first_row[n + 1] = first_row[n] + rows_for_domain[n];
        sum += costs->capacity[n];
    }
    return sum;
}

int choose_nodes(struct costs *costs, size_t *node_of_domain, struct node_proof *proof)
{
    size_t nodes = costs->sums.nodes;
    double total;
    double *node_dual = base_arena_alloc(&costs->arena, nodes, sizeof *node_dual);
    size_t *rows_for_domain = base_arena_alloc(&costs->arena, nodes, sizeof *rows_for_domain);
    size_t *capacity = base_arena_alloc(&costs->arena, nodes, sizeof *capacity);
    size_t *first_row = base_arena_alloc(&costs->arena, nodes + 1, sizeof *first_row);
    if (costs->arena.failed)
        return -ENOMEM;
    if (number_nodes(costs, first_row, rows_for_domain, capacity) < costs->sums.domains)
        return -EINVAL;
    struct node_search s = {
        .costs = costs,
        .rows_for_domain = rows_for_domain,
        .first_row = first_row,
        .capacity = capacity,
    };
    int rc = node_search_run(&s, &total);
    if (rc != 0)
        return rc;
    for (size_t j = 0; j < costs->sums.domains; j++)
        node_of_domain[j] = s.node_of_row[s.row_of_domain[j]];
    for (size_t n = 0; n < nodes; n++)
        node_dual[n] = rows_for_domain[n] > 0 ? s.row_dual[first_row[n]] : 0.0;
    *proof = (struct node_proof){total, s.col_dual, node_dual, s.quota};
    return 0;
}

/* Of the sum of a cost and duals, as a part of their largest one. */
static const double rounding = 1e-12;

static double spare_cost(const struct costs *costs, const struct node_proof *proof, double known)
{
    double largest = 0.0;
    for (size_t j = 0; j < costs->sums.domains; j++)
        largest = fmax(largest, fabs(proof->domain_dual[j]));
    return known - proof->total + rounding * largest;
}

static int find_best_of_nodes(struct node_search *s, const matrix *requests)
{
    const struct sums *sums = &s->costs->sums;
    bool *wanted = base_arena_alloc(&s->costs->arena, sums->start[sums->domains], sizeof *wanted);
    if (wanted == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < sums->domains; j++) {
        const double *at_class = costs_at_classes(s->costs, j);
        for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++) {
            double cost = cost_of_entry(s->costs, at_class, e);
            wanted[e] = !is_excluded(s, j, sums->node[e], cost);
        }
    }
    return find_best(s->costs, requests, wanted, &s->best);
}

int choose_ranks(struct costs *costs, const plan_input *in, const lap_solver *solver,
                 const struct node_proof *proof, double known, size_t *rank_of_domain,
                 double *total)
{
    struct node_search s = {
        .costs = costs,
        .rows_for_domain = costs->capacity,
        .first_row = costs->ranks.start,
        .solver = solver,
        .most_on_node = in->per_node,
        .proof = proof,
        .spare = spare_cost(costs, proof, known),
    };
    double sum = 0.0;
    int rc = find_best_of_nodes(&s, plan_savings(in));
    if (rc == 0)
        rc = node_search_run(&s, &sum);
    if (rc != 0)
        return rc;
    for (size_t j = 0; j < costs->sums.domains; j++)
        rank_of_domain[j] = costs->ranks.item[s.row_of_domain[j]];
    *total = sum;
    return 0;
}
