/* SPDX-License-Identifier: BSD-3-Clause */
/* With n persons, only the n + 1 cheapest objects of each can matter. See doc/lap.md. */
#include "lap/candidates.h"

#include "lap/check.h"
#include "lap/pairs.h"
#include "lap/select.h"
#include "lap/vector.h"

#include <errno.h>

/* CELL: objects of which only the least cost is recorded at first. PIECE: objects whose costs are
 * checked and then read again while they are in the first-level cache. */
enum { CELL = 4 * BLOCK, PIECE = 16 * CELL };

/* Keys per required candidate from which a bound is selected: more keys give a closer bound. */
enum { KEYS_PER_CANDIDATE = 8 };

_Static_assert(WIDE >= 2 * CELL, "a wide problem has a cell for each required candidate");

struct candidates {
    struct state *s;
    size_t required; /* per person */
    size_t cells;

    /* Of the current person. */
    cost_t *least; /* by cell */
    cost_t *key;   /* for selections, which reorder it */
    size_t *near;  /* objects: at least the required ones */

    /* The candidates of all persons: the reduced problem. */
    size_t *start;
    size_t *object;
    cost_t *cost;

    /* The objects of the reduced problem: a bit each, and by word the number of those before. */
    uint64_t *chosen;
    size_t *before;
};

enum { WORD = 64 };

static int init_choice(struct candidates *c)
{
    struct base_arena *arena = &c->s->arena;
    size_t objects = c->s->objects, words = objects / WORD + 1;
    c->key = base_arena_alloc(arena, objects, sizeof *c->key);
    c->near = base_arena_alloc(arena, objects, sizeof *c->near);
    c->chosen = base_arena_alloc(arena, words, sizeof *c->chosen);
    c->before = base_arena_alloc(arena, words, sizeof *c->before);
    return arena->failed ? -ENOMEM : 0;
}

static int init_candidates(struct candidates *c)
{
    struct base_arena *arena = &c->s->arena;
    size_t entries, objects = c->s->objects, persons = c->s->persons;
    c->required = persons + 1;
    c->cells = (objects + CELL - 1) / CELL;
    if (__builtin_mul_overflow(persons, c->required, &entries))
        return -ENOMEM;
    c->least = base_arena_alloc(arena, c->cells, sizeof *c->least);
    c->start = base_arena_alloc(arena, persons + 1, sizeof *c->start);
    c->object = base_arena_alloc(arena, entries, sizeof *c->object);
    c->cost = base_arena_alloc(arena, entries, sizeof *c->cost);
    return init_choice(c);
}

/* ---- the cheapest objects of a person ---- */

FOR_EACH_PROCESSOR
static void find_least_of_cells(const cost_t *cost, size_t count, cost_t *least)
{
    size_t whole = count / CELL;
    for (size_t b = 0; b < whole; b++)
        least[b] = least_of(cost + b * CELL, CELL);
    for (size_t k = whole * CELL; k < count; k++)
        least[whole] = k == whole * CELL ? cost[k] : lesser(cost[k], least[whole]);
}

static int check_cells(struct candidates *c, const cost_t *cost)
{
    int rc = 0;
    for (size_t first = 0; first < c->s->objects && rc == 0; first += PIECE) {
        size_t count = c->s->objects - first < PIECE ? c->s->objects - first : PIECE;
        rc = TYPED(check)(c->s->problem, cost + first, count);
        find_least_of_cells(cost + first, count, c->least + first / CELL);
    }
    return rc;
}

/* At least the required number of objects cost no more than this bound: one in each of as many runs
 * of cells. */
static cost_t bound_of_candidates(struct candidates *c)
{
    size_t run = c->cells / (KEYS_PER_CANDIDATE * c->required);
    size_t keys = 0;
    for (size_t b = 0; b < c->cells; keys++) {
        c->key[keys] = COST_MAX;
        for (size_t end = b + (run > 0 ? run : 1); b < end && b < c->cells; b++)
            c->key[keys] = lesser(c->least[b], c->key[keys]);
    }
    return select_least(c->key, keys, c->required - 1);
}

static size_t collect_near_objects(struct candidates *c, const cost_t *cost, cost_t bound)
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

