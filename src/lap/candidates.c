/* SPDX-License-Identifier: BSD-3-Clause */
/* Of many objects few can matter: with n persons, the n + 1 cheapest of each. See doc/lap.md. */
#include "lap/candidates.h"

#include "lap/check.h"
#include "lap/vector.h"

#include <errno.h>

/* Objects of which only the least cost is kept at first; cells that are checked and then read, so
 * that they are found in the nearest cache. */
enum { CELL = 4 * BLOCK, PIECE = 16 * CELL };

/* Keys to select a bound from, for each candidate that is wanted: more make a closer bound. */
enum { KEYS_PER_CANDIDATE = 8 };

_Static_assert(WIDE >= 2 * CELL, "a wide problem has a cell for each candidate that is wanted");

struct candidates {
    struct state *s;
    size_t wanted; /* of each person */
    size_t cells;
    cost_t *least; /* of each cell of the person at hand */
    cost_t *key;   /* for selections; their order is lost */
    size_t *near;  /* objects of the person at hand, more than are wanted */

    /* The lists. */
    size_t *start;
    size_t *object;
    cost_t *cost;

    /* The objects that stay: a bit for each, and how many there are before those of a word. */
    uint64_t *chosen;
    size_t *before;
};

enum { WORD = 64 };

static int allocate(struct candidates *c)
{
    struct state *s = c->s;
    size_t entries, words = s->objects / WORD + 1;
    c->wanted = s->persons + 1;
    c->cells = (s->objects + CELL - 1) / CELL;
    if (__builtin_mul_overflow(s->persons, c->wanted, &entries))
        return -ENOMEM;
    c->least = TYPED(allocate)(s, c->cells, sizeof *c->least);
    c->key = TYPED(allocate)(s, s->objects, sizeof *c->key);
    c->near = TYPED(allocate)(s, s->objects, sizeof *c->near);
    c->start = TYPED(allocate)(s, s->persons + 1, sizeof *c->start);
    c->object = TYPED(allocate)(s, entries, sizeof *c->object);
    c->cost = TYPED(allocate)(s, entries, sizeof *c->cost);
    c->chosen = TYPED(allocate)(s, words, sizeof *c->chosen);
    c->before = TYPED(allocate)(s, words, sizeof *c->before);
    bool complete = c->least != NULL && c->key != NULL && c->near != NULL && c->start != NULL &&
                    c->object != NULL && c->cost != NULL && c->chosen != NULL && c->before != NULL;
    return complete ? 0 : -ENOMEM;
}

/* ---- the cheapest objects of a person ---- */

static void swap(cost_t *a, cost_t *b)
{
    cost_t other = *a;
    *a = *b;
    *b = other;
}

/* The k-th least, from 0. Pivots are drawn, so that no order that is likely in costs makes it slow.
 */
static cost_t select_least(cost_t *key, size_t count, size_t k)
{
    uint64_t drawn = 1;
    size_t low = 0, high = count;
    for (;;) {
        drawn = drawn * UINT64_C(6364136223846793005) + 1;
        cost_t pivot = key[low + (size_t)(drawn >> 33) % (high - low)];
        size_t equal = low, greater = high;
        for (size_t i = low; i < greater;)
            if (key[i] < pivot)
                swap(&key[i++], &key[equal++]);
            else if (pivot < key[i])
                swap(&key[i], &key[--greater]);
            else
                i++;
        if (k >= equal && k < greater)
            return pivot;
        *(k < equal ? &high : &low) = k < equal ? equal : greater;
    }
}

FOR_EACH_PROCESSOR
static void find_least_of_cells(const cost_t *cost, size_t count, cost_t *least)
{
    size_t whole = count / CELL;
    for (size_t b = 0; b < whole; b++)
        least[b] = least_of(cost + b * CELL, CELL);
    for (size_t k = whole * CELL; k < count; k++)
        least[whole] = k == whole * CELL ? cost[k] : lesser(cost[k], least[whole]);
}

static int read_costs(struct candidates *c, const cost_t *cost)
{
    int rc = 0;
    for (size_t first = 0; first < c->s->objects && rc == 0; first += PIECE) {
        size_t count = c->s->objects - first < PIECE ? c->s->objects - first : PIECE;
        rc = TYPED(check)(c->s->problem, cost + first, count);
        find_least_of_cells(cost + first, count, c->least + first / CELL);
    }
    return rc;
}

