/* SPDX-License-Identifier: BSD-3-Clause */
/* The reports of all ranks to the root. */
#include "record/record.h"

#include <errno.h>

/* The lists are those of ranks of the world, up to the largest of which there are neighbours. */
int record_make_report(const record_received *received, const access_list *own, int64_t lo,
                       int64_t unit, access_message *report)
{
    int64_t head = 0;
    size_t ranks = 0;
    for (size_t l = 0; l < received->count; l++)
        ranks = received->rank[l] >= ranks ? received->rank[l] + 1 : ranks;
    int rc = access_message_append(report, &head, 1);
    if (rc == 0 && received->count > 0)
        rc = record_describe_neighbours(received->list, received->rank, received->count, ranks,
                                        report);
    if (rc != 0)
        return rc;
    report->element[0] = (int64_t)report->count - 1;
    return record_describe_profile(own, lo, unit, report);
}

int record_sums_add_report(record_sums *sums, size_t part, size_t rank, const int64_t *element,
                           size_t count)
{
    int rc = 0;
    if (count == 0 || element[0] < 0 || (uint64_t)element[0] >= count)
        return -EINVAL;
    size_t neighbours = (size_t)element[0];
    if (neighbours > 0)
        rc = record_sums_add_neighbours(sums, part, element + 1, neighbours);
    if (rc == 0 && rank != SIZE_MAX)
        rc = record_sums_add_profile(sums, rank, element + 1 + neighbours, count - 1 - neighbours);
    return rc;
}
