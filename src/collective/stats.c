/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* open_memstream, TEMP_FAILURE_RETRY */
#include "collective/stats_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Lines of a process with a plan, with a time line, and of one plan with a time line, at most: the
 * file stays small however many calls there are. */
#define MAX_PLANS 64
#define MAX_TIMELINES 64
#define MAX_TIMELINES_OF_PLAN 8

/* Aggregators of which every n-th sends its time line, if there are more. */
#define MAX_AGGREGATORS 32

/* Returns 0 or a negative errno value. */
static int close_file(coll_stats *stats)
{
    int rc = stats->fd >= 0 && close(stats->fd) != 0 ? -errno : 0;
    stats->fd = -1;
    return rc;
}

/* ---- time lines ---- */

/* When aggregators shuffled the data of their cycles, and when they accessed the file.
 *
 * Nothing here allocates, and the length of a line is bounded: by COLL_TIMELINE_CYCLES of each
 * aggregator, and the number of aggregators. Each rank counts from the moment when it began to
 * exchange data; the agreement before that makes these moments nearly the same. */

/* Implements exchange_probe.note. */
static void note_moment(void *context, int64_t cycle, enum exchange_moment moment)
{
    coll_stats *stats = context;
    coll_timeline *line = &stats->timeline;
    if (cycle % line->every != 0)
        return;
    double passed = (stats->process->clock(stats->process->context) - line->begin) * 1e6;
    line->at[cycle / line->every][moment] = passed < INT32_MAX ? (int32_t)passed : INT32_MAX;
}

/* Whether the aggregator of this domain sends its time line. The same on all ranks. */
static bool has_timeline(const domain_layout *layout, size_t domain)
{
    size_t every = (layout->domains->count - 1) / MAX_AGGREGATORS + 1;
    return domain % every == 0 && layout->domains->size[domain] > 0;
}

