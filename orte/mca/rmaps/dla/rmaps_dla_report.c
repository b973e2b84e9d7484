/* SPDX-License-Identifier: BSD-3-Clause */
#include "rmaps_dla_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int format_crossing(const setmatch_input *input, const size_t *node_of_rank, int64_t bytes,
                           char *text, size_t size)
{
    int64_t *crossing = calloc(input->network->levels + 1, sizeof(*crossing));
    int rc = NULL == crossing ? -ENOMEM : setmatch_crossing_levels(input, node_of_rank, crossing);
    size_t used = 0;

    if (0 == rc)
        used = (size_t)snprintf(text, size, " (%" PRId64 " of %" PRId64 " bytes leave their nodes",
                                crossing[0], bytes);
    for (size_t k = 1; 0 == rc && k <= input->network->levels && used < size; k++) {
        used += (size_t)snprintf(text + used, size - used,
                                 ", %" PRId64 " their groups of level %zu", crossing[k], k);
    }
    if (0 == rc && used < size)
        snprintf(text + used, size - used, ")");
    free(crossing);
    return rc;
}

int dla_report_format(const setmatch_input *input, const size_t *node_of_rank,
                      char text[DLA_REPORT_SIZE])
{
    setmatch_report report;
    size_t used;
    int rc = setmatch_judge(input, node_of_rank, &report);

    if (0 != rc)
        return rc;
    used = (size_t)snprintf(text, DLA_REPORT_SIZE, "%" PRId64 " of %" PRId64, report.inside,
                            report.total);
    return 0 == report.bytes ? 0
                             : format_crossing(input, node_of_rank, report.bytes, text + used,
                                               DLA_REPORT_SIZE - used);
}
