/* SPDX-License-Identifier: BSD-3-Clause */
/* The least cost of each object, found while the costs are checked. */
#include "lap/least.h"

#include "lap/check.h"
#include "lap/vector.h"

#include <errno.h>

FOR_EACH_PROCESSOR
static void lower_least_dense(struct state *s, size_t person)
{
    const cost_t *cost = s->cost + person * s->objects;
    cost_t *least = s->least;
    size_t *of = s->person_of_least, whole = s->objects - s->objects % BLOCK;
    for (size_t i = 0; i < whole; i += BLOCK)
        lower_whole_block(cost + i, least + i, of + i, person);
    for (size_t i = whole; i < s->objects; i++) {
        of[i] = cost[i] < least[i] ? person : of[i];
        least[i] = lesser(cost[i], least[i]);
    }
}

static void lower_least_sparse(struct state *s, size_t person)
{
    for (size_t k = s->start[person]; k < s->start[person + 1]; k++) {
        size_t i = s->entry_object[k];
        s->person_of_least[i] = s->cost[k] < s->least[i] ? person : s->person_of_least[i];
        s->least[i] = lesser(s->cost[k], s->least[i]);
    }
}

static int allocate_least(struct state *s)
{
    s->least = base_arena_alloc(&s->arena, s->objects, sizeof *s->least);
    s->person_of_least = base_arena_alloc(&s->arena, s->objects, sizeof *s->person_of_least);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t i = 0; i < s->objects; i++) {
        s->least[i] = COST_MAX;
        s->person_of_least[i] = NONE;
    }
    return 0;
}

/* A row of costs is checked and then read again while it is in the cache. */
int TYPED(check_and_find_least)(struct state *s)
{
    int rc = allocate_least(s);
    for (size_t j = 0; j < s->persons && rc == 0; j++) {
        struct pairs pairs = pairs_of(s, j);
        rc = TYPED(check)(s->problem, pairs.cost, pairs.count);
        if (rc == 0 && pairs.object == NULL)
            lower_least_dense(s, j);
        else if (rc == 0)
            lower_least_sparse(s, j);
    }
    return rc;
}
