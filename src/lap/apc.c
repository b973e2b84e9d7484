/* SPDX-License-Identifier: BSD-3-Clause */
/* APC of Carpaneto, Martello and Toth, for complete matrices. See doc/apc.md. */
#include "lap/reduction.h"
#include "lap/search.h"

int TYPED(apc)(struct state *s)
{
    struct search search;
    int rc = TYPED(search_init)(&search, s, false);
    if (rc != 0)
        return rc;
    TYPED(column_reduction)(s);
    rc = TYPED(exchange)(s);
    return rc == 0 ? TYPED(augment_all)(&search) : rc;
}
