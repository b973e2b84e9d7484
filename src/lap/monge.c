/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense problems that sorting solves. See doc/jv.md.
 *
 * Products of floating-point numbers are not compiled for several processors: with fused
 * operations equal input might give another result on another machine. */
#include "lap/monge.h"

#include "lap/pairs.h"
#include "lap/vector.h"

#include <errno.h>
#include <math.h>

/* A sample of PROBED persons and objects is examined first. There is an order, or nearly, if the
 * exchanges of its neighbours lose at least LOST_PER_GAINED times what they gain. */
enum { PROBED = 16, LOST_PER_GAINED = 64 };

/* Where there nearly is an order, each person is first assigned one of the objects at its own place
 * and at REACH places on either side. */
enum { REACH = 8, NEAR = 2 * REACH + 1 };

/* A person or an object, and what it is sorted by. */
struct placed {
    double key;
    size_t number;
};

struct order {
    const cost_t *cost; /* by rows of persons */
    size_t persons, objects;
    cost_t greatest;                /* magnitude of a cost */
    double *of_person, *of_object;  /* weights */
    struct placed *person, *object; /* by place */
    cost_t *dual;                   /* by object */
    size_t *object_of;              /* by place of a person: the place of its object */
    struct base_arena arena;
};

/* ---- finding the order ---- */

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = (x->key > y->key) - (x->key < y->key);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static void sort(struct placed *placed, const double *weight, size_t count, double sign)
{
    for (size_t k = 0; k < count; k++)
        placed[k] = (struct placed){sign * weight[k], k};
    qsort(placed, count, sizeof *placed, compare_placed);
}

/* Moves the mean of the weights to 0 and the largest magnitude to 1. False if all are equal, or
 * one is too large. */
static bool centre(double *weight, size_t count)
{
    double sum = 0.0, largest = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += weight[k];
    double mean = sum / (double)count;
    for (size_t k = 0; k < count; k++)
        largest = fmax(largest, fabs(weight[k] - mean));
    if (!isfinite(sum) || !isfinite(largest) || largest == 0.0)
        return false;
    for (size_t k = 0; k < count; k++)
        weight[k] = (weight[k] - mean) / largest;
    return true;
}

/* A person's costs less those of the first person. */
static double difference(const struct order *o, size_t person, size_t object)
{
    return (double)o->cost[person * o->objects + object] - (double)o->cost[object];
}

static double range_of_difference(const struct order *o, size_t person)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < o->objects; i++) {
        least = fmin(difference(o, person, i), least);
        most = fmax(difference(o, person, i), most);
    }
    return most - least;
}

/* By the difference of the first person to another: of some all over the others the one where it
 * varies most. */
static void weigh_by_difference(struct order *o)
{
    double widest = 0.0;
    size_t other = 0;
    for (size_t k = 1; k < PROBED; k++) {
        size_t person = k * (o->persons - 1) / (PROBED - 1);
        double range = range_of_difference(o, person);
        other = range > widest ? person : other;
        widest = fmax(range, widest);
    }
    for (size_t i = 0; i < o->objects; i++)
        o->of_object[i] = difference(o, other, i);
}

/* The largest magnitude of a person's costs, or of those before. */
FOR_EACH_PROCESSOR
static cost_t greatest_of_row(const cost_t *cost, size_t count, cost_t greatest)
{
    cost_t least = -greatest;
    for (size_t i = 0; i < count; i++) {
        greatest = greater(cost[i], greatest);
        least = lesser(cost[i], least);
    }
    return greater(greatest, -least);
}

/* The sum of a person's costs by the weights of objects. */
static double weigh_row(const struct order *o, const cost_t *cost)
{
    const double *weight = o->of_object;
    double even = 0.0, odd = 0.0;
    size_t i = 0;
    for (; i + BLOCK <= o->objects; i += BLOCK) {
        fetch_ahead(cost + i);
        for (size_t k = i; k < i + BLOCK; k += 2) {
            even += (double)cost[k] * weight[k];
            odd += (double)cost[k + 1] * weight[k + 1];
        }
    }
    for (; i < o->objects; i++)
        even += (double)cost[i] * weight[i];
    return even + odd;
}

static void weigh_persons(struct order *o)
{
    o->greatest = 0;
    for (size_t j = 0; j < o->persons; j++) {
        const cost_t *cost = o->cost + j * o->objects;
        o->of_person[j] = weigh_row(o, cost);
        o->greatest = greatest_of_row(cost, o->objects, o->greatest);
    }
}

static void weigh_objects(struct order *o)
{
    double *restrict of_object = o->of_object;
    for (size_t i = 0; i < o->objects; i++)
        of_object[i] = 0.0;
    for (size_t j = 0; j < o->persons; j++) {
        const cost_t *restrict cost = o->cost + j * o->objects;
        double weight = o->of_person[j];
        size_t i = 0;
        for (; i + BLOCK <= o->objects; i += BLOCK) {
            fetch_ahead(cost + i);
            for (size_t k = i; k < i + BLOCK; k++)
                of_object[k] += (double)cost[k] * weight;
        }
        for (; i < o->objects; i++)
            of_object[i] += (double)cost[i] * weight;
    }
}

