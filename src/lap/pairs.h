/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pairs of a person. For the solvers only.
 */
#ifndef LAP_PAIRS_H
#define LAP_PAIRS_H

#include "lap/state.h"

/* Fillers are the last persons. */
static inline size_t first_filler(const struct state *s)
{
    return s->persons - s->fillers;
}

static inline bool is_filler(const struct state *s, size_t person)
{
    return person >= first_filler(s);
}

/* Costs of all pairs of a person, of a dense problem, or of a filler. */
static inline const cost_t *row_of(const struct state *s, size_t person)
{
    return is_filler(s, person) ? s->zeros : s->cost + person * s->objects;
}

/* A person's pairs: `count` consecutive costs, for objects 0, 1, ... where object is NULL. */
struct pairs {
    const cost_t *cost;
    const size_t *object;
    size_t count;
};

static inline struct pairs pairs_of(const struct state *s, size_t person)
{
    if (s->start == NULL || is_filler(s, person))
        return (struct pairs){row_of(s, person), NULL, s->objects};
    size_t first = s->start[person];
    return (struct pairs){s->cost + first, s->entry_object + first, s->start[person + 1] - first};
}

static inline size_t object_at(struct pairs pairs, size_t k)
{
    return pairs.object != NULL ? pairs.object[k] : k;
}

#endif
