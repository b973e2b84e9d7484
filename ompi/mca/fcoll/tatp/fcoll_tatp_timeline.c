/* SPDX-License-Identifier: BSD-3-Clause */
/* When aggregators exchanged the bytes of their windows, and when they accessed the file: noted in
 * the cycles while statistics are on, and gathered by rank 0 for the first calls of a run.
 *
 * Nothing here allocates, and what is told is bounded: of each aggregator TATP_TIMELINE_WINDOWS
 * windows, and so many aggregators. Each rank counts from the moment at which it began to move
 * data; the agreement before that makes these moments nearly the same. */
#include "fcoll_tatp_cycles.h"

#include <string.h>

#define TOLD_AGGREGATORS 32

void tatp_timeline_start(tatp_cycles *cycles, double now)
{
    tatp_timeline *line = &cycles->timeline;
    line->every = 0;
    if (!tatp_stats_wanted())
        return;
    memset(line, 0, sizeof *line);
    line->start = now;
    line->every = (tatp_window_count(cycles->pass->schedule) - 1) / TATP_TIMELINE_WINDOWS + 1;
}

void tatp_timeline_note(tatp_cycles *cycles, int64_t window, enum tatp_moment moment)
{
    tatp_timeline *line = &cycles->timeline;
    if (line->every == 0 || window % line->every != 0)
        return;
    double passed = (MPI_Wtime() - line->start) * 1e6;
    line->at[window / line->every][moment] = passed < INT32_MAX ? (int32_t)passed : INT32_MAX;
}

/* Whether the aggregator of this domain is one of those that are told. The same on all ranks. */
static bool is_told(const tatp_schedule *schedule, size_t domain)
{
    size_t every = (schedule->domains.count - 1) / TOLD_AGGREGATORS + 1;
    return domain % every == 0 && schedule->domains.size[domain] > 0;
}

int tatp_timeline_send(const tatp_pass *pass)
{
    const tatp_schedule *schedule = pass->schedule;
    if (!schedule->aggregates || !is_told(schedule, schedule->domain))
        return OMPI_SUCCESS;
    const tatp_timeline *line = &schedule->cycles->timeline;
    return tatp_send(pass->fh, line->at, sizeof line->at, 0, TATP_TAG_STATS);
}

static void put_windows(FILE *out, const tatp_timeline *line)
{
    const char *comma = "";
    for (size_t w = 0; w < TATP_TIMELINE_WINDOWS; w++) {
        const int32_t *at = line->at[w];
        if (at[TATP_SHUFFLE_ENDS] == 0)
            continue;
        fprintf(out, "%s[%lld", comma, (long long)w * line->every);
        for (size_t m = 0; m < TATP_MOMENTS; m++)
            fprintf(out, ",%d", at[m]);
        fputc(']', out);
        comma = ",";
    }
}

int tatp_timeline_put(FILE *out, const tatp_pass *pass)
{
    const tatp_schedule *schedule = pass->schedule;
    const char *comma = "";
    int first = OMPI_SUCCESS;
    for (size_t j = 0; j < schedule->domains.count; j++) {
        tatp_timeline line = schedule->cycles->timeline;
        int rank = schedule->decision.aggregator[j], rc = OMPI_SUCCESS;
        if (!is_told(schedule, j))
            continue;
        if (rank != pass->fh->f_rank)
            rc = tatp_receive(pass->fh, line.at, sizeof line.at, rank, TATP_TAG_STATS);
        if (OMPI_SUCCESS == rc && NULL != out) {
            fprintf(out, "%s{\"domain\": %zu, \"rank\": %d, \"windows\": [", comma, j, rank);
            put_windows(out, &line);
            fputs("]}", out);
            comma = ", ";
        }
        if (OMPI_SUCCESS == first)
            first = rc;
    }
    return first;
}
