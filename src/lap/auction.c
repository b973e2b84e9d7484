/* SPDX-License-Identifier: BSD-3-Clause */
/* Auctions with decreasing epsilon, for prices close to optimal ones. See doc/jv.md. */
#include "lap/auction.h"

#include "lap/select.h"
#include "lap/square.h"

/* The last epsilon is the first one by the number of persons and this FINENESS: then few searches
 * remain. Measured on geometric, low-rank, product and difference costs. */
enum { EPSILON_STEP = 4, FINENESS = 64, BIDS_PER_PERSON = 32, BIDS_PER_LIST = 4 };

/* Where the first auction of a sparse problem does not come to an end, epsilon is raised, if prices
 * stay so far from overflow. */
enum { RAISE = 64, FLOOR_PART = 8 };

/* One of so many persons may find its list too short before lists are judged. */
enum { PERSONS = 2 };

/* ---- the two cheapest objects ---- */

static const struct two_least no_pairs = {COST_MAX, COST_MAX, NONE, NONE};

INLINED void note_pair(struct two_least *found, size_t object, cost_t key)
{
    bool is_least = key < found->least, is_second = key < found->second;
    size_t other = is_second ? object : found->second_object;
    found->second_object = is_least ? found->object : other;
    found->second = is_least ? found->least : lesser(key, found->second);
    found->object = is_least ? object : found->object;
    found->least = lesser(key, found->least);
}

static struct two_least two_least_of_pairs(const struct state *s, struct pairs pairs)
{
    struct two_least found = no_pairs;
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(pairs, k);
        note_pair(&found, object, reduced(pairs.cost[k], s->price[object]));
    }
    return found;
}

/* The first objects of the two blocks with the least pairs, from block `b` on. */
INLINED struct two_least two_least_blocks(const struct state *s, const cost_t *cost, size_t b)
{
    struct two_least found = no_pairs;
    size_t blocks = blocks_of(s);
    for (size_t read = 0; read < blocks; read++, b = b + 1 < blocks ? b + 1 : 0) {
        cost_t key[BLOCK];
        note_pair(&found, b * BLOCK, reduce_block_of(s, cost, b * BLOCK, key));
    }
    return found;
}

/* The second least pair is in the block of the least, or the least of another block. Each person
 * begins elsewhere, as in rebuild_list. */
FOR_EACH_PROCESSOR
static struct two_least two_least_of_row(const struct state *s, size_t person)
{
    const cost_t *cost = row_of(s, person);
    size_t own = person * s->objects / s->persons, place = own % BLOCK;
    struct two_least found = two_least_blocks(s, cost, own / BLOCK);
    size_t first = found.object, other = found.second_object;
    cost_t key[BLOCK];
    if (found.least == COST_MAX)
        return no_pairs;
    reduce_block_of(s, cost, first, key);
    size_t k = index_of(key, found.least, place);
    found.object = first + k;
    key[k] = COST_MAX;
    cost_t second = least_of(key, BLOCK);
    if (second <= found.second) {
        found.second = second;
        found.second_object = second < COST_MAX ? first + index_of(key, second, place) : NONE;
    } else {
        reduce_block_of(s, cost, other, key);
        found.second_object = other + index_of(key, found.second, place);
    }
    return found;
}

/* Lists cost more than reading rows where more than one in so many bids finds its list too short,
 * besides a share of the persons. */
static bool lists_fail(const struct paths *p)
{
    return p->renewed > p->s->persons / PERSONS + p->asked / BIDS_PER_LIST;
}

/* At recorded prices. */
static struct two_least find_recorded(struct paths *p, size_t person)
{
    const struct state *s = p->s;
    if (p->bound == NULL || lists_fail(p))
        return s->start != NULL ? two_least_of_pairs(s, pairs_of(s, person))
                                : two_least_of_row(s, person);
    struct two_least found = two_least_of_pairs(s, list_of(p, person));
    p->asked++;
    if (found.second > p->bound[person]) {
        p->renewed++;
        TYPED(rebuild_list)(p, person);
        found = two_least_of_pairs(s, list_of(p, person));
    }
    return found;
}

struct two_least TYPED(find_two_least)(struct paths *p, size_t person)
{
    struct two_least found = find_recorded(p, person);
    while (found.object != NONE && is_price_outdated(p->s, found.object)) {
        set_dual(p->s, found.object, p->s->filler_price);
        found = find_recorded(p, person);
    }
    return found;
}

/* ---- auctions ---- */

/* Raises the object's price to epsilon above indifference with the second best. Returns the person
 * that held the object, or NONE. What it costs is not looked up: the assignment is discarded. */
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
    s->object_of[person] = object;
    s->person_of[object] = person;
    cost_t lead = found.second < COST_MAX ? found.second - found.least : 0;
    set_dual(s, object, s->dual[object] - lead - epsilon);
    return TYPED(displaced)(s, previous, object, epsilon);
}

static void unassign_persons(struct state *s)
{
    TYPED(unassign_all)(s);
    TYPED(place_fillers)(s);
}

/* False after too many bids: without a complete assignment they would never end. */
static bool hold_auction(struct paths *p, cost_t epsilon)
{
    size_t bids = 0;
    p->asked = p->renewed = 0;
    for (size_t k = 0; k < first_filler(p->s); k++) {
        size_t person = k;
        while (person != NONE) {
            if (bids++ / BIDS_PER_PERSON >= p->s->persons)
                return false;
            person = bid_of_person(p, person, epsilon);
        }
    }
    return true;
}

