/* SPDX-License-Identifier: BSD-3-Clause */
/* The solvers for one type of costs: compiled by itself for real ones, and by integer.c, which
 * defines LAP_INTEGER, for integers. See doc/lap.md. */
#include "lap/lap.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/heap.h"

/* COST_MAX is the cost of a pair that is not allowed; COST_MIN is below all costs and lengths. */
#ifdef LAP_INTEGER
typedef int64_t cost_t;
#define COST_MAX INT64_MAX
#define COST_MIN INT64_MIN
#define TYPED(name) lap_##name##_integer
#else
typedef double cost_t;
#define COST_MAX ((double)INFINITY)
#define COST_MIN (-(double)INFINITY)
#define TYPED(name) lap_##name##_real
#endif

#define NONE SIZE_MAX

/* The problem in one form, in which n persons each need one of m >= n objects, the partial
 * assignment and its duals. Persons are the columns or, with cols > rows, the rows. */
struct state {
    const lap_problem *problem;
    size_t persons, objects;
    bool transposed; /* persons are rows */

    /* Dense: cost[person * objects + object]. Sparse: start is not NULL, and the entries of a
     * person are start[person] .. start[person + 1] - 1, objects ascending. */
    const cost_t *cost;
    const size_t *start, *entry_object;

    /* The partial assignment; NONE: not assigned. */
    size_t *object_of, *person_of;
    cost_t *paid; /* by assigned object: the cost of its pair */

    /* An object's dual never rises. It is 0 until it is assigned, or has any sign when every object
     * will be assigned (persons = objects). */
    cost_t *dual;

    /* The alternating tree of one search: from an unassigned person over objects to the persons
     * that have them. It ends at a free object. */
    size_t *from;  /* by object: the person that reached it */
    size_t *order; /* assigned objects, in the order in which they joined */
    cost_t *joined_at;
    size_t joined; /* 0: the tree is empty */

    /* The search. */
    cost_t *dist;  /* by object; COST_MAX: not reached; COST_MIN: in the tree */
    size_t *queue; /* objects that are reached, but not free and not in the tree */
    size_t *place; /* by object in the queue, if that is a heap: its index there; else NULL */
    size_t queued;
    size_t *reached, reaches; /* all objects that were reached */
    size_t nearest;           /* free object */
    cost_t limit;             /* its distance; COST_MAX: none is reached */

    size_t *next;            /* by person: for exchange */
    struct base_arena arena; /* of all arrays */
};

/* A person's pairs: `count` consecutive costs, for objects 0, 1, ... where object is NULL. */
struct pairs {
    const cost_t *cost;
    const size_t *object;
    size_t count;
};

static inline struct pairs pairs_of(const struct state *s, size_t person)
{
    if (s->start == NULL)
        return (struct pairs){s->cost + person * s->objects, NULL, s->objects};
    size_t first = s->start[person];
    return (struct pairs){s->cost + first, s->entry_object + first, s->start[person + 1] - first};
}

static inline size_t object_at(const struct pairs *pairs, size_t k)
{
    return pairs->object != NULL ? pairs->object[k] : k;
}

static inline bool is_free(const struct state *s, size_t object)
{
    return s->person_of[object] == NONE;
}

/* The dual of the person to whom the object is assigned. */
static inline cost_t person_dual(const struct state *s, size_t object)
{
    return s->paid[object] - s->dual[object];
}

/* ---- costs ---- */

static const cost_t *costs_of(const lap_problem *problem)
{
#ifdef LAP_INTEGER
    return problem->integer_cost;
#else
    return problem->cost;
#endif
}

