/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Access to memory. For the solvers only.
 */
#ifndef LAP_PROCESSOR_H
#define LAP_PROCESSOR_H

#include "base/processor.h"

/* While one block of 32 costs is read, fetches the eighth after it: processors do not look beyond
 * a page. Of no effect beyond the end of the costs. */
static inline void fetch_ahead(const void *block)
{
    enum { LINE = 64, BYTES = 256, AHEAD = 8 * BYTES };
    for (const char *line = block, *end = line + BYTES; line < end; line += LINE)
        __builtin_prefetch(line + AHEAD);
}

#endif