/* At least as many objects as are wanted cost no more than this: each of the least of so many
 * parts. */
static cost_t bound_of_candidates(struct candidates *c)
{
    size_t together = c->cells / (KEYS_PER_CANDIDATE * c->wanted);
    size_t keys = 0;
    for (size_t b = 0; b < c->cells; keys++) {
        c->key[keys] = COST_MAX;
        for (size_t end = b + (together | !together); b < end && b < c->cells; b++)
            c->key[keys] = lesser(c->least[b], c->key[keys]);
    }
    return select_least(c->key, keys, c->wanted - 1);
}

static size_t collect_near(struct candidates *c, const cost_t *cost, cost_t bound)
{
    size_t found = 0;
    for (size_t b = 0; b < c->cells; b++) {
        if (c->least[b] > bound)
            continue;
        for (size_t i = b * CELL; i < c->s->objects && i < (b + 1) * CELL; i++) {
            c->near[found] = i;
            found += cost[i] <= bound && cost[i] < COST_MAX;
        }
    }
    return found;
}

/* Of those that cost as much as the dearest one wanted, the first. */
static size_t keep_cheapest(struct candidates *c, const cost_t *cost, size_t found)
{
    for (size_t k = 0; k < found; k++)
        c->key[k] = cost[c->near[k]];
    cost_t dearest = select_least(c->key, found, c->wanted - 1);
    size_t equal = c->wanted, kept = 0;
    for (size_t k = 0; k < found; k++)
        equal -= cost[c->near[k]] < dearest;
    for (size_t k = 0; k < found; k++) {
        cost_t its = cost[c->near[k]];
        if (its < dearest || (its == dearest && equal > 0)) {
            equal -= its == dearest;
            c->near[kept++] = c->near[k];
        }
    }
    return kept;
}

static void choose(struct candidates *c, size_t object)
{
    c->chosen[object / WORD] |= UINT64_C(1) << object % WORD;
}

static int list_candidates(struct candidates *c, size_t person)
{
    const cost_t *cost = c->s->cost + person * c->s->objects;
    int rc = read_costs(c, cost);
    if (rc != 0)
        return rc;
    size_t count = collect_near(c, cost, bound_of_candidates(c)), used = c->start[person];
    if (count > c->wanted)
        count = keep_cheapest(c, cost, count);
    for (size_t k = 0; k < count; k++) {
        c->object[used] = c->near[k];
        c->cost[used++] = cost[c->near[k]];
        choose(c, c->near[k]);
    }
    c->start[person + 1] = used;
    return 0;
}

/* ---- the smaller problem ---- */

static size_t number_of(const struct candidates *c, size_t object)
{
    uint64_t lower = c->chosen[object / WORD] & ((UINT64_C(1) << object % WORD) - 1);
    return c->before[object / WORD] + (size_t)__builtin_popcountll(lower);
}

static size_t count_chosen(struct candidates *c)
{
    size_t count = 0;
    for (size_t w = 0; w <= c->s->objects / WORD; w++) {
        c->before[w] = count;
        count += (size_t)__builtin_popcountll(c->chosen[w]);
    }
    return count;
}

static int use_lists(struct candidates *c)
{
    struct state *s = c->s;
    size_t count = count_chosen(c);
    size_t *whole = TYPED(allocate)(s, count, sizeof *whole);
    if (whole == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->objects; i++)
        if (c->chosen[i / WORD] >> i % WORD & 1)
            whole[number_of(c, i)] = i;
    for (size_t k = 0; k < c->start[s->persons]; k++)
        c->object[k] = number_of(c, c->object[k]);
    s->cost = c->cost;
    s->start = c->start;
    s->entry_object = c->object;
    s->objects = count;
    s->whole_object = whole;
    return 0;
}

int TYPED(keep_candidates)(struct state *s)
{
    struct candidates c = {.s = s};
    int rc = allocate(&c);
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        rc = list_candidates(&c, j);
    if (rc != 0)
        return rc;
    /* One more object than there are persons, so that some stay free in this problem too. */
    for (size_t i = 0; i < c.wanted; i++)
        choose(&c, i);
    return use_lists(&c);
}
