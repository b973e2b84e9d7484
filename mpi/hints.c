/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/hints.h"

#include "mpi/process.h"

void front_hints_take(front_hints *hints, MPI_Info info, bool reports)
{
    char text[MPI_MAX_INFO_VAL + 1];
    for (enum coll_hint i = 0; info != MPI_INFO_NULL && i < COLL_HINTS; i++) {
        int is_set = 0;
        PMPI_Info_get(info, coll_hint_name(i), MPI_MAX_INFO_VAL, text, &is_set);
        if (!is_set)
            continue;
        int64_t value = coll_hint_parse(i, text);
        if (value > 0)
            hints->given.of[i] = value;
        else if (reports)
            coll_hint_report(front_process(), i, text);
    }
}

void front_hints_put(const front_hints *hints, MPI_Info info)
{
    char text[COLL_HINT_TEXT];
    for (enum coll_hint i = 0; i < COLL_HINTS; i++)
        if (hints->published.of[i] > 0)
            PMPI_Info_set(info, coll_hint_name(i), coll_hint_text(i, hints->published.of[i], text));
}
