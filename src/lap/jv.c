/* SPDX-License-Identifier: BSD-3-Clause */
/* Jonker and Volgenant's shortest augmenting paths, rectangular, with group capacities.
 *
 * The paper's phases over lists of each person's best pairs. See doc/jv.md. */
#include "lap/paths.h"

#include "lap/reduction.h"

#include <errno.h>

/* The paper's number of passes; the steps bound a price war between persons. */
enum { REDUCTION_PASSES = 2, REDUCTION_STEPS_PER_PERSON = 4 };

/* Measured on uniform, geometric and low-rank costs. */
enum { LIST_WIDTH = 16, EPSILON_STEP = 8, BIDS_PER_PERSON = 64, EFFORT_PER_PERSON = 32 };

struct jv {
    struct state *s;
    struct paths paths;
    size_t *unassigned; /* persons that wait */
    size_t waiting;
    bool scaled; /* the auction was held */
};

/* ---- reduction transfer and augmenting row reduction ---- */

struct two_least {
    cost_t least, second;
    size_t object, second_object;
};

static struct two_least two_least_of_list(const struct paths *p, size_t person)
{
    struct two_least found = { COST_MAX, COST_MAX, NONE, NONE };
    for (size_t k = p->start[person]; k < p->end[person]; k++) {
        size_t object = p->entry[k].object;
        cost_t key = p->entry[k].cost - p->s->price[object];
        if (key >= found.second) {
            continue;
        }
        if (key < found.least) {
            found.second = found.least;
            found.second_object = found.object;
            found.least = key;
            found.object = object;
        } else {
            found.second = key;
            found.second_object = object;
        }
    }
    return found;
}

static struct two_least find_two_least(struct paths *p, size_t person)
{
    struct two_least found = two_least_of_list(p, person);
    if (p->bound != NULL && found.second > p->bound[person]) {
        TYPED(refresh)(p, person);
        found = two_least_of_list(p, person);
    }
    return found;
}

/* Gives the person its cheapest object and lowers that object's dual as far as the next
 * best one allows. Returns the person that gave way, NONE, or the person itself when it must
 * wait: a person gives way only where the dual falls, otherwise two could alternate for ever. */
static size_t reduce_row(struct jv *jv, size_t person)
{
    struct state *s = jv->s;
    struct two_least found = find_two_least(&jv->paths, person);
    size_t object = found.object;
    if (object == NONE || s->price[object] < PRICE_FLOOR) {
        return person;
    }
    cost_t dual = s->dual[object];
    if (found.second < COST_MAX) {
        dual -= found.second - found.least;
    }
    bool falls = dual < s->dual[object];
    if (!falls && !is_open(s, object) && found.second_object != NONE
        && found.second <= found.least) {
        object = found.second_object;
        dual = s->dual[object];
    }
    if (!is_open(s, object) && (is_free(s, object) || !falls)) {
        return person;
    }
    size_t previous = s->person_of[object];
    if (previous != NONE) {
        s->object_of[previous] = NONE;
        give(s, person, object);
    } else {
        take_open(s, person, object);
    }
    set_dual(s, object, dual);
    return previous;
}

/* The dual of an assigned object falls until its person would as soon have another. */
static void reduction_transfer(struct jv *jv)
{
    struct state *s = jv->s;
    for (size_t j = 0; j < s->persons; j++) {
        size_t object = s->object_of[j];
        if (object == NONE) {
            jv->unassigned[jv->waiting++] = j;
            continue;
        }
        struct two_least found = find_two_least(&jv->paths, j);
        cost_t other = found.object == object ? found.second : found.least;
        if (other < COST_MAX) {
            set_dual(s, object, s->dual[object] - other);
        }
    }
}

static void augmenting_row_reduction(struct jv *jv)
{
    size_t steps = 0;
    for (int pass = 0; pass < REDUCTION_PASSES; pass++) {
        size_t count = jv->waiting;
        jv->waiting = 0;
        for (size_t k = 0; k < count; k++) {
            size_t person = jv->unassigned[k];
            size_t previous = NONE;
            while (person != NONE && person != previous
                   && steps / REDUCTION_STEPS_PER_PERSON < jv->s->persons) {
                previous = person;
                person = reduce_row(jv, person);
                steps++;
            }
            if (person != NONE) {
                jv->unassigned[jv->waiting++] = person;
            }
        }
    }
}

/* ---- price war: an auction with falling epsilon brings the duals near to the best ---- */

