/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shortest augmenting paths over lists of pairs, with a heap. For the solvers only.
 *
 * A list may be partial: it then has a bound, and every pair that is not in it has a cost
 * less price of at least that. Prices never rise, so the bound holds until it is raised.
 */
#ifndef LAP_PATHS_H
#define LAP_PATHS_H

#include "lap/state.h"

struct listed {
    cost_t cost;
    size_t object;
};

struct node {
    cost_t key;
    size_t id; /* an object, or objects + a person whose list is to be exceeded */
};

struct paths {
    struct state *s;

    /* The list of a person is entry[start[person]] .. entry[end[person] - 1]. */
    struct listed *entry;
    size_t *start, *end;
    cost_t *bound; /* NULL: all lists are complete */
    size_t width;  /* pairs that a partial list has at least, if they are allowed */
    size_t room;   /* and at most */
    cost_t *key;   /* cost less price of each pair, while a list is made */

    bool ready;   /* dist is set for the first search */
    cost_t *dist; /* COST_MAX: not reached; COST_MIN: settled */
    cost_t *base; /* what a person's reduced costs lose on the way */
    size_t *touched;
    size_t reached;
    struct node *heap;
    size_t heaped;
    size_t *place; /* of each id in the heap, from 1; 0: not there */
    cost_t limit;  /* the distance of nearest, an open object; COST_MAX: none yet */
    size_t nearest;
    size_t effort;  /* in all searches: objects settled, blocks of costs read */
    bool auctioned; /* the prices are those of auctions */
};

/* Allocates what a search needs, and partial lists for dense costs, of `width`
 * pairs or more, still empty; or complete lists. -ENOMEM. */
int TYPED(paths_init)(struct paths *p, struct state *s, size_t width);

/* Makes the list of a person anew, of the pairs that are best at today's prices. */
void TYPED(refresh)(struct paths *p, size_t person);

/* Gives an object to a person by a shortest path; 0 or LAP_INFEASIBLE. */
int TYPED(augment)(struct paths *p, size_t person);

#endif