/* The least epsilon that is of use: 1 where all costs are integers, and whose multiples are added
 * without rounding. */
static double finest_epsilon(const struct state *s)
{
#ifdef LAP_INTEGER
    (void)s;
    return 1.0;
#else
    size_t persons = first_filler(s);
    size_t count = s->start != NULL ? s->start[persons] : persons * s->objects;
    double largest = 1.0;
    bool integral = true;
    for (size_t k = 0; k < count; k++) {
        if (s->cost[k] < COST_MAX && fabs(s->cost[k]) > largest)
            largest = fabs(s->cost[k]);
        integral = integral && floor(s->cost[k]) == s->cost[k];
    }
    double exact =
        ldexp(1.0, ilogb(largest * 64.0 * ((double)s->persons + 1.0)) + 1 - DBL_MANT_DIG);
    return integral ? fmax(exact, 1.0) : exact;
#endif
}

/* The lower quartile of a sample of the costs, less price and the person's least: what is the same
 * for all pairs of a person or object does not count, nor costs that no solution pays, even if most
 * pairs have these. The median where the quartile is 0, and with fillers, where that of some is far
 * below what is paid for most objects. */
static double scale_of_costs(struct paths *p, cost_t *sample)
{
    const struct state *s = p->s;
    size_t count = 0;
    for (size_t j = 0; j < first_filler(s); j++) {
        struct pairs pairs = pairs_of(s, j);
        size_t k = pairs.count > 0 ? j % pairs.count : 0;
        if (pairs.count > 0 && pairs.cost[k] < COST_MAX)
            sample[count++] =
                pairs.cost[k] - s->price[object_at(pairs, k)] - TYPED(find_two_least)(p, j).least;
    }
    if (count == 0)
        return 0.0;
    cost_t quartile = s->fillers == 0 ? select_least(sample, count, count / 4) : 0;
    return (double)(quartile > 0 ? quartile : select_least(sample, count, count / 2));
}

/* A power of two, so that integral costs keep integral prices as long as epsilon is at least 1. */
static double first_epsilon(struct paths *p, cost_t *sample)
{
    double scale = scale_of_costs(p, sample);
    return scale > 0.0 ? ldexp(1.0, ilogb(scale / 2)) : 0.0;
}

/* In arrays that only searches use. */
static void save(struct state *s)
{
    for (size_t i = 0; i < s->objects; i++) {
        s->settled_at[i] = s->dual[i];
        s->order[i] = s->person_of[i];
    }
}

/* Prices rise, so that partial lists must be built again. */
static void restore(struct paths *p)
{
    struct state *s = p->s;
    for (size_t i = 0; i < s->objects; i++) {
        set_dual(s, i, s->settled_at[i]);
        s->person_of[i] = s->order[i];
        if (!is_free(s, i))
            s->object_of[s->person_of[i]] = i;
    }
    for (size_t j = 0; j < s->persons && p->bound != NULL; j++)
        TYPED(rebuild_list)(p, j);
    p->asked = p->renewed = 0;
}

/* Where one auction wore out most lists, they are longer in the next. */
static int lengthen_worn_lists(struct paths *p)
{
    return TYPED(may_lengthen)(p) && lists_fail(p) ? TYPED(lengthen_lists)(p) : 0;
}

/* Whether the auction came to an end; if not, it has no effect. */
static bool try_auction(struct paths *p, double epsilon)
{
    save(p->s);
    unassign_persons(p->s);
    if (hold_auction(p, (cost_t)epsilon))
        return true;
    TYPED(unassign_all)(p->s);
    restore(p);
    return false;
}

static bool may_raise(const struct state *s, double epsilon)
{
    return s->start != NULL && epsilon < -(double)PRICE_FLOOR / FLOOR_PART / RAISE;
}

/* The same of the first auction; `epsilon` becomes the one it was held with. */
static bool try_first_auction(struct paths *p, double *epsilon)
{
    if (try_auction(p, *epsilon))
        return true;
    if (!may_raise(p->s, *epsilon))
        return false;
    *epsilon *= RAISE;
    return try_auction(p, *epsilon);
}

int TYPED(hold_auctions)(struct paths *p)
{
    const size_t settled = p->settled, scanned = p->scanned;
    double epsilon = first_epsilon(p, p->base);
    double last = fmax(epsilon / (double)p->s->persons / FINENESS, finest_epsilon(p->s));
    int rc = 0;
    p->auctioned = true;
    p->settled = p->scanned = 0;
    p->recent = (struct steps){0};
    p->by_rows = lacks_lists(p);
    bool sold = epsilon >= last && try_first_auction(p, &epsilon);
    const bool held = sold;
    while (rc == 0 && sold && epsilon / EPSILON_STEP >= last) {
        rc = lengthen_worn_lists(p);
        epsilon /= EPSILON_STEP;
        sold = rc == 0 && try_auction(p, epsilon);
    }
    if (rc != 0)
        return rc;
    if (held || p->s->fillers > 0)
        unassign_persons(p->s);
    if (held)
        return 1;
    p->settled = settled;
    p->scanned = scanned;
    return 0;
}
