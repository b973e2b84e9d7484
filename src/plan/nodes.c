/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains to nodes by linear assignment, over short lists of each domain's cheapest nodes.
 *
 * A domain's list holds all nodes that cost less than its bound. Where the dual of the domain is
 * not above the bound, or no node outside the list costs less than the sum of both duals, the
 * list was long enough; the lists of the other domains grow, and the problem is solved again. */
#include "plan/nodes.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Seats in a list at first, and by how much lists grow. */
enum { FIRST_QUOTA = 24, GROWTH = 4 };

/* A node with bytes of the domain, or a class with nodes that have none. */
struct candidate {
    double cost;
    size_t turn; /* among equal ones; starts elsewhere for each domain */
    size_t node, class;
};

struct listed {
    size_t node;
    double cost;
};

struct search {
    const struct costs *costs;
    const size_t *seats;
    size_t *first_seat; /* nodes + 1 */
    size_t *node_of_seat;

    const double *at_class; /* of the domain at hand */
    size_t *met;            /* 1 + the domain for which a node was last a candidate of its own */
    size_t *met_in_class;   /* such nodes in the class */
    struct candidate *heap;
    size_t candidates;

    size_t *quota;         /* of each domain, in seats */
    double *bound;         /* what nodes outside the list cost at least */
    struct listed *listed; /* scratch: one list */
    size_t *start;         /* the sparse problem */
    size_t *row;
    double *cost;
    size_t used, room;

    double *col_dual, *row_dual;
    double *class_dual; /* the greatest of the class's nodes */
    size_t *seat_of_domain;
};

/* ---- candidates, cheapest first ---- */

static bool before(const struct candidate *x, const struct candidate *y)
{
    return x->cost < y->cost || (x->cost == y->cost && x->turn < y->turn);
}

static void sift_down(struct candidate *heap, size_t count, size_t k)
{
    struct candidate moving = heap[k];
    for (size_t child = 2 * k + 1; child < count; child = 2 * k + 1) {
        child += child + 1 < count && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &moving))
            break;
        heap[k] = heap[child];
        k = child;
    }
    heap[k] = moving;
}

static struct candidate pop(struct search *s)
{
    struct candidate cheapest = s->heap[0];
    s->heap[0] = s->heap[--s->candidates];
    if (s->candidates > 0)
        sift_down(s->heap, s->candidates, 0);
    return cheapest;
}

/* Where domain j begins among `count` equal ones. */
static size_t first_turn(const struct search *s, size_t j, size_t count)
{
    return (size_t)((double)j / (double)s->costs->sums->domains * (double)count);
}

static size_t turn_of(const struct search *s, size_t j, size_t node)
{
    size_t nodes = s->costs->sums->nodes, first = first_turn(s, j, nodes);
    return node >= first ? node - first : node + nodes - first;
}

static void add_nodes(struct search *s, size_t j)
{
    const struct sums *sums = s->costs->sums;
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++) {
        size_t n = sums->node[e];
        s->met[n] = j + 1;
        s->met_in_class[s->costs->classes->of_node[n]]++;
        if (s->seats[n] > 0) {
            double cost = cost_of_entry(s->costs, s->at_class, e);
            s->heap[s->candidates++] = (struct candidate){cost, turn_of(s, j, n), n, SIZE_MAX};
        }
    }
}

static void add_classes(struct search *s, size_t j)
{
    const struct classes *classes = s->costs->classes;
    for (size_t p = 0; p < classes->count; p++) {
        size_t first = classes->start[p], size = classes->start[p + 1] - first;
        if (size > s->met_in_class[p]) {
            size_t turn = turn_of(s, j, classes->member[first]);
            s->heap[s->candidates++] = (struct candidate){s->at_class[p], turn, SIZE_MAX, p};
        }
        s->met_in_class[p] = 0;
    }
}

static void find_candidates(struct search *s, size_t j)
{
    s->candidates = 0;
    s->at_class = costs_at_classes(s->costs, j);
    add_nodes(s, j);
    add_classes(s, j);
    for (size_t k = s->candidates / 2; k-- > 0;)
        sift_down(s->heap, s->candidates, k);
}

/* ---- lists ---- */

struct list {
    size_t nodes, seats;
};

static void take_node(struct search *s, struct list *list, size_t n, double cost)
{
    s->listed[list->nodes++] = (struct listed){n, cost};
    list->seats += s->seats[n];
}

