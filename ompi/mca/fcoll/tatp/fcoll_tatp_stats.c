/* SPDX-License-Identifier: BSD-3-Clause */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_stats_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/version.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"

/* Version of the keys in fcoll_tatp(7): changes when one of them changes its meaning. */
#define FORMAT 1
/* Lines of a process with a plan, with a time line, and of one plan with a time line, at most: the
 * file stays small however many calls there are. */
#define MAX_PLANS 64
#define MAX_TIMELINES 64
#define MAX_TIMELINES_OF_PLAN 8

/* What each rank reports to rank 0; times in nanoseconds. */
enum { ST1, ST2, ST3, ST4, ST5, COPY_TIME, BYTES, MESSAGES, METADATA, COPIED, COPIES, FIELDS };

struct tatp_stats {
    tatp_timeline timeline;
    exchange_probe probe; /* notes into it */
    int64_t *fields;      /* rank 0: FIELDS of each rank */
    enum tatp_stats_kind kind;
    const char *path;
    int fd; /* of the file; -1: none */
};

static _Atomic int plans_written;

tatp_stats *tatp_stats_new(void)
{
    tatp_stats *stats = calloc(1, sizeof *stats);
    if (NULL == stats)
        return NULL;
    stats->probe = (exchange_probe){&stats->timeline, tatp_timeline_note};
    stats->fd = -1;
    return stats;
}

void tatp_stats_free(tatp_stats *stats)
{
    if (NULL == stats)
        return;
    tatp_stats_end(stats);
    free(stats->fields);
    free(stats);
}

int tatp_stats_prepare(tatp_stats *stats, int rank, int ranks)
{
    if (rank != 0 || NULL != stats->fields)
        return OMPI_SUCCESS;
    stats->fields = calloc((size_t)ranks, FIELDS * sizeof *stats->fields);
    return NULL == stats->fields ? -ENOMEM : OMPI_SUCCESS;
}

void tatp_stats_begin(tatp_stats *stats, const char *path, enum tatp_stats_kind kind)
{
    stats->path = path;
    stats->kind = kind;
}

void tatp_stats_end(tatp_stats *stats)
{
    if (stats->fd >= 0)
        close(stats->fd);
    stats->fd = -1;
}

bool tatp_stats_are_on(const tatp_stats *stats)
{
    return TATP_STATS_OFF != stats->kind;
}

bool tatp_stats_want_plan(const tatp_stats *stats)
{
    return TATP_STATS_DETAILED == stats->kind && plans_written < MAX_PLANS;
}

const exchange_probe *tatp_stats_probe(tatp_stats *stats, int64_t num_cycles)
{
    if (TATP_STATS_DETAILED != stats->kind)
        return NULL;
    tatp_timeline_reset(&stats->timeline, num_cycles);
    return &stats->probe;
}

/* ---- all ranks: the fields ---- */

