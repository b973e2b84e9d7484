/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "collective/stats_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/version.h"

/* Version of the keys in fcoll_tatp(7): changes when one of them changes its meaning. */
#define FORMAT 1
/* Lines of a process with a plan, with a time line, and of one plan with a time line, at most: the
 * file stays small however many calls there are. */
#define MAX_PLANS 64
#define MAX_TIMELINES 64
#define MAX_TIMELINES_OF_PLAN 8

/* What each rank reports to rank 0; times in nanoseconds. */
enum { ST1, ST2, ST3, ST4, ST5, COPY_TIME, BYTES, MESSAGES, METADATA, COPIED, COPIES, FIELDS };

struct coll_stats {
    coll_timeline timeline;
    exchange_probe probe; /* notes into it */
    coll_process *process;
    int64_t *fields; /* rank 0: FIELDS of each rank */
    enum coll_stats_kind kind;
    const char *path;
    int fd; /* of the file; -1: none */
};

coll_stats *coll_stats_new(void)
{
    coll_stats *stats = calloc(1, sizeof *stats);
    if (stats == NULL)
        return NULL;
    stats->probe = (exchange_probe){&stats->timeline, coll_timeline_note};
    stats->fd = -1;
    return stats;
}

void coll_stats_free(coll_stats *stats)
{
    if (stats == NULL)
        return;
    coll_stats_end(stats);
    free(stats->fields);
    free(stats);
}

int coll_stats_prepare(coll_stats *stats, const coll_group *group)
{
    stats->process = group->runtime->process;
    stats->timeline.process = stats->process;
    if (group->rank != 0 || stats->fields != NULL)
        return 0;
    stats->fields = calloc((size_t)group->size, FIELDS * sizeof *stats->fields);
    return stats->fields == NULL ? -ENOMEM : 0;
}

void coll_stats_begin(coll_stats *stats, const char *path, enum coll_stats_kind kind)
{
    stats->path = path;
    stats->kind = kind;
}

void coll_stats_end(coll_stats *stats)
{
    if (stats->fd >= 0)
        close(stats->fd);
    stats->fd = -1;
}

bool coll_stats_are_on(const coll_stats *stats)
{
    return stats->kind != COLL_STATS_OFF;
}

bool coll_stats_want_plan(const coll_stats *stats)
{
    return stats->kind == COLL_STATS_DETAILED && stats->process->plan_lines < MAX_PLANS;
}

const exchange_probe *coll_stats_probe(coll_stats *stats, int64_t num_cycles)
{
    if (stats->kind != COLL_STATS_DETAILED)
        return NULL;
    coll_timeline_reset(&stats->timeline, num_cycles);
    return &stats->probe;
}

/* ---- all ranks: the fields ---- */

static int64_t nanoseconds(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

static int gather_fields(coll_stats *stats, coll_group *group, const coll_stats_access *access)
{
    const coll_times *t = &access->time;
    const int64_t field[FIELDS] = {
        nanoseconds(t->st1),  nanoseconds(t->st2),   nanoseconds(t->st3),
        nanoseconds(t->st4),  nanoseconds(t->st5),   nanoseconds(access->device.seconds),
        access->moved,        access->messages,      access->metadata,
        access->device.bytes, access->device.copies,
    };
    return group->runtime->gather(group->runtime->context, field, FIELDS, stats->fields);
}

/* ---- rank 0: the summary ---- */

typedef struct summary {
    coll_times time; /* of the slowest rank in each stage; st1 of the last rank to make the call */
    double waited;   /* of the first rank to make the call for the last one */
    int64_t bytes, messages, metadata; /* sums over all ranks */
    coll_device_use device;            /* seconds: of the slowest rank */
} summary;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Ranks that make the call early wait in its first reduction, which is the program's time. The last
 * one does not wait: its st1 is the call's. */
static summary summarize(const int64_t *field, int ranks)
{
    int64_t least = INT64_MAX, stage[BYTES] = {0};
    summary all = {.bytes = 0};
    for (int r = 0; r < ranks; r++, field += FIELDS) {
        for (int i = 0; i < BYTES; i++)
            stage[i] = larger(stage[i], field[i]);
        least = field[ST1] < least ? field[ST1] : least;
        all.bytes += field[BYTES];
        all.messages += field[MESSAGES];
        all.metadata += field[METADATA];
        all.device.bytes += field[COPIED];
        all.device.copies += field[COPIES];
    }
    all.time =
        (coll_times){1e-9 * (double)least, 1e-9 * (double)stage[ST2], 1e-9 * (double)stage[ST3],
                     1e-9 * (double)stage[ST4], 1e-9 * (double)stage[ST5]};
    all.waited = 1e-9 * (double)(stage[ST1] - least);
    all.device.seconds = 1e-9 * (double)stage[COPY_TIME];
    return all;
}

/* ---- rank 0: the line ---- */

static void put_access(json_writer *w, const coll_stats_access *access, const coll_plan_view *plan,
                       const coll_plan_costs *costs, int ranks)
{
    json_put_string(w, "op", access->write ? "write" : "read");
    json_put_string(w, "file", access->file);
    json_put_int64(w, "ranks", ranks);
    json_put_size(w, "nodes", coll_nodes_map(access->nodes)->nodes);
    json_put_size(w, "aggregators", plan->domains->count);
    json_put_string(w, "domains", division_kind_name(costs->domains));
    json_put_int64(w, "unit", costs->unit);
    json_put_int64(w, "cycles", plan->num_cycles);
}

static void put_summary(json_writer *w, const int64_t *fields, int ranks)
{
    const summary all = summarize(fields, ranks);
    const coll_times *t = &all.time;
    json_put_int64(w, "bytes", all.bytes);
    json_put_int64(w, "messages", all.messages);
    json_put_int64(w, "metadata_bytes", all.metadata);
    json_put_int64(w, "device_bytes", all.device.bytes);
    json_put_int64(w, "device_copies", all.device.copies);
    json_put_formatted(w, "device_seconds", "%.6f", all.device.seconds);
    json_put_formatted(w, "seconds", "%.6f", t->st1 + t->st2 + t->st3 + t->st4 + t->st5);
    json_put_formatted(w, "waited", "%.6f", all.waited);
    json_put_formatted(w, "st1", "%.6f", t->st1);
    json_put_formatted(w, "st2", "%.6f", t->st2);
    json_put_formatted(w, "st3", "%.6f", t->st3);
    json_put_formatted(w, "st4", "%.6f", t->st4);
    json_put_formatted(w, "st5", "%.6f", t->st5);
}

static void put_costs(json_writer *w, const char *strategy, const coll_plan_costs *costs)
{
    json_put_string(w, "strategy", strategy);
    json_put_formatted(w, "hop_bytes", "%.15g", costs->hop_bytes);
    json_put_formatted(w, "hop_bytes_otp", "%.15g", costs->hop_bytes_otp);
    json_put_int64(w, "crossing_bytes", costs->crossing_bytes);
}

static void put_origin(json_writer *w, coll_process *process, int64_t plan_id)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_put_int64(w, "format", FORMAT);
    json_put_string(w, "version", TATP_VERSION);
    json_put_string(w, "program", program_invocation_short_name);
    json_put_string(w, "run", process->job.id);
    json_put_int64(w, "call", ++process->lines);
    json_put_formatted(w, "ended", "%.3f", (double)now.tv_sec + (double)now.tv_nsec * 1e-9);
    json_put_int64(w, "schedule", plan_id);
}

