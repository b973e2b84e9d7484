/* SPDX-License-Identifier: BSD-3-Clause */
/* The costs are checked, and the least of each object is found, row by row. The least costs so far
 * are prices that never rise, so that a list by these prices remains valid. */
#include "lap/least.h"

#include "lap/check.h"
#include "lap/vector.h"

#include <errno.h>

/* Above all costs that are allowed, and finite, as it serves as a price. */
#ifdef LAP_INTEGER
#define NO_COST_YET INT64_MAX
#else
#define NO_COST_YET DBL_MAX
#endif

FOR_EACH_PROCESSOR
static void lower_least_dense(struct state *s, size_t person)
{
    const cost_t *cost = s->cost + person * s->objects;
    cost_t *least = s->price;
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
        s->person_of_least[i] = s->cost[k] < s->price[i] ? person : s->person_of_least[i];
        s->price[i] = lesser(s->cost[k], s->price[i]);
    }
}

static int begin_least(struct state *s)
{
    s->person_of_least = base_arena_alloc(&s->arena, s->objects, sizeof *s->person_of_least);
    if (s->person_of_least == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->objects; i++) {
        s->price[i] = NO_COST_YET;
        s->person_of_least[i] = NONE;
    }
    return 0;
}

/* An object that no person may have keeps no price. */
static void end_least(struct state *s)
{
    for (size_t i = 0; i < s->objects; i++)
        set_dual(s, i, s->person_of_least[i] != NONE ? s->price[i] : 0);
}

static int read_list(struct state *s)
{
    int rc = TYPED(check)(s->problem, s->cost, s->start[s->persons]);
    for (size_t j = 0; j < s->persons && rc == 0 && all_assigned(s); j++)
        lower_least_sparse(s, j);
    return rc;
}

static int read_rows(struct state *s, struct paths *lists)
{
    int rc = 0;
    for (size_t j = 0; j < s->persons && rc == 0; j++) {
        rc = TYPED(check)(s->problem, row_of(s, j), s->objects);
        if (rc == 0 && all_assigned(s))
            lower_least_dense(s, j);
        if (rc == 0 && lists != NULL && lists->bound != NULL)
            TYPED(rebuild_list)(lists, j);
    }
    return rc;
}

int TYPED(read_costs)(struct state *s, struct paths *lists)
{
    int rc = all_assigned(s) ? begin_least(s) : 0;
    if (rc == 0)
        rc = s->start != NULL ? read_list(s) : read_rows(s, lists);
    if (rc == 0 && all_assigned(s))
        end_least(s);
    return rc;
}
