/* SPDX-License-Identifier: BSD-3-Clause */
/* APS of Carpaneto, Martello and Toth, for sparse matrices. See doc/aps.md. */
#include "lap/reduction.h"
#include "lap/search.h"

int TYPED(aps)(struct state *s)
{
    struct search search;
    int rc = TYPED(search_init)(&search, s, true);
    if (rc != 0)
        return rc;
    TYPED(column_reduction)(s);
    rc = TYPED(exchange)(s);
    return rc == 0 ? TYPED(augment_all)(&search) : rc;
}
