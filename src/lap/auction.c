/* SPDX-License-Identifier: BSD-3-Clause */
/* Auctions with decreasing epsilon, for prices close to optimal ones. See doc/jv.md. */
#include "lap/auction.h"

#include "lap/select.h"

/* Measured on uniform, geometric and low-rank costs. */
enum { EPSILON_STEP = 8, BIDS_PER_PERSON = 64 };

/* ---- the two cheapest objects ---- */

static struct two_least two_least_of_list(const struct paths *p, size_t person)
{
    struct two_least found = {COST_MAX, COST_MAX, NONE, NONE};
    for (size_t k = p->start[person]; k < p->end[person]; k++) {
        size_t object = p->entry[k].object;
        cost_t key = p->entry[k].cost - p->s->price[object];
        if (key >= found.second)
            continue;
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

struct two_least TYPED(find_two_least)(struct paths *p, size_t person)
{
    struct two_least found = two_least_of_list(p, person);
    if (p->bound != NULL && found.second > p->bound[person]) {
        TYPED(rebuild_list)(p, person);
        found = two_least_of_list(p, person);
    }
    return found;
}

/* ---- auctions ---- */

/* Raises the object's price to epsilon above indifference with the second best. Returns the person
 * that held the object, or NONE. */
static size_t bid_of_person(struct paths *p, size_t person, cost_t epsilon)
{
    struct state *s = p->s;
    struct two_least found = TYPED(find_two_least)(p, person);
    size_t object = found.object;
    if (object == NONE || s->price[object] < PRICE_FLOOR)
        return NONE;
    size_t previous = s->person_of[object];
    if (previous != NONE)
        s->object_of[previous] = NONE;
    assign(s, person, object);
    cost_t lead = found.second < COST_MAX ? found.second - found.least : 0;
    set_dual(s, object, s->dual[object] - lead - epsilon);
    return previous;
}

static void unassign_all(struct paths *p, size_t *waiting)
{
    struct state *s = p->s;
    for (size_t i = 0; i < s->objects; i++)
        s->person_of[i] = NONE;
    for (size_t j = 0; j < s->persons; j++) {
        s->object_of[j] = NONE;
        waiting[j] = j;
    }
}

/* False after too many bids: without a complete assignment they would never end. */
static bool hold_auction(struct paths *p, const size_t *waiting, cost_t epsilon)
{
    size_t bids = 0;
    for (size_t k = 0; k < p->s->persons; k++) {
        size_t person = waiting[k];
        while (person != NONE) {
            if (bids++ / BIDS_PER_PERSON >= p->s->persons)
                return false;
            person = bid_of_person(p, person, epsilon);
        }
    }
    return true;
}

/* The least epsilon whose multiples are added without rounding. */
static double finest_epsilon(const struct state *s)
{
#ifdef LAP_INTEGER
    (void)s;
    return 1.0;
#else
    size_t count = s->start != NULL ? s->start[s->persons] : s->persons * s->objects;
    double largest = 1.0;
    for (size_t k = 0; k < count; k++)
        if (s->cost[k] < COST_MAX && fabs(s->cost[k]) > largest)
            largest = fabs(s->cost[k]);
    return ldexp(1.0, ilogb(largest * 64.0 * ((double)s->persons + 1.0)) + 1 - DBL_MANT_DIG);
#endif
}

/* Distance of the median of a sample of the costs from its lower eighth: a few huge costs, which no
 * solution pays, do not count. */
static double scale_of_costs(const struct state *s, cost_t *sample)
{
    size_t count = 0;
    for (size_t j = 0; j < s->persons; j++) {
        struct pairs pairs = pairs_of(s, j);
        cost_t cost = pairs.count > 0 ? pairs.cost[j % pairs.count] : COST_MAX;
        if (cost < COST_MAX)
            sample[count++] = cost;
    }
    if (count == 0)
        return 0.0;
    double median = (double)select_least(sample, count, count / 2);
    return median - (double)select_least(sample, count, count / 8);
}

/* A power of two, so that integral costs keep integral prices as long as epsilon is at least 1. */
static double first_epsilon(const struct state *s, cost_t *sample)
{
    double scale = scale_of_costs(s, sample);
    return scale > 0.0 ? ldexp(1.0, ilogb(scale / 2)) : 0.0;
}

size_t TYPED(hold_auctions)(struct paths *p, size_t *waiting)
{
    double epsilon = first_epsilon(p->s, p->base);
    double last = fmax(epsilon / (double)p->s->persons, finest_epsilon(p->s));
    bool sold = true;
    p->auctioned = true;
    for (; sold && epsilon >= last; epsilon /= EPSILON_STEP) {
        unassign_all(p, waiting);
        sold = hold_auction(p, waiting, (cost_t)epsilon);
    }
    unassign_all(p, waiting);
    return p->s->persons;
}