static int64_t nanoseconds(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

static int gather_fields(tatp_stats *stats, coll_group *group, const tatp_stats_access *access)
{
    const tatp_times *t = &access->time;
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
    tatp_times time; /* of the slowest rank in each stage; st1 of the last rank to make the call */
    double waited;   /* of the first rank to make the call for the last one */
    int64_t bytes, messages, metadata; /* sums over all ranks */
    tatp_device_use device;            /* seconds: of the slowest rank */
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
        (tatp_times){1e-9 * (double)least, 1e-9 * (double)stage[ST2], 1e-9 * (double)stage[ST3],
                     1e-9 * (double)stage[ST4], 1e-9 * (double)stage[ST5]};
    all.waited = 1e-9 * (double)(stage[ST1] - least);
    all.device.seconds = 1e-9 * (double)stage[COPY_TIME];
    return all;
}

/* ---- rank 0: the line ---- */

static void put_access(json_writer *w, const tatp_stats_access *access, const tatp_plan_view *plan,
                       const tatp_plan_costs *costs, int ranks)
{
    json_put_string(w, "op", access->write ? "write" : "read");
    json_put_string(w, "file", access->file);
    json_put_int64(w, "ranks", ranks);
    json_put_size(w, "nodes", tatp_nodes_map(access->nodes)->nodes);
    json_put_size(w, "aggregators", plan->domains->count);
    json_put_string(w, "domains", division_kind_name(costs->domains));
    json_put_int64(w, "unit", costs->unit);
    json_put_int64(w, "cycles", plan->num_cycles);
}

static void put_summary(json_writer *w, const int64_t *fields, int ranks)
{
    const summary all = summarize(fields, ranks);
    const tatp_times *t = &all.time;
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

static void put_costs(json_writer *w, const char *strategy, const tatp_plan_costs *costs)
{
    json_put_string(w, "strategy", strategy);
    json_put_formatted(w, "hop_bytes", "%.15g", costs->hop_bytes);
    json_put_formatted(w, "hop_bytes_otp", "%.15g", costs->hop_bytes_otp);
    json_put_int64(w, "crossing_bytes", costs->crossing_bytes);
}

static void put_origin(json_writer *w, int64_t plan_id)
{
    static _Atomic int64_t lines;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_put_int64(w, "format", FORMAT);
    json_put_string(w, "version", TATP_VERSION);
    json_put_string(w, "program", program_invocation_short_name);
    json_put_string(w, "run", tatp_job_id());
    json_put_int64(w, "call", ++lines);
    json_put_formatted(w, "ended", "%.3f", (double)now.tv_sec + (double)now.tv_nsec * 1e-9);
    json_put_int64(w, "schedule", plan_id);
}

static void put_line(json_writer *w, const tatp_stats_access *access, const int64_t *fields,
                     int ranks)
{
    static const file_domains no_domains;
    const char *strategy = "none";
    tatp_plan_view plan = {.domains = &no_domains};
    tatp_plan_costs costs = {.domains = DIVISION_AUTO};
    if (NULL != access->plan) {
        strategy = access->settings->strategy->name;
        plan = tatp_plan_get(access->plan);
        costs = tatp_plan_get_costs(access->plan);
    }
    put_access(w, access, &plan, &costs, ranks);
    put_summary(w, fields, ranks);
    put_costs(w, strategy, &costs);
    put_origin(w, plan.id);
    if (NULL != costs.requests) {
        tatp_stats_put_plan(w, "plan", access, ranks);
        plans_written++;
    }
}

/* ---- rank 0: all of it ---- */

/* w: NULL if the line cannot be written. The time lines of other ranks are received in any case. */
static int put_timelines(const tatp_stats *stats, coll_group *group,
                         const tatp_stats_access *access, json_writer *w)
{
    static _Atomic int timelines;
    bool is_written = NULL != w && timelines++ < MAX_TIMELINES;
    return tatp_timeline_receive(&stats->timeline, group, access->plan, is_written ? w : NULL,
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
static int write_line(tatp_stats *stats, const char *text, size_t length)
{
    if (TATP_STATS_FOR_PEOPLE == stats->kind)
        return tatp_stats_append(STDERR_FILENO, text, length);
    int fd = stats->fd >= 0 ? stats->fd : tatp_stats_open(stats->path);
    if (fd < 0)
        return fd;
    stats->fd = fd;
    return tatp_stats_append(fd, text, length);
}

static int append_line(tatp_stats *stats, coll_group *group, const tatp_stats_access *access,
                       bool timeline)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT; /* once a process, not for every line */
    int rc = OMPI_SUCCESS;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    json_writer w = {.out = out, .layout = JSON_SPACED};
    if (NULL != out) {
        json_begin_object(&w, NULL);
        put_line(&w, access, stats->fields, group->size);
    }
    if (NULL != access->plan)
        tatp_plan_release_entries(access->plan);
    if (timeline)
        rc = put_timelines(stats, group, access, NULL != out ? &w : NULL);
    if (NULL != out) {
        json_end_object(&w);
        fputc('\n', out);
    }
    int failed = NULL != out && fclose(out) == 0 ? write_line(stats, text, length) : -ENOMEM;
    if (0 != failed && !atomic_flag_test_and_set(&reported))
        tatp_show_help("stats", stats->path, reason(failed));
    free(text);
    return rc;
}

int tatp_stats_report(tatp_stats *stats, coll_group *group, const tatp_stats_access *access)
{
    if (!tatp_stats_are_on(stats))
        return OMPI_SUCCESS;
    int rc = gather_fields(stats, group, access);
    if (OMPI_SUCCESS != rc)
        return rc;
    bool timeline = TATP_STATS_DETAILED == stats->kind && NULL != access->plan &&
                    access->plan_calls <= MAX_TIMELINES_OF_PLAN;
    if (group->rank == 0)
        return append_line(stats, group, access, timeline);
    return timeline ? tatp_timeline_send(&stats->timeline, group, access->plan) : OMPI_SUCCESS;
}