/* The object gets dearer than its next best by epsilon. Returns who gave way, or NONE. */
static size_t bid(struct jv *jv, size_t person, cost_t epsilon)
{
    struct state *s = jv->s;
    struct two_least found = find_two_least(&jv->paths, person);
    size_t object = found.object;
    if (object == NONE || s->price[object] < PRICE_FLOOR) {
        return NONE;
    }
    size_t previous = s->person_of[object];
    if (previous != NONE) {
        s->object_of[previous] = NONE;
    }
    give(s, person, object);
    cost_t lead = found.second < COST_MAX ? found.second - found.least : 0;
    set_dual(s, object, s->dual[object] - lead - epsilon);
    return previous;
}

static void unassign_all(struct jv *jv)
{
    struct state *s = jv->s;
    for (size_t i = 0; i < s->objects; i++) {
        s->person_of[i] = NONE;
    }
    for (size_t j = 0; j < s->persons; j++) {
        s->object_of[j] = NONE;
        jv->unassigned[j] = j;
    }
    jv->waiting = s->persons;
}

/* False when the bids were too many; without an assignment they would never end. */
static bool hold_auction(struct jv *jv, cost_t epsilon)
{
    size_t bids = 0;
    for (size_t k = 0; k < jv->s->persons; k++) {
        size_t person = jv->unassigned[k];
        while (person != NONE) {
            if (bids++ / BIDS_PER_PERSON >= jv->s->persons) {
                return false;
            }
            person = bid(jv, person, epsilon);
        }
    }
    return true;
}

/* Of a few costs; a power of two when costs are real, so that integers stay integers. */
static cost_t spread_of_costs(const struct state *s)
{
    cost_t least = COST_MAX, most = COST_MIN;
    for (size_t j = 0; j < s->persons; j++) {
        struct pairs pairs = pairs_of(s, j);
        cost_t cost = pairs.count > 0 ? pairs.cost[j % pairs.count] : COST_MAX;
        if (cost < COST_MAX) {
            least = cost < least ? cost : least;
            most = cost > most ? cost : most;
        }
    }
    if (most <= least) {
        return 0;
    }
#ifdef LAP_INTEGER
    return most - least;
#else
    return ldexp(1.0, ilogb(most - least));
#endif
}

static void scale_epsilon(struct jv *jv)
{
    cost_t spread = spread_of_costs(jv->s);
    cost_t last = spread / (cost_t)jv->s->persons / EPSILON_STEP;
    cost_t epsilon = spread / EPSILON_STEP;
    bool sold = true;
    while (sold && epsilon > last) {
        unassign_all(jv);
        sold = hold_auction(jv, epsilon);
        epsilon /= EPSILON_STEP;
    }
    unassign_all(jv);
}

/* ---- the whole ---- */

/* Some costs (distances, products) make long searches from whatever the paper's phases
 * have left. Once that shows, prices from an auction are the better start. */
static bool is_laborious(const struct jv *jv)
{
    return !jv->scaled && jv->paths.effort / EFFORT_PER_PERSON > jv->s->persons;
}

static int augment(struct jv *jv)
{
    int rc = 0;
    for (size_t k = 0; k < jv->waiting && rc == 0; k++) {
        rc = TYPED(augment)(&jv->paths, jv->unassigned[k]);
        if (all_assigned(jv->s) && is_laborious(jv)) {
            jv->scaled = true;
            scale_epsilon(jv);
            augmenting_row_reduction(jv);
            k = NONE;
        }
    }
    return rc;
}

static int jonker_volgenant(struct state *s)
{
    struct jv jv = { .s = s };
    int rc = TYPED(paths_init)(&jv.paths, s, LIST_WIDTH);
    jv.unassigned = TYPED(allocate)(s, s->persons, sizeof *jv.unassigned);
    if (rc != 0 || jv.unassigned == NULL) {
        return -ENOMEM;
    }
    if (all_assigned(s)) {
        TYPED(column_reduction)(s);
    }
    reduction_transfer(&jv);
    augmenting_row_reduction(&jv);
    return augment(&jv);
}

int TYPED(jv)(const lap_problem *problem, lap_solution *solution);
int TYPED(jv)(const lap_problem *problem, lap_solution *solution)
{
    return TYPED(run)(problem, solution, jonker_volgenant);
}

#ifndef LAP_INTEGER
SOLVER_OF_BOTH_KINDS(jv)
#endif