/* Keeps the required objects of least cost, the first ones on a tie. */
static size_t keep_cheapest(struct candidates *c, const cost_t *cost, size_t found)
{
    for (size_t k = 0; k < found; k++)
        c->key[k] = cost[c->near[k]];
    cost_t dearest = select_least(c->key, found, c->required - 1);
    size_t equal = c->required, kept = 0;
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

static void mark_chosen(struct candidates *c, size_t object)
{
    c->chosen[object / WORD] |= UINT64_C(1) << object % WORD;
}

static int list_candidates(struct candidates *c, size_t person)
{
    const cost_t *cost = c->s->cost + person * c->s->objects;
    int rc = check_cells(c, cost);
    if (rc != 0)
        return rc;
    size_t count = collect_near_objects(c, cost, bound_of_candidates(c)), used = c->start[person];
    if (count > c->required)
        count = keep_cheapest(c, cost, count);
    for (size_t k = 0; k < count; k++) {
        c->object[used] = c->near[k];
        c->cost[used++] = cost[c->near[k]];
        mark_chosen(c, c->near[k]);
    }
    c->start[person + 1] = used;
    return 0;
}

/* ---- the reduced problem ---- */

static bool is_chosen(const struct candidates *c, size_t object)
{
    return c->chosen[object / WORD] >> object % WORD & 1;
}

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

/* One more object than there are persons, so that some object remains free here too. */
static size_t choose_enough(struct candidates *c)
{
    size_t count = count_chosen(c);
    for (size_t i = 0; count < c->required; i++) {
        count += !is_chosen(c, i);
        mark_chosen(c, i);
    }
    return count_chosen(c);
}

static int replace_problem(struct candidates *c)
{
    struct state *s = c->s;
    size_t count = choose_enough(c);
    size_t *whole = base_arena_alloc(&s->arena, count, sizeof *whole);
    if (whole == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->objects; i++)
        if (is_chosen(c, i))
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

int TYPED(reduce_to_candidates)(struct state *s)
{
    struct candidates c = {.s = s};
    int rc = init_candidates(&c);
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        rc = list_candidates(&c, j);
    if (rc != 0)
        return rc;
    return replace_problem(&c);
}

/* ---- a dense problem stays dense ---- */

static void choose_cheapest(struct candidates *c, size_t person)
{
    const cost_t *cost = row_of(c->s, person);
    size_t found = 0;
    for (size_t i = 0; i < c->s->objects; i++) {
        c->near[found] = i;
        found += cost[i] < COST_MAX;
    }
    if (found > c->required)
        found = keep_cheapest(c, cost, found);
    for (size_t k = 0; k < found; k++)
        mark_chosen(c, c->near[k]);
}

/* So that what is dropped is unassigned, and at a price of 0. */
static void choose_assigned(struct candidates *c)
{
    for (size_t i = 0; i < c->s->objects; i++)
        if (!is_free(c->s, i))
            mark_chosen(c, i);
}

static int copy_chosen(struct candidates *c)
{
    struct state *s = c->s;
    size_t kept = 0, count = choose_enough(c);
    size_t *whole = base_arena_alloc(&s->arena, count, sizeof *whole);
    cost_t *copy = base_arena_alloc(&s->arena, s->persons * count, sizeof *copy);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t i = 0; i < s->objects; i++)
        if (is_chosen(c, i))
            whole[kept++] = i;
    for (size_t j = 0; j < s->persons; j++)
        for (size_t k = 0; k < count; k++)
            copy[j * count + k] = row_of(s, j)[whole[k]];
    for (size_t k = 0; k < count; k++) {
        s->person_of[k] = s->person_of[whole[k]];
        s->paid[k] = s->paid[whole[k]];
        set_dual(s, k, s->dual[whole[k]]);
        if (!is_free(s, k))
            s->object_of[s->person_of[k]] = k;
    }
    s->cost = copy;
    s->objects = count;
    s->whole_object = whole;
    return 0;
}

int TYPED(drop_objects)(struct state *s)
{
    struct candidates c = {.s = s, .required = s->persons + 1};
    int rc = init_choice(&c);
    if (rc != 0)
        return rc;
    for (size_t j = 0; j < s->persons; j++)
        choose_cheapest(&c, j);
    choose_assigned(&c);
    return copy_chosen(&c);
}
