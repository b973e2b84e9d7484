/* SPDX-License-Identifier: BSD-3-Clause */
/* When aggregators shuffled the data of their cycles, and when they accessed the file.
 *
 * Nothing here allocates, and the length of a line is bounded: by COLL_TIMELINE_CYCLES of each
 * aggregator, and the number of aggregators. Each rank counts from the moment when it began to
 * exchange data; the agreement before that makes these moments nearly the same. */
#include "collective/stats_internal.h"

#include <string.h>

/* Of them, every n-th sends its time line. */
#define MAX_AGGREGATORS 32

void coll_timeline_reset(coll_timeline *line, int64_t num_cycles)
{
    memset(line->at, 0, sizeof line->at);
    line->begin = line->process->clock(line->process->context);
    line->every = (num_cycles - 1) / COLL_TIMELINE_CYCLES + 1;
}

void coll_timeline_note(void *context, int64_t cycle, enum exchange_moment moment)
{
    coll_timeline *line = context;
    if (cycle % line->every != 0)
        return;
    double passed = (line->process->clock(line->process->context) - line->begin) * 1e6;
    line->at[cycle / line->every][moment] = passed < INT32_MAX ? (int32_t)passed : INT32_MAX;
}

/* Whether the aggregator of this domain sends its time line. The same on all ranks. */
static bool has_timeline(const domain_layout *layout, size_t domain)
{
    size_t every = (layout->domains->count - 1) / MAX_AGGREGATORS + 1;
    return domain % every == 0 && layout->domains->size[domain] > 0;
}

int coll_timeline_send(const coll_timeline *line, coll_group *group, const coll_plan *plan)
{
    const domain_layout *layout = &plan->layout;
    if (!layout->aggregates || !has_timeline(layout, layout->domain))
        return 0;
    return coll_send(group, line->at, sizeof line->at, 0, COLL_TAG_STATS);
}

static void put_timeline(json_writer *w, const coll_timeline *line, size_t domain, int rank)
{
    json_begin_object(w, NULL);
    json_put_size(w, "domain", domain);
    json_put_int64(w, "rank", rank);
    json_begin_array(w, "windows");
    for (int64_t c = 0; c < COLL_TIMELINE_CYCLES; c++) {
        if (line->at[c][EXCHANGE_SHUFFLE_ENDS] == 0)
            continue;
        json_begin_array(w, NULL);
        json_put_int64(w, NULL, c * line->every);
        for (size_t m = 0; m < EXCHANGE_MOMENTS; m++)
            json_put_int64(w, NULL, line->at[c][m]);
        json_end_array(w);
    }
    json_end_array(w);
    json_end_object(w);
}

int coll_timeline_receive(const coll_timeline *own, coll_group *group, const coll_plan *plan,
                          json_writer *w)
{
    const domain_layout *layout = &plan->layout;
    int first = 0;
    if (w != NULL)
        json_begin_array(w, "timeline");
    for (size_t j = 0; j < layout->domains->count; j++) {
        coll_timeline line = *own;
        int rank = layout->aggregator[j], rc = 0;
        if (!has_timeline(layout, j))
            continue;
        if (rank != group->rank)
            rc = coll_receive(group, line.at, sizeof line.at, rank, COLL_TAG_STATS);
        if (rc == 0 && w != NULL)
            put_timeline(w, &line, j, rank);
        if (first == 0)
            first = rc;
    }
    if (w != NULL)
        json_end_array(w);
    return first;
}