/* Strips fit the cache, so that neither side is accessed with large strides. */
static int transpose_dense_costs(struct state *s)
{
    enum { WIDTH = 32 };
    const cost_t *cost = costs_of(s->problem);
    size_t rows = s->persons, cols = s->objects;
    cost_t *copy = base_arena_alloc(&s->arena, rows, cols * sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < cols; j += WIDTH) {
        size_t end = cols - j < WIDTH ? cols : j + WIDTH;
        for (size_t i = 0; i < rows; i++)
            for (size_t k = j; k < end; k++)
                copy[i * cols + k] = cost[k * rows + i];
    }
    s->cost = copy;
    return 0;
}

static int transpose_sparse_costs(struct state *s)
{
    const lap_problem *problem = s->problem;
    const cost_t *cost = costs_of(problem);
    size_t entries = problem->start[problem->cols];
    size_t *start = base_arena_alloc(&s->arena, problem->rows + 2, sizeof *start);
    size_t *col = base_arena_alloc(&s->arena, entries, sizeof *col);
    cost_t *copy = base_arena_alloc(&s->arena, entries, sizeof *copy);
    if (s->arena.failed)
        return -ENOMEM;
    /* start[i + 1]: where the next entry of row i goes; finally the end of row i. */
    for (size_t k = 0; k < entries; k++)
        start[problem->row[k] + 2]++;
    for (size_t i = 1; i <= problem->rows; i++)
        start[i + 1] += start[i];
    for (size_t j = 0; j < problem->cols; j++) {
        for (size_t k = problem->start[j]; k < problem->start[j + 1]; k++) {
            size_t place = start[problem->row[k] + 1]++;
            col[place] = j;
            copy[place] = cost[k];
        }
    }
    s->cost = copy;
    s->start = start;
    s->entry_object = col;
    return 0;
}

static int init_costs(struct state *s)
{
    const lap_problem *problem = s->problem;
    s->transposed = problem->cols > problem->rows;
    s->persons = s->transposed ? problem->rows : problem->cols;
    s->objects = s->transposed ? problem->cols : problem->rows;
    if (s->transposed)
        return problem->start != NULL ? transpose_sparse_costs(s) : transpose_dense_costs(s);
    s->cost = costs_of(problem);
    s->start = problem->start;
    s->entry_object = problem->row;
    return 0;
}

/* ---- the assignment ---- */

static int init_arrays(struct state *s)
{
    struct base_arena *arena = &s->arena;
    s->object_of = base_arena_alloc(arena, s->persons, sizeof *s->object_of);
    s->next = base_arena_alloc(arena, s->persons, sizeof *s->next);
    s->person_of = base_arena_alloc(arena, s->objects, sizeof *s->person_of);
    s->paid = base_arena_alloc(arena, s->objects, sizeof *s->paid);
    s->dual = base_arena_alloc(arena, s->objects, sizeof *s->dual);
    s->from = base_arena_alloc(arena, s->objects, sizeof *s->from);
    s->order = base_arena_alloc(arena, s->objects, sizeof *s->order);
    s->joined_at = base_arena_alloc(arena, s->objects, sizeof *s->joined_at);
    s->dist = base_arena_alloc(arena, s->objects, sizeof *s->dist);
    s->queue = base_arena_alloc(arena, s->objects, sizeof *s->queue);
    s->place = base_arena_alloc(arena, s->objects, sizeof *s->place);
    s->reached = base_arena_alloc(arena, s->objects, sizeof *s->reached);
    if (arena->failed)
        return -ENOMEM;
    for (size_t j = 0; j < s->persons; j++)
        s->object_of[j] = NONE;
    for (size_t i = 0; i < s->objects; i++) {
        s->person_of[i] = NONE;
        s->dist[i] = COST_MAX;
    }
    return 0;
}

static cost_t pair_cost(const struct state *s, size_t person, size_t object)
{
    struct pairs pairs = pairs_of(s, person);
    if (pairs.object == NULL)
        return pairs.cost[object];
    size_t low = 0;
    for (size_t count = pairs.count; count > 1; count -= count / 2)
        low += pairs.object[low + count / 2] <= object ? count / 2 : 0;
    return pairs.cost[low];
}