/* Nodes of a class that have none of the domain, up to the quota. True when all are in. */
static bool append_class(struct search *s, struct list *list, size_t j, size_t p)
{
    const struct classes *classes = s->costs->classes;
    const size_t *member = classes->member + classes->start[p];
    size_t size = classes->start[p + 1] - classes->start[p], first = first_turn(s, j, size);
    for (size_t k = 0; k < size; k++) {
        size_t n = member[first + k < size ? first + k : first + k - size];
        if (s->met[n] == j + 1 || s->seats[n] == 0)
            continue;
        if (list->seats >= s->quota[j])
            return false;
        take_node(s, list, n, s->at_class[p]);
    }
    return true;
}

static struct list choose_list(struct search *s, size_t j)
{
    struct list list = {0, 0};
    s->bound[j] = INFINITY;
    while (s->candidates > 0) {
        struct candidate next = pop(s);
        bool whole = list.seats < s->quota[j];
        if (whole && next.node != SIZE_MAX)
            take_node(s, &list, next.node, next.cost);
        else if (whole)
            whole = append_class(s, &list, j, next.class);
        if (!whole) {
            s->bound[j] = next.cost;
            break;
        }
    }
    return list;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

static int reserve(struct search *s, size_t more)
{
    size_t room = s->room > 0 ? s->room : 1024, bytes;
    while (room - s->used < more)
        if (__builtin_mul_overflow(room, 2, &room) ||
            __builtin_mul_overflow(room, sizeof *s->cost, &bytes))
            return -ENOMEM;
    if (room == s->room)
        return 0;
    double *cost = realloc(s->cost, room * sizeof *cost);
    s->cost = cost != NULL ? cost : s->cost;
    size_t *row = realloc(s->row, room * sizeof *row);
    s->row = row != NULL ? row : s->row;
    if (cost == NULL || row == NULL)
        return -ENOMEM;
    s->room = room;
    return 0;
}

/* The seats of the listed nodes, ascending, as the pairs of a column. */
static int add_column(struct search *s, size_t j)
{
    find_candidates(s, j);
    struct list list = choose_list(s, j);
    int rc = reserve(s, list.seats);
    if (rc != 0)
        return rc;
    qsort(s->listed, list.nodes, sizeof *s->listed, compare_nodes);
    for (size_t k = 0; k < list.nodes; k++) {
        size_t n = s->listed[k].node;
        for (size_t seat = s->first_seat[n]; seat < s->first_seat[n + 1]; seat++) {
            s->row[s->used] = seat;
            s->cost[s->used++] = s->listed[k].cost;
        }
    }
    s->start[j + 1] = s->used;
    return 0;
}

static int build_lists(struct search *s)
{
    int rc = 0;
    s->used = 0;
    memset(s->met, 0, s->costs->sums->nodes * sizeof *s->met);
    for (size_t j = 0; j < s->costs->sums->domains && rc == 0; j++)
        rc = add_column(s, j);
    return rc;
}

/* ---- proof ---- */

static void find_class_duals(struct search *s)
{
    const struct classes *classes = s->costs->classes;
    for (size_t p = 0; p < classes->count; p++) {
        s->class_dual[p] = -INFINITY;
        for (size_t k = classes->start[p]; k < classes->start[p + 1]; k++) {
            size_t n = classes->member[k];
            if (s->seats[n] > 0)
                s->class_dual[p] = fmax(s->class_dual[p], s->row_dual[s->first_seat[n]]);
        }
    }
}

/* No node, in the list or not, is cheaper than the duals say. Duals of nodes are at most 0. All
 * seats of a node have one dual, since whoever has one of them would take the cheapest. */
static bool is_proved(struct search *s, size_t j)
{
    double least = s->col_dual[j] - 8.0 * DBL_EPSILON * fabs(s->col_dual[j]);
    if (s->bound[j] >= least)
        return true;
    find_candidates(s, j);
    for (size_t k = 0; k < s->candidates; k++) {
        const struct candidate *c = &s->heap[k];
        double dual =
            c->node != SIZE_MAX ? s->row_dual[s->first_seat[c->node]] : s->class_dual[c->class];
        if (c->cost - dual < least)
            return false;
    }
    return true;
}

static void grow(struct search *s, size_t j)
{
    size_t most = s->first_seat[s->costs->sums->nodes];
    s->quota[j] = s->quota[j] < most / GROWTH ? s->quota[j] * GROWTH : most;
}

/* Lets lists grow that were too short. Returns how many. */
static size_t lengthen(struct search *s, bool feasible)
{
    size_t grown = 0;
    memset(s->met, 0, s->costs->sums->nodes * sizeof *s->met);
    if (feasible)
        find_class_duals(s);
    for (size_t j = 0; j < s->costs->sums->domains; j++) {
        if (s->bound[j] < (double)INFINITY && (!feasible || !is_proved(s, j))) {
            grow(s, j);
            grown++;
        }
    }
    return grown;
}

/* ---- the whole ---- */

static int solve(struct search *s, const lap_solver *solver, double *total)
{
    /* One row more than seats, without pairs: then duals of rows are at most 0 and a free seat's is
     * 0. */
    lap_problem problem = {
        .rows = s->first_seat[s->costs->sums->nodes] + 1,
        .cols = s->costs->sums->domains,
        .cost = s->cost,
        .start = s->start,
        .row = s->row,
    };
    lap_solution solution = {
        .row_of_col = s->seat_of_domain,
        .col_dual = s->col_dual,
        .row_dual = s->row_dual,
    };
    int rc = solver->solve(&problem, &solution);
    *total = solution.total;
    return rc;
}

static int search(struct search *s, const lap_solver *solver, double *total)
{
    int rc = 0;
    size_t grown = 1;
    while (grown > 0) {
        rc = build_lists(s);
        if (rc == 0)
            rc = solve(s, solver, total);
        if (rc < 0)
            return rc;
        grown = lengthen(s, rc == 0);
    }
    return rc == LAP_INFEASIBLE ? -EINVAL : 0;
}

static void release(struct search *s)
{
    free(s->first_seat);
    free(s->node_of_seat);
    free(s->met);
    free(s->met_in_class);
    free(s->heap);
    free(s->quota);
    free(s->bound);
    free(s->listed);
    free(s->start);
    free(s->row);
    free(s->cost);
    free(s->col_dual);
    free(s->row_dual);
    free(s->class_dual);
    free(s->seat_of_domain);
}

static int allocate(struct search *s, size_t seats)
{
    size_t nodes = s->costs->sums->nodes, domains = s->costs->sums->domains;
    size_t classes = s->costs->classes->count;
    s->node_of_seat = calloc(seats | 1, sizeof *s->node_of_seat);
    s->met = calloc(nodes | 1, sizeof *s->met);
    s->met_in_class = calloc(classes | 1, sizeof *s->met_in_class);
    s->heap = calloc((nodes + classes) | 1, sizeof *s->heap);
    s->quota = calloc(domains | 1, sizeof *s->quota);
    s->bound = calloc(domains | 1, sizeof *s->bound);
    s->listed = calloc(nodes | 1, sizeof *s->listed);
    s->start = calloc(domains + 1, sizeof *s->start);
    s->col_dual = calloc(domains | 1, sizeof *s->col_dual);
    s->row_dual = calloc(seats + 1, sizeof *s->row_dual);
    s->class_dual = calloc(classes | 1, sizeof *s->class_dual);
    s->seat_of_domain = calloc(domains | 1, sizeof *s->seat_of_domain);
    bool complete = s->node_of_seat != NULL && s->met != NULL && s->met_in_class != NULL &&
                    s->heap != NULL && s->quota != NULL && s->bound != NULL && s->listed != NULL &&
                    s->start != NULL && s->col_dual != NULL && s->row_dual != NULL &&
                    s->class_dual != NULL && s->seat_of_domain != NULL;
    return complete ? 0 : -ENOMEM;
}

static int number_seats(struct search *s)
{
    size_t nodes = s->costs->sums->nodes, *first;
    s->first_seat = first = calloc(nodes + 1, sizeof *first);
    if (first == NULL)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        first[n + 1] = first[n] + s->seats[n];
    return first[nodes] < s->costs->sums->domains ? -EINVAL : 0;
}

static void set_up(struct search *s)
{
    for (size_t j = 0; j < s->costs->sums->domains; j++)
        s->quota[j] = FIRST_QUOTA;
    for (size_t n = 0; n < s->costs->sums->nodes; n++)
        for (size_t seat = s->first_seat[n]; seat < s->first_seat[n + 1]; seat++)
            s->node_of_seat[seat] = n;
}

int choose_nodes(const struct costs *costs, const size_t *seats, const lap_solver *solver,
                 size_t *node_of_domain, double *total)
{
    struct search s = {.costs = costs, .seats = seats};
    double sum = 0.0;
    int rc = number_seats(&s);
    if (rc == 0)
        rc = allocate(&s, s.first_seat[costs->sums->nodes]);
    if (rc == 0) {
        set_up(&s);
        rc = search(&s, solver, &sum);
    }
    if (rc == 0) {
        for (size_t j = 0; j < costs->sums->domains; j++)
            node_of_domain[j] = s.node_of_seat[s.seat_of_domain[j]];
        *total = sum;
    }
    release(&s);
    return rc;
}