static void put_line(json_writer *w, const coll_stats *stats, const coll_stats_access *access,
                     int ranks)
{
    static const file_domains no_domains;
    const char *strategy = "none";
    coll_plan_view plan = {.domains = &no_domains};
    coll_plan_costs costs = {.domains = DIVISION_AUTO};
    if (access->plan != NULL) {
        strategy = access->settings->strategy->name;
        plan = coll_plan_get(access->plan);
        costs = coll_plan_get_costs(access->plan);
    }
    put_access(w, access, &plan, &costs, ranks);
    put_summary(w, stats->fields, ranks);
    put_costs(w, strategy, &costs);
    put_origin(w, stats->process, plan.id);
    if (costs.requests != NULL) {
        coll_stats_put_plan(w, "plan", access, ranks);
        stats->process->plan_lines++;
    }
}

/* ---- rank 0: all of it ---- */

/* w: NULL if the line cannot be written. The time lines of other ranks are received in any case. */
static int put_timelines(const coll_stats *stats, coll_group *group,
                         const coll_stats_access *access, json_writer *w)
{
    bool is_written = w != NULL && stats->process->timelines++ < MAX_TIMELINES;
    return coll_timeline_receive(&stats->timeline, group, access->plan, is_written ? w : NULL,
                                 "timeline");
}

static const char *reason(int rc)
{
    switch (rc) {
    case -EINVAL: return "it is not a regular file";
    case -EEXIST: return "it holds something other than statistics";
    default: return strerror(-rc);
    }
}

/* 0, or a negative errno. */
static int write_line(coll_stats *stats, const char *text, size_t length)
{
    if (stats->kind == COLL_STATS_FOR_PEOPLE)
        return coll_stats_append(STDERR_FILENO, text, length);
    int fd = stats->fd >= 0 ? stats->fd : coll_stats_open(stats->process, stats->path);
    if (fd < 0)
        return fd;
    stats->fd = fd;
    return coll_stats_append(fd, text, length);
}

static int append_line(coll_stats *stats, coll_group *group, const coll_stats_access *access,
                       bool timeline)
{
    int rc = 0;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    json_writer w = {.out = out, .layout = JSON_SPACED};
    if (out != NULL) {
        json_begin_object(&w, NULL);
        put_line(&w, stats, access, group->size);
    }
    if (access->plan != NULL)
        coll_plan_release_entries(access->plan);
    if (timeline)
        rc = put_timelines(stats, group, access, out != NULL ? &w : NULL);
    if (out != NULL) {
        json_end_object(&w);
        fputc('\n', out);
    }
    int failed = out != NULL && fclose(out) == 0 ? write_line(stats, text, length) : -ENOMEM;
    if (failed != 0 && coll_is_first(stats->process, "stats", "")) /* not for every line */
        coll_show(stats->process, "stats", stats->path, reason(failed));
    free(text);
    return rc;
}

int coll_stats_report(coll_stats *stats, coll_group *group, const coll_stats_access *access)
{
    if (!coll_stats_are_on(stats))
        return 0;
    int rc = gather_fields(stats, group, access);
    if (rc != 0)
        return rc;
    bool timeline = stats->kind == COLL_STATS_DETAILED && access->plan != NULL &&
                    access->plan_calls <= MAX_TIMELINES_OF_PLAN;
    if (group->rank == 0)
        return append_line(stats, group, access, timeline);
    return timeline ? coll_timeline_send(&stats->timeline, group, access->plan) : 0;
}