/* Where there is an order, the differences of any two persons' costs ascend along the objects, or
 * descend. So persons have the order of the sums of their costs by weights of objects that ascend
 * (Chebyshev's sum inequality), and objects that of sums by weights of persons. Sums are equal only
 * where costs differ by a constant. Persons and objects with large sums have large costs together,
 * so one of the two orders is reversed. */
static bool find_order(struct order *o)
{
    weigh_by_difference(o);
    if (!centre(o->of_object, o->objects))
        return false;
    weigh_persons(o);
    if (o->greatest == COST_MAX || !centre(o->of_person, o->persons))
        return false;
    weigh_objects(o);
    sort(o->person, o->of_person, o->persons, 1.0);
    sort(o->object, o->of_object, o->objects, -1.0);
    return true;
}

static cost_t cost_at(const struct order *o, size_t person, size_t object)
{
    return o->cost[o->person[person].number * o->objects + o->object[object].number];
}

/* What a person may pay too much by rounding: duals are sums of up to 2 n costs, whose errors add
 * up to some tenths of as many units in the last place as the root of n is. Less than 1 if all
 * costs are integers. */
static cost_t rounding_of(const struct order *o)
{
#ifdef LAP_INTEGER
    (void)o;
    return 0;
#else
    return o->greatest * DBL_EPSILON * (8.0 + sqrt((double)o->persons));
#endif
}

/* *holds: no exchange of neighbours gains. Returns whether it nearly holds. */
static bool order_nearly_holds(const struct order *o, bool *holds)
{
    cost_t rounding = rounding_of(o);
    double gained = 0.0, lost = 0.0;
    *holds = true;
    for (size_t j = 1; j < o->persons; j++) {
        for (size_t i = 1; i < o->objects; i++) {
            cost_t kept = cost_at(o, j - 1, i - 1) + cost_at(o, j, i);
            cost_t exchanged = cost_at(o, j - 1, i) + cost_at(o, j, i - 1);
            *holds = *holds && kept - exchanged <= rounding;
            gained += fmax((double)(kept - exchanged), 0.0);
            lost += fmax((double)(exchanged - kept), 0.0);
        }
    }
    return gained * LOST_PER_GAINED <= lost;
}

static bool probe_nearly_has_order(const struct state *s, bool *holds)
{
    double of_person[PROBED], of_object[PROBED];
    struct placed person[PROBED], object[PROBED];
    cost_t cost[PROBED * PROBED];
    struct order o = {.cost = cost,
                      .persons = PROBED,
                      .objects = PROBED,
                      .of_person = of_person,
                      .of_object = of_object,
                      .person = person,
                      .object = object};
    for (size_t k = 0; k < PROBED; k++)
        for (size_t l = 0; l < PROBED; l++)
            cost[k * PROBED + l] = row_of(s, k * s->persons / PROBED)[l * s->objects / PROBED];
    return find_order(&o) && order_nearly_holds(&o, holds);
}

static int order_init(struct order *o, const struct state *s)
{
    *o = (struct order){.cost = s->cost, .persons = s->persons, .objects = s->objects};
    o->of_person = base_arena_alloc(&o->arena, s->persons, sizeof *o->of_person);
    o->of_object = base_arena_alloc(&o->arena, s->objects, sizeof *o->of_object);
    o->person = base_arena_alloc(&o->arena, s->persons, sizeof *o->person);
    o->object = base_arena_alloc(&o->arena, s->objects, sizeof *o->object);
    o->dual = base_arena_alloc(&o->arena, s->objects, sizeof *o->dual);
    o->object_of = base_arena_alloc(&o->arena, s->persons, sizeof *o->object_of);
    return o->arena.failed ? -ENOMEM : 0;
}

/* ---- the solution ---- */

/* Some optimum keeps the order, so that the person at place j has one of the objects at places j to
 * j + m - n: dynamic programming over the least costs of the first persons. */
static int match_in_order(struct order *o)
{
    size_t width = o->objects - o->persons + 1, k = width - 1;
    cost_t *least = base_arena_alloc(&o->arena, width, sizeof *least);
    bool *taken = base_arena_alloc(&o->arena, width, o->persons * sizeof *taken);
    if (o->arena.failed)
        return -ENOMEM;
    for (size_t j = 0; j < o->persons; j++) {
        cost_t before = COST_MAX;
        for (size_t l = 0; l < width; l++) {
            cost_t with = least[l] + cost_at(o, j, j + l);
            taken[j * width + l] = with < before;
            least[l] = before = lesser(with, before);
        }
    }
    for (size_t j = o->persons; j-- > 0;) {
        while (!taken[j * width + k])
            k--;
        o->object_of[j] = j + k;
    }
    return 0;
}

