/* SPDX-License-Identifier: BSD-3-Clause */
/* APC and APS of Carpaneto, Martello and Toth. See doc/lap.md. */
#include "lap/reduction.h"
#include "lap/search.h"

static int TYPED(reduce_and_augment)(struct state *s, bool with_heap)
{
    struct search search;
    int rc = TYPED(search_init)(&search, s, with_heap);
    if (rc != 0)
        return rc;
    TYPED(column_reduction)(s);
    rc = TYPED(exchange)(s);
    return rc == 0 ? TYPED(augment_all)(&search) : rc;
}

int TYPED(apc)(struct state *s)
{
    return TYPED(reduce_and_augment)(s, false);
}

int TYPED(aps)(struct state *s)
{
    return TYPED(reduce_and_augment)(s, true);
}