/* Assigns an object that is free, or whose person gets another one; the pair is allowed. */
static void assign(struct state *s, size_t person, size_t object)
{
    s->object_of[person] = object;
    s->person_of[object] = person;
    s->paid[object] = pair_cost(s, person, object);
}

/* ---- the tree ---- */

/* An assigned object joins at this distance from the root. */
static inline void tree_join(struct state *s, size_t object, cost_t at)
{
    s->order[s->joined++] = object;
    s->joined_at[object] = at;
}

/* The duals of all that joined below this distance fall by the difference. */
static void tree_lower_duals(struct state *s, cost_t distance)
{
    for (size_t k = 0; k < s->joined; k++)
        s->dual[s->order[k]] -= distance - s->joined_at[s->order[k]];
}

/* Assigns every person on the path to the free object the object that it reached. */
static void tree_flip(struct state *s, size_t object)
{
    for (size_t left; object != NONE; object = left) {
        size_t person = s->from[object];
        left = s->object_of[person];
        assign(s, person, object);
    }
}

/* ---- column reduction ---- */

/* The person of the least cost is kept in person_of. */
static void find_least_costs(struct state *s)
{
    for (size_t i = 0; i < s->objects; i++)
        s->dual[i] = COST_MAX;
    for (size_t j = 0; j < s->persons; j++) {
        struct pairs pairs = pairs_of(s, j);
        for (size_t k = 0; k < pairs.count; k++) {
            size_t object = object_at(&pairs, k);
            if (pairs.cost[k] < s->dual[object]) {
                s->dual[object] = pairs.cost[k];
                s->person_of[object] = j;
            }
        }
    }
}

/* Each object's dual becomes its least cost, and from the last object to the first it is assigned
 * to the person of that cost, unless that person has one. Does nothing where objects stay free. */
static void column_reduction(struct state *s)
{
    if (s->persons < s->objects)
        return;
    find_least_costs(s);
    for (size_t i = s->objects; i-- > 0;) {
        size_t person = s->person_of[i];
        s->person_of[i] = NONE;
        if (person == NONE)
            s->dual[i] = 0;
        else if (s->object_of[person] == NONE)
            assign(s, person, i);
    }
}

/* ---- reduction transfer and augmenting row reduction ---- */

/* A person's two least reduced costs, and the object of the first, of several a free one; COST_MAX
 * and NONE: no such object. */
struct two_least {
    cost_t least, second;
    size_t object;
};

static struct two_least find_two_least(const struct state *s, size_t person)
{
    struct two_least found = {COST_MAX, COST_MAX, NONE};
    struct pairs pairs = pairs_of(s, person);
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(&pairs, k);
        if (pairs.cost[k] == COST_MAX)
            continue;
        cost_t value = pairs.cost[k] - s->dual[object];
        if (value > found.second)
            continue;
        if (value < found.least ||
            (value == found.least && is_free(s, object) && !is_free(s, found.object)))
            found = (struct two_least){value, found.least, object};
        else
            found.second = value;
    }
    return found;
}

/* Jonker and Volgenant's second phase, after column reduction: the dual of an assigned object falls
 * until its person's second cheapest object costs as little. */
static void reduction_transfer(struct state *s)
{
    for (size_t j = 0; j < s->persons; j++) {
        size_t object = s->object_of[j];
        if (object == NONE)
            continue;
        struct two_least found = find_two_least(s, j);
        cost_t other = found.object == object ? found.second : found.least;
        if (other < COST_MAX)
            s->dual[object] -= other;
    }
}

/* Assigns the person its cheapest object, whose dual falls. Returns the person that had the object,
 * NONE, or the person itself when it stays unassigned: another one is displaced only where the dual
 * falls, otherwise two could alternate without end. */