/* Lowers the dual of the second person's object so far that the first one gains nothing by it. */
static void lower_dual(struct order *o, size_t first, size_t second)
{
    size_t own = o->object_of[first], other = o->object_of[second];
    cost_t *dual = &o->dual[o->object[other].number];
    cost_t most = o->dual[o->object[own].number] - cost_at(o, first, own);
    *dual = lesser(most + cost_at(o, first, other), *dual);
}

/* The largest duals that are at most 0: only neighbours in the order bind. */
static void set_duals(struct order *o)
{
    for (size_t j = 1; j < o->persons; j++)
        lower_dual(o, j - 1, j);
    for (size_t j = o->persons; j-- > 1;)
        lower_dual(o, j, j - 1);
}

FOR_EACH_PROCESSOR
static cost_t least_of_row(const cost_t *cost, const cost_t *dual, size_t count)
{
    cost_t key[BLOCK], least = COST_MAX;
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t left = count - i;
        least = lesser(reduce_block(cost + i, dual + i, key, left < BLOCK ? left : BLOCK), least);
    }
    return least;
}

/* Whether no person pays more for its object than for any other. */
static bool proof_holds(const struct order *o)
{
    cost_t rounding = rounding_of(o);
    for (size_t j = 0; j < o->persons; j++) {
        size_t object = o->object[o->object_of[j]].number;
        const cost_t *cost = o->cost + o->person[j].number * o->objects;
        if (cost[object] - o->dual[object] > least_of_row(cost, o->dual, o->objects) + rounding)
            return false;
    }
    return true;
}

static void take_solution(struct state *s, const struct order *o)
{
    for (size_t i = 0; i < s->objects; i++) {
        s->person_of[i] = NONE;
        set_dual(s, i, o->dual[i]);
    }
    for (size_t j = 0; j < s->persons; j++)
        assign(s, o->person[j].number, o->object[o->object_of[j]].number);
}

static int solve_by_order(struct state *s, bool *solved)
{
    struct order o;
    int rc = order_init(&o, s);
    if (rc == 0 && find_order(&o)) {
        rc = match_in_order(&o);
        if (rc == 0)
            set_duals(&o);
        *solved = rc == 0 && proof_holds(&o);
        if (*solved)
            take_solution(s, &o);
    }
    base_arena_release(&o.arena);
    return rc;
}

int TYPED(solve_in_order)(struct state *s, bool *solved, bool *nearly)
{
    bool holds = false;
    *solved = false;
    *nearly = s->persons >= PROBED && probe_nearly_has_order(s, &holds);
    int rc = *nearly && holds ? solve_by_order(s, solved) : 0;
    *nearly = *nearly && !*solved && s->persons == s->objects;
    return rc;
}

/* ---- a start ---- */

/* The pairs of each person with objects near its own; persons and objects by place. */
static int list_near(struct state *near, const struct order *o)
{
    size_t pairs = 0, *start = base_arena_alloc(&near->arena, o->persons + 1, sizeof *start);
    size_t *object = base_arena_alloc(&near->arena, o->persons, NEAR * sizeof *object);
    cost_t *cost = base_arena_alloc(&near->arena, o->persons, NEAR * sizeof *cost);
    if (near->arena.failed)
        return -ENOMEM;
    for (size_t j = 0; j < o->persons; j++) {
        for (size_t i = j > REACH ? j - REACH : 0; i <= j + REACH && i < o->objects; i++) {
            object[pairs] = i;
            cost[pairs++] = cost_at(o, j, i);
        }
        start[j + 1] = pairs;
    }
    near->cost = cost;
    near->start = start;
    near->entry_object = object;
    return 0;
}

static void take_start(struct state *s, const struct order *o, const struct state *near)
{
    for (size_t i = 0; i < s->objects; i++) {
        s->person_of[o->object[i].number] = NONE;
        set_dual(s, o->object[i].number, near->dual[i]);
    }
    for (size_t j = 0; j < s->persons; j++) {
        size_t person = o->person[j].number, object = o->object[near->object_of[j]].number;
        const cost_t *cost = row_of(s, person);
        s->object_of[person] = NONE;
        if (cost[object] - s->price[object] <= least_of_row(cost, s->price, s->objects))
            assign(s, person, object);
    }
}

/* The pairs of places that are near each other are solved first: an assignment in order is one of
 * theirs. */
int TYPED(start_in_order)(struct state *s, int (*solve)(struct state *))
{
    struct state near = {.problem = s->problem, .persons = s->persons, .objects = s->objects};
    struct order o;
    int rc = order_init(&o, s);
    if (rc == 0 && find_order(&o)) {
        rc = list_near(&near, &o);
        if (rc == 0)
            rc = TYPED(init_assignment)(&near);
        if (rc == 0)
            rc = solve(&near);
        if (rc == 0)
            take_start(s, &o, &near);
    }
    base_arena_release(&near.arena);
    base_arena_release(&o.arena);
    return rc;
}
