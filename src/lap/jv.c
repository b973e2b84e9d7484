/* SPDX-License-Identifier: BSD-3-Clause */
/* Jonker and Volgenant's shortest augmenting paths, rectangular. See doc/lap.md. */
#include "lap/reduction.h"
#include "lap/search.h"

int TYPED(jv)(struct state *s)
{
    struct search search;
    int rc = TYPED(search_init)(&search, s, true);
    if (rc != 0)
        return rc;
    TYPED(column_reduction)(s);
    TYPED(reduction_transfer)(s);
    TYPED(augmenting_row_reduction)(s);
    return TYPED(augment_all)(&search);
}
