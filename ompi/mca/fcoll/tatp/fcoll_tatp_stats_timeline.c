/* SPDX-License-Identifier: BSD-3-Clause */
/* When aggregators shuffled the data of their cycles, and when they accessed the file.
 *
 * Nothing here allocates, and the length of a line is bounded: by TATP_TIMELINE_CYCLES of each
 * aggregator, and the number of aggregators. Each rank counts from the moment when it began to
 * exchange data; the agreement before that makes these moments nearly the same. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_stats_internal.h"

#include <string.h>

/* Of them, every n-th sends its time line. */
#define MAX_AGGREGATORS 32

void tatp_timeline_reset(tatp_timeline *line, int64_t num_cycles)
{
    memset(line, 0, sizeof *line);
    line->begin = MPI_Wtime();
    line->every = (num_cycles - 1) / TATP_TIMELINE_CYCLES + 1;
}

void tatp_timeline_note(void *context, int64_t cycle, enum exchange_moment moment)
{
    tatp_timeline *line = context;
    if (cycle % line->every != 0)
        return;
    double passed = (MPI_Wtime() - line->begin) * 1e6;
    line->at[cycle / line->every][moment] = passed < INT32_MAX ? (int32_t)passed : INT32_MAX;
}

/* Whether the aggregator of this domain sends its time line. The same on all ranks. */
static bool has_timeline(const tatp_plan_view *plan, size_t domain)
{
    size_t every = (plan->domains->count - 1) / MAX_AGGREGATORS + 1;
    return domain % every == 0 && plan->domains->size[domain] > 0;
}

int tatp_timeline_send(const tatp_timeline *line, coll_group *group, const tatp_plan *plan)
{
    const tatp_plan_view view = tatp_plan_get(plan);
    if (!view.aggregates || !has_timeline(&view, view.domain))
        return OMPI_SUCCESS;
    return coll_send(group, line->at, sizeof line->at, 0, COLL_TAG_STATS);
}

static void put_timeline(json_writer *w, const tatp_timeline *line, size_t domain, int rank)
{
    json_begin_object(w, NULL);
    json_put_size(w, "domain", domain);
    json_put_int64(w, "rank", rank);
    json_begin_array(w, "windows");
    for (int64_t c = 0; c < TATP_TIMELINE_CYCLES; c++) {
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

int tatp_timeline_receive(const tatp_timeline *own, coll_group *group, const tatp_plan *plan,
                          json_writer *w, const char *key)
{
    const tatp_plan_view view = tatp_plan_get(plan);
    int first = OMPI_SUCCESS;
    if (NULL != w)
        json_begin_array(w, key);
    for (size_t j = 0; j < view.domains->count; j++) {
        tatp_timeline line = *own;
        int rank = view.aggregator[j], rc = OMPI_SUCCESS;
        if (!has_timeline(&view, j))
            continue;
        if (rank != group->rank)
            rc = coll_receive(group, line.at, sizeof line.at, rank, COLL_TAG_STATS);
        if (OMPI_SUCCESS == rc && NULL != w)
            put_timeline(w, &line, j, rank);
        if (OMPI_SUCCESS == first)
            first = rc;
    }
    if (NULL != w)
        json_end_array(w);
    return first;
}
