/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The least cut of several placements. Private to this folder.
 */
#ifndef SETMATCH_CONTEST_H
#define SETMATCH_CONTEST_H

#include "base/arena.h"
#include "setmatch/candidates.h"

/* The best placement so far, the earlier one on a tie, and one that is being made. */
typedef struct contest {
    const affinity *ranks;
    const site *site;
    struct base_arena arena;
    size_t *best, *trial;
    int64_t cut;      /* of the best one; INT64_MAX: none */
    size_t confirmed; /* number of times that the least cut was found again */
    size_t work;      /* so far: visits of vertices */
} contest;

/* Borrows the ranks and the site. Release the contest, also after an error. -ENOMEM. */
int contest_init(contest *c, const affinity *ranks, const site *s);

/* With the best placement of another contest. */
int contest_copy(contest *c, const contest *other);

void contest_release(contest *c);

/* Sets the trial to the best placement. */
void contest_try_best(contest *c);

/* Refines the trial. -ENOMEM. */
int contest_refine(contest *c, size_t variant);

/* Exchanges the best placement and the trial. */
void contest_swap(contest *c);

/* The trial becomes the best placement if its cut is less. Its values are undefined after that.
 * independent: it was made without the help of the best one. A cut that several such trials have is
 * unlikely to be improved. */
void contest_enter(contest *c, bool independent);

/* Searches for a smaller cut, from the best placement. Searches of different numbers look
 * elsewhere; number 0 places forests by their own method instead of bisections. A run of annealing
 * takes one of so many parts of the work of normal effort, and beyond that of the work so far: high
 * effort continues with longer runs. -ENOMEM. */
int search_further(contest *c, const search_rules *rules, size_t number, size_t parts);

#endif