static size_t reduce_row(struct state *s, size_t person)
{
    struct two_least found = find_two_least(s, person);
    size_t object = found.object;
    if (object == NONE)
        return person;
    cost_t dual = s->dual[object] - (found.second < COST_MAX ? found.second - found.least : 0);
    bool falls = dual < s->dual[object];
    size_t previous = s->person_of[object];
    if (previous != NONE && !falls)
        return person;
    if (previous != NONE)
        s->object_of[previous] = NONE;
    assign(s, person, object);
    if (falls)
        s->dual[object] = dual;
    return previous;
}

/* The paper's number of passes; a bound on the steps, since persons may compete by tiny amounts. */
enum { PASSES = 2, STEPS_PER_PERSON = 4 };

/* Jonker and Volgenant's third phase: unassigned persons take their cheapest objects, whose duals
 * fall until the second cheapest ones cost as little; who had such an object takes another one. */
static void augmenting_row_reduction(struct state *s)
{
    size_t steps = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t j = 0; j < s->persons; j++) {
            size_t person = s->object_of[j] == NONE ? j : NONE, previous = NONE;
            while (person != NONE && person != previous && steps / STEPS_PER_PERSON < s->persons) {
                previous = person;
                person = reduce_row(s, person);
                steps++;
            }
        }
    }
}

/* ---- exchange ---- */

/* Moves the object's person to a free object that costs it as little, if there is one. Duals do not
 * change here and free objects only become fewer, so no pair is tried twice: next[person] is the
 * first that may still do. */
static bool displace_person(struct state *s, size_t object)
{
    size_t person = s->person_of[object];
    struct pairs pairs = pairs_of(s, person);
    cost_t least = person_dual(s, object);
    for (size_t *k = &s->next[person]; *k < pairs.count; ++*k) {
        size_t other = object_at(&pairs, *k);
        if (pairs.cost[*k] < COST_MAX && pairs.cost[*k] - s->dual[other] <= least &&
            is_free(s, other)) {
            assign(s, person, other);
            return true;
        }
    }
    return false;
}

static void assign_cheapest(struct state *s, size_t person)
{
    struct pairs pairs = pairs_of(s, person);
    cost_t least = find_two_least(s, person).least;
    for (size_t k = 0; k < pairs.count && s->object_of[person] == NONE; k++) {
        size_t object = object_at(&pairs, k);
        if (pairs.cost[k] == COST_MAX || pairs.cost[k] - s->dual[object] > least)
            continue;
        if (is_free(s, object) || displace_person(s, object))
            assign(s, person, object);
    }
}

/* The first phase of Carpaneto, Martello and Toth, after any reduction: unassigned persons get one
 * of their cheapest objects, a free one, or one whose person has another free one that costs it as
 * little. */
static void exchange(struct state *s)
{
    for (size_t j = 0; j < s->persons; j++)
        if (s->object_of[j] == NONE)
            assign_cheapest(s, j);
}

/* ---- shortest augmenting paths in reduced costs, by Dijkstra's method ---- */

static void search_reset(struct state *s)
{
    for (size_t k = 0; k < s->reaches; k++)
        s->dist[s->reached[k]] = COST_MAX;
    s->queued = s->reaches = s->joined = 0;
    s->nearest = NONE;
    s->limit = COST_MAX;
}

/* ---- the queue ---- */

static inline bool is_nearer(const struct state *s, size_t a, size_t b)
{
    return s->dist[a] < s->dist[b] || (s->dist[a] == s->dist[b] && a < b);
}

#define OBJECT_PLACED(s, object, at) ((s)->place[object] = (at))
BASE_HEAP(object_heap, size_t, const struct state *, is_nearer, OBJECT_PLACED);

static void enqueue(struct state *s, size_t object, bool is_new)
{
    if (s->place != NULL)
        object_heap_up(s, s->queue, is_new ? s->queued++ : s->place[object], object);
    else if (is_new)
        s->queue[s->queued++] = object;
}

