/* SPDX-License-Identifier: BSD-3-Clause */
/* APS of Carpaneto, Martello and Toth, for sparse matrices. See doc/aps.md. */
#include "lap/auction.h"
#include "lap/reduction.h"

#include <errno.h>

/* The paper's first phase again, from prices that make searches short. */
static int aps_restart(struct paths *p)
{
    int rc = TYPED(hold_auctions)(p);
    return rc > 0 ? TYPED(exchange)(p->s, NULL, NONE) : rc;
}

int TYPED(aps)(struct state *s)
{
    struct paths paths;
    int rc = TYPED(paths_init)(&paths, s, s->objects);
    if (rc == 0)
        rc = TYPED(reduce_and_exchange)(s);
    for (size_t j = 0; j < s->persons && rc == 0; j++) {
        if (s->object_of[j] != NONE)
            continue;
        rc = TYPED(augment)(&paths, j);
        if (rc == 0 && all_assigned(s) && auctions_pay(&paths, j + 1, s->persons)) {
            rc = aps_restart(&paths);
            j = NONE;
        }
    }
    return rc;
}