/* Sends this rank's time line to rank 0, if rank 0 expects it. */
static void send_timeline(const coll_stats *stats, const coll_observed *access)
{
    const domain_layout *layout = &access->plan->layout;
    const coll_timeline *line = &stats->timeline;
    if (layout->aggregates && has_timeline(layout, layout->domain))
        (void)coll_send(access->group, line->at, sizeof line->at, 0, COLL_TAG_STATS);
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

/* Rank 0 writes all as an array. w: NULL if the line cannot be written; those of other ranks are
 * received in any case. */
static void put_timelines(const coll_stats *stats, const coll_observed *access, json_writer *w)
{
    const domain_layout *layout = &access->plan->layout;
    if (w != NULL && stats->process->timelines++ >= MAX_TIMELINES)
        w = NULL;
    if (w != NULL)
        json_begin_array(w, "timeline");
    for (size_t j = 0; j < layout->domains->count; j++) {
        coll_timeline line = stats->timeline;
        int rank = layout->aggregator[j], rc = 0;
        if (!has_timeline(layout, j))
            continue;
        if (rank != access->group->rank)
            rc = coll_receive(access->group, line.at, sizeof line.at, rank, COLL_TAG_STATS);
        if (rc == 0 && w != NULL)
            put_timeline(w, &line, j, rank);
    }
    if (w != NULL)
        json_end_array(w);
}

/* The probe notes when this rank's aggregator reaches which moment. */
static const exchange_probe *start_timeline(void *context, const domain_layout *layout)
{
    coll_stats *stats = context;
    if (stats->kind != COLL_STATS_DETAILED)
        return NULL;
    memset(stats->timeline.at, 0, sizeof stats->timeline.at);
    stats->timeline.begin = stats->process->clock(stats->process->context);
    stats->timeline.every = (layout->num_cycles - 1) / COLL_TIMELINE_CYCLES + 1;
    stats->probe = (exchange_probe){stats, note_moment};
    return &stats->probe;
}

/* ---- all ranks: the fields ---- */

static int gather_fields(coll_stats *stats, const coll_observed *access)
{
    int64_t field[COLL_STATS_FIELDS];
    coll_stats_fill_fields(field, access);
    return coll_gather(access->group, field, COLL_STATS_FIELDS, stats->fields);
}

/* ---- rank 0: the file ---- */

/* A mistyped name may be that of the program's data. */
static int check_beginning(int fd)
{
    static const char first[] = "{\"op\": \"";
    char text[sizeof first - 1];
    ssize_t length = TEMP_FAILURE_RETRY(pread(fd, text, sizeof text, 0));
    if (length <= 0)
        return length < 0 ? -errno : 0;
    return length == sizeof text && memcmp(text, first, sizeof text) == 0 ? 0 : -EEXIST;
}

/* Returns 0 or a negative errno value, also of base_open_own; -EEXIST: neither empty nor
 * statistics. */
static int open_file(coll_stats *stats)
{
    if (stats->fd >= 0)
        return 0;
    char *name = coll_job_path(stats->process, stats->path);
    if (name == NULL)
        return -ENOMEM;
    stats->fd = base_open_own(name, O_RDWR | O_APPEND);
    int rc = stats->fd < 0 ? stats->fd : check_beginning(stats->fd);
    free(name);
    if (rc != 0)
        (void)close_file(stats);
    return rc;
}

/* The whole line is one write where possible, so that lines of several processes do not mix. */
static int append_text(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = TEMP_FAILURE_RETRY(write(fd, text, length));
        if (written < 0)
            return -errno;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

static const char *reason(int rc)
{
    switch (rc) {
    case -EINVAL: return "it is not a regular file";
    case -EPERM: return "it belongs to another user";
    case -EEXIST: return "it holds something other than statistics";
    default: return strerror(-rc);
    }
}

static int refuse_file(coll_process *process, const char *path, bool strict, int rc)
{
    const coll_refusal refusal = {PARAMETER_STATS, strict, -EACCES,
                                  "The data of the call are not affected."};
    char *name = coll_job_path(process, path);
    rc = coll_refuse(process, &refusal, COLL_TEXT_STATS, COLL_NAMED(process, PARAMETER_STATS),
                     name != NULL ? name : path, reason(rc));
    free(name);
    return rc;
}

static bool goes_to_stderr(const coll_stats *stats)
{
    return strcmp(stats->path, COLL_STATS_STDERR) == 0;
}

/* The user is strict. Returns 0, or an error that one message of the process reports. */
static int check_file(coll_stats *stats)
{
    int rc = goes_to_stderr(stats) ? 0 : open_file(stats);
    return rc == 0 ? 0 : refuse_file(stats->process, stats->path, true, rc);
}

/* Returns 0 or a negative errno value. */
static int write_text(coll_stats *stats, const char *text, size_t length)
{
    if (goes_to_stderr(stats))
        return append_text(STDERR_FILENO, text, length);
    int rc = open_file(stats);
    return rc == 0 ? append_text(stats->fd, text, length) : rc;
}

/* ---- rank 0: lines ---- */

/* A line that is being written; out is NULL if memory is exhausted. */
typedef struct draft {
    json_writer w;
    char *text;
    size_t length;
} draft;

static void begin_line(coll_stats *stats, draft *d, const coll_stats_line *line)
{
    int64_t number = ++stats->process->lines;
    d->w = (json_writer){.out = open_memstream(&d->text, &d->length), .layout = JSON_SPACED};
    if (d->w.out == NULL)
        return;
    json_begin_object(&d->w, NULL);
    coll_stats_put_line(&d->w, line, stats->process, number);
    if (number == 1)
        coll_stats_put_job(&d->w, stats->process, stats->record);
}

static void end_line(coll_stats *stats, draft *d)
{
    int rc = -ENOMEM;
    if (d->w.out != NULL) {
        json_end_object(&d->w);
        fputc('\n', d->w.out);
        if (fclose(d->w.out) == 0)
            rc = write_text(stats, d->text, d->length);
    }
    if (rc != 0)
        (void)refuse_file(stats->process, stats->path, false, rc);
    free(d->text);
}

static void put_plan(json_writer *w, coll_stats *stats, const coll_observed *access)
{
    if (access->plan == NULL || access->plan->draft.c.requests.row_start == NULL ||
        stats->process->plan_lines >= MAX_PLANS)
        return;
    coll_stats_put_plan(w, access);
    stats->process->plan_lines++;
}

static void append_line(coll_stats *stats, const coll_observed *access, const coll_stats_line *line,
                        bool timeline)
{
    draft d = {.text = NULL};
    begin_line(stats, &d, line);
    bool is_open = d.w.out != NULL;
    if (is_open)
        put_plan(&d.w, stats, access);
    if (timeline)
        put_timelines(stats, access, is_open ? &d.w : NULL);
    end_line(stats, &d);
}

static void report_call(coll_stats *stats, const coll_observed *access, bool timeline)
{
    const coll_stats_line line = coll_stats_make_line(access, stats->fields);
    if (stats->kind == COLL_STATS_TOTALS)
        coll_stats_add_line(&stats->total[access->write], &line);
    else
        append_line(stats, access, &line, timeline);
    if (access->plan != NULL)
        coll_plan_release_entries(access->plan);
}

static void report_access(void *context, const coll_observed *access, void **state)
{
    coll_stats *stats = context;
    (void)state;
    if (stats->kind == COLL_STATS_OFF || gather_fields(stats, access) != 0)
        return;
    bool timeline = stats->kind == COLL_STATS_DETAILED && access->plan != NULL &&
                    access->plan_calls <= MAX_TIMELINES_OF_PLAN;
    if (access->group->rank == 0)
        report_call(stats, access, timeline);
    else if (timeline)
        send_timeline(stats, access);
}

/* ---- opening and closing ---- */

/* Rank 0, whose parameters apply, knows whether there are to be statistics. */
static int prepare_statistics(void *context, const coll_opening *opening)
{
    coll_stats *stats = context;
    const char *path = parameter_text(opening->text, PARAMETER_STATS);
    *stats = (coll_stats){.process = opening->group->runtime->process, .fd = -1};
    if (opening->group->rank != 0 || path[0] == '\0')
        return 0;
    stats->path = strdup(path);
    stats->record = strdup(parameter_text(opening->text, PARAMETER_RECORD));
    stats->fields = calloc((size_t)opening->group->size, COLL_STATS_FIELDS * sizeof *stats->fields);
    if (stats->path == NULL || stats->record == NULL || stats->fields == NULL)
        return -ENOMEM;
    return parameter_is_strict(opening->text) ? check_file(stats) : 0;
}

static enum coll_stats_kind choose_kind(const int64_t *of)
{
    if (of[PARAMETER_STATS] == 0)
        return COLL_STATS_OFF;
    if (of[PARAMETER_STATS_LEVEL] == PARAMETER_STATS_FILES)
        return COLL_STATS_TOTALS;
    return coll_settings_digest_text(COLL_STATS_STDERR) == of[PARAMETER_STATS]
               ? COLL_STATS_PLAIN
               : COLL_STATS_DETAILED;
}

static void count_time(const coll_stats *stats, double began, _Atomic int64_t *count,
                       _Atomic int64_t *nanoseconds)
{
    const coll_process *process = stats->process;
    if (stats->path == NULL || stats->kind == COLL_STATS_OFF || began < 0.0)
        return;
    *count += 1;
    *nanoseconds += (int64_t)(1e9 * (process->clock(process->context) - began));
}

static void begin_statistics(void *context, const coll_opening *opening)
{
    coll_stats *stats = context;
    stats->kind = choose_kind(opening->of);
    *opening->wishes =
        (coll_wishes){stats->kind != COLL_STATS_OFF, stats->kind == COLL_STATS_DETAILED};
    count_time(stats, opening->began, &stats->process->opens, &stats->process->opening);
}

static void put_total(coll_stats *stats, const coll_closing *closing, bool write)
{
    const coll_observed none = {
        .group = closing->group, .nodes = closing->nodes, .file = closing->file, .write = write};
    coll_stats_line *total = &stats->total[write];
    draft d = {.text = NULL};
    if (total->calls == 0 && closing->noncollective[write] == 0)
        return;
    if (total->calls == 0)
        *total = coll_stats_make_line(&none, NULL);
    total->noncollective = closing->noncollective[write];
    begin_line(stats, &d, total);
    end_line(stats, &d);
}

static void end_statistics(void *context, const coll_closing *closing)
{
    coll_stats *stats = context;
    if (stats->path == NULL)
        return;
    count_time(stats, closing->began, &stats->process->closes, &stats->process->closing);
    for (int write = 1; write >= 0 && stats->kind != COLL_STATS_OFF; write--)
        put_total(stats, closing, write);
    int rc = close_file(stats);
    if (rc != 0)
        (void)refuse_file(stats->process, stats->path, false, rc);
    free(stats->path);
    free(stats->record);
    free(stats->fields);
    *stats = (coll_stats){.fd = -1};
}

coll_observer coll_stats_observer(coll_stats *stats)
{
    return (coll_observer){.context = stats,
                           .opens = prepare_statistics,
                           .begins = begin_statistics,
                           .starts = start_timeline,
                           .moved = report_access,
                           .closes = end_statistics};
}