static size_t find_nearest(const struct state *s)
{
    size_t best = 0;
    for (size_t k = 1; k < s->queued; k++)
        if (s->dist[s->queue[k]] < s->dist[s->queue[best]])
            best = k;
    return best;
}

/* Removes the nearest object that is nearer than the nearest free one; NONE: there is none. */
static size_t dequeue(struct state *s)
{
    size_t best = s->place != NULL || s->queued == 0 ? 0 : find_nearest(s);
    if (s->queued == 0 || s->dist[s->queue[best]] >= s->limit)
        return NONE;
    size_t object = s->queue[best], last = s->queue[--s->queued];
    if (s->place == NULL)
        s->queue[best] = last;
    else if (s->queued > 0)
        object_heap_down(s, s->queue, s->queued, 0, last);
    return object;
}

/* ---- paths ---- */

/* `length` is below the object's distance and below the limit. */
static void shorten(struct state *s, size_t object, cost_t length, size_t person)
{
    bool is_new = s->dist[object] == COST_MAX;
    if (is_new)
        s->reached[s->reaches++] = object;
    s->dist[object] = length;
    s->from[object] = person;
    if (is_free(s, object)) {
        s->nearest = object;
        s->limit = length;
    } else {
        enqueue(s, object, is_new);
    }
}

/* `base`: what the person's pairs cost more than their distance. */
static void scan_person(struct state *s, size_t person, cost_t base)
{
    struct pairs pairs = pairs_of(s, person);
    const cost_t *dual = s->dual, *dist = s->dist;
    cost_t limit = s->limit;
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(&pairs, k);
        if (pairs.cost[k] >= COST_MAX)
            continue;
        cost_t length = pairs.cost[k] - dual[object] - base;
        if (length < limit && length < dist[object]) {
            shorten(s, object, length, person);
            limit = s->limit;
        }
    }
}

static int augment_person(struct state *s, size_t person)
{
    cost_t at = COST_MIN;
    search_reset(s);
    scan_person(s, person, 0);
    for (size_t object = dequeue(s); object != NONE; object = dequeue(s)) {
        /* Rounding may make a length slightly less than the previous one. */
        at = s->dist[object] > at ? s->dist[object] : at;
        s->dist[object] = COST_MIN;
        tree_join(s, object, at);
        scan_person(s, s->person_of[object], person_dual(s, object) - at);
    }
    if (s->nearest == NONE)
        return LAP_INFEASIBLE;
    tree_lower_duals(s, s->limit > at ? s->limit : at);
    tree_flip(s, s->nearest);
    return 0;
}

/* Assigns an object to each unassigned person. Requires that each assigned person has one of its
 * cheapest objects at the current duals. 0 or LAP_INFEASIBLE. */
static int augment_all(struct state *s)
{
    int rc = 0;
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        if (s->object_of[j] == NONE)
            rc = augment_person(s, j);
    return rc;
}

/* ---- Kuhn's method in the O(n^2 m) form that keeps a slack for each object in dist: its cost less
 * its dual and that of the best person of the tree ---- */

static void lower_slacks(struct state *s, size_t person, cost_t dual)
{
    struct pairs pairs = pairs_of(s, person);
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(&pairs, k);
        cost_t slack = pairs.cost[k] - s->dual[object] - dual;
        if (pairs.cost[k] < COST_MAX && slack < s->dist[object]) {
            s->dist[object] = slack;
            s->from[object] = person;
        }
    }
}

static size_t find_least_slack(const struct state *s)
{
    size_t found = NONE;
    cost_t least = COST_MAX;
    for (size_t i = 0; i < s->objects; i++) {
        if (s->dist[i] < least && s->dist[i] != COST_MIN) {
            least = s->dist[i];
            found = i;
        }
    }
    return found;
}

/* The dual of every person of the tree rises by delta, and that of every object falls. */
static void change_duals(struct state *s, cost_t delta)
{
    tree_lower_duals(s, delta);
    for (size_t i = 0; i < s->objects; i++)
        if (s->dist[i] < COST_MAX && s->dist[i] != COST_MIN)
            s->dist[i] -= delta;
}

