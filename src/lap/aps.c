/* SPDX-License-Identifier: BSD-3-Clause */
/* APS of Carpaneto, Martello and Toth, for sparse matrices. See doc/aps.md. */
#include "lap/auction.h"
#include "lap/reduction.h"

#include <errno.h>

/* The paper's first phase again, from prices that spare long searches. */
static int start_again(struct paths *p)
{
    size_t *waiting = TYPED(allocate)(p->s, p->s->persons, sizeof *waiting);
    if (waiting == NULL)
        return -ENOMEM;
    TYPED(hold_auctions)(p, waiting);
    return TYPED(exchange)(p->s);
}

static int augment_all(struct paths *p)
{
    int rc = 0;
    for (size_t j = 0; j < p->s->persons && rc == 0; j++) {
        if (p->s->object_of[j] != NONE)
            continue;
        rc = TYPED(augment)(p, j);
        if (rc == 0 && is_laborious(p)) {
            rc = start_again(p);
            j = NONE;
        }
    }
    return rc;
}

static int carpaneto_martello_toth(struct state *s)
{
    struct paths paths;
    int rc = TYPED(paths_init)(&paths, s, s->objects);
    if (rc == 0)
        rc = TYPED(reduce_and_exchange)(s);
    return rc == 0 ? augment_all(&paths) : rc;
}

int TYPED(aps)(const lap_problem *problem, lap_solution *solution);
int TYPED(aps)(const lap_problem *problem, lap_solution *solution)
{
    return TYPED(run)(problem, solution, carpaneto_martello_toth);
}

#ifndef LAP_INTEGER
SOLVER_OF_BOTH_KINDS(aps)
#endif
