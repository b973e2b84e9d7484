/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shortest augmenting paths over lists of pairs, with a heap. For the solvers only.
 *
 * A list may be partial: it then has a bound, and every pair outside it has at least that reduced
 * cost. Prices never rise, so the bound remains valid.
 */
#ifndef LAP_PATHS_H
#define LAP_PATHS_H

#include "lap/node.h"
#include "lap/search.h"

/* Objects that were settled, whole rows that were scanned, and changes of the heap. */
struct steps {
    size_t settled, scanned, pushed;
};

struct paths {
    struct state *s;

    /* Partial lists: that of a person is the first length[person] costs from
     * cost[person * capacity] on, and their objects. All NULL: lists are complete, each the
     * person's pairs as they are. */
    cost_t *cost;
    size_t *object, *length;
    cost_t *bound;
    size_t width;    /* least length of a partial list, with so many pairs; short rows: <= 32 */
    size_t capacity; /* greatest length of a partial list */
    cost_t *key;     /* reduced cost of each pair, while a list is built */
    cost_t *least;   /* by block of objects: the least reduced cost */
    size_t asked, renewed; /* how often lists were asked for the cheapest objects, and too short */

    bool ready;   /* dist is initialised */
    cost_t *dist; /* COST_MAX: not reached; COST_MIN: settled */
    cost_t *base; /* by person: subtracted from its reduced costs */
    size_t *touched;
    size_t reached;
    struct node *heap; /* of objects, and of objects + a person whose whole row is to be scanned */
    size_t heaped;
    size_t *position; /* by id: index in the heap + 1; 0: not in the heap */
    size_t *queue;    /* objects at the distance `radius`, which need no heap */
    size_t queue_first, queue_end;
    cost_t radius; /* distance of what was settled last */
    cost_t limit;  /* distance of `nearest`, an open object; COST_MAX: none yet */
    size_t nearest;
    size_t settled, scanned; /* objects, and whole rows of persons, in all searches */
    struct steps recent;     /* in the last searches, for the judgement of lists */
    bool by_rows;            /* no lists, or too short ones: searches are over whole rows */
    bool auctioned;          /* the prices are those of auctions */
};

/* Allocates the search and, where persons have more than twice `width` pairs, empty partial lists;
 * none for dense costs and width 0. -ENOMEM. */
int TYPED(paths_init)(struct paths *p, struct state *s, size_t width);

/* The list of a person; pairs of complete lists may be forbidden. */
static inline struct pairs list_of(const struct paths *p, size_t person)
{
    if (p->bound == NULL)
        return pairs_of(p->s, person);
    size_t first = person * p->capacity;
    return (struct pairs){p->cost + first, p->object + first, p->length[person]};
}

/* Whether there are whole rows only. */
static inline bool lacks_lists(const struct paths *p)
{
    return p->s->start == NULL && p->bound == NULL;
}

/* Rebuilds the partial list of a person from the pairs of least reduced cost at current prices. */
void TYPED(rebuild_list)(struct paths *p, size_t person);

/* Whether rows are long enough for longer partial lists, and there are any. */
bool TYPED(may_lengthen)(const struct paths *p);

/* Lists of twice the width; until they are renewed they are as they were. 0 or -ENOMEM, after which
 * the problem cannot be solved. */
int TYPED(lengthen_lists)(struct paths *p);

/* Assigns an object to a person by a shortest path; then judges the lists. 0, LAP_INFEASIBLE or
 * -ENOMEM. */
int TYPED(augment)(struct paths *p, size_t person);

#endif