/* An object without slack joins the tree together with its person. */
static void add_object(struct state *s, size_t object)
{
    s->dist[object] = COST_MIN;
    tree_join(s, object, 0);
    lower_slacks(s, s->person_of[object], person_dual(s, object));
}

/* Grows the tree of the person until it has a free object. The person's dual is 0 at first, so
 * that the first change may have any sign; rounding must not make a later one negative. */
static int grow_tree(struct state *s, size_t person)
{
    s->joined = 0;
    for (size_t i = 0; i < s->objects; i++)
        s->dist[i] = COST_MAX;
    lower_slacks(s, person, 0);
    for (;;) {
        size_t object = find_least_slack(s);
        if (object == NONE)
            return LAP_INFEASIBLE;
        if (s->joined == 0 || s->dist[object] > 0)
            change_duals(s, s->dist[object]);
        if (is_free(s, object)) {
            tree_flip(s, object);
            return 0;
        }
        add_object(s, object);
    }
}

/* ---- the solvers: 0 or LAP_INFEASIBLE ---- */

static int hungarian(struct state *s)
{
    int rc = 0;
    column_reduction(s);
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        if (s->object_of[j] == NONE)
            rc = grow_tree(s, j);
    return rc;
}

static int jv(struct state *s)
{
    column_reduction(s);
    reduction_transfer(s);
    augmenting_row_reduction(s);
    exchange(s);
    return augment_all(s);
}

static int aps(struct state *s)
{
    column_reduction(s);
    exchange(s);
    return augment_all(s);
}

static int apc(struct state *s)
{
    s->place = NULL;
    return aps(s);
}

/* ---- the solution ---- */

static void write_duals(const struct state *s, cost_t *row_dual, cost_t *col_dual)
{
    cost_t *of_person = s->transposed ? row_dual : col_dual;
    cost_t *of_object = s->transposed ? col_dual : row_dual;
    for (size_t j = 0; of_person != NULL && j < s->persons; j++)
        of_person[j] = person_dual(s, s->object_of[j]);
    for (size_t i = 0; of_object != NULL && i < s->objects; i++)
        of_object[i] = s->dual[i];
}

static cost_t write_assignment(const struct state *s, size_t *row_of_col)
{
    cost_t total = 0;
    for (size_t j = 0; j < s->problem->cols; j++)
        row_of_col[j] = LAP_UNASSIGNED;
    for (size_t k = 0; k < s->persons; k++) {
        size_t object = s->object_of[k];
        row_of_col[s->transposed ? object : k] = s->transposed ? k : object;
        total += s->paid[object];
    }
    return total;
}

static void write_search(const struct state *s, lap_solution *solution)
{
    cost_t total = write_assignment(s, solution->row_of_col);
    solution->total = (double)total;
#ifdef LAP_INTEGER
    solution->integer_total = total;
    write_duals(s, solution->integer_row_dual, solution->integer_col_dual);
#else
    write_duals(s, solution->row_dual, solution->col_dual);
#endif
}

/* The problem was checked. */
static int run(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *))
{
    struct state s = {.problem = problem};
    int rc = init_costs(&s);
    if (rc == 0)
        rc = init_arrays(&s);
    if (rc == 0)
        rc = solve(&s);
    if (rc == 0)
        write_search(&s, solution);
    base_arena_release(&s.arena);
    return rc;
}

#define SOLVER(name)                                                                               \
    int TYPED(name)(const lap_problem *problem, lap_solution *solution);                           \
    int TYPED(name)(const lap_problem *problem, lap_solution *solution)                            \
    {                                                                                              \
        return run(problem, solution, name);                                                       \
    }

SOLVER(jv)
SOLVER(hungarian)
SOLVER(apc)
SOLVER(aps)
