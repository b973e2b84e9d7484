/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of the statistics: what the ranks report of a call, summed up, or all calls of a file. */
#define _GNU_SOURCE /* argz */
#include "collective/stats_internal.h"

#include <argz.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/version.h"
#include "collective/record.h"

/* Version of the keys in fcoll_tatp(7): changes when one of them changes its meaning. */
#define FORMAT 1

/* What each rank reports to rank 0; times in nanoseconds. */
enum { COPY_TIME = COLL_STAGES, BYTES, MESSAGES, METADATA, COPIED, COPIES, FIELDS };
_Static_assert((int)FIELDS == (int)COLL_STATS_FIELDS, "number of fields");

static int64_t nanoseconds(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

void coll_stats_fill_fields(int64_t field[COLL_STATS_FIELDS], const coll_observed *access)
{
    for (int i = 0; i < COLL_STAGES; i++)
        field[i] = nanoseconds(access->time.of[i]);
    field[COPY_TIME] = nanoseconds(access->device.seconds);
    field[BYTES] = access->moved;
    field[MESSAGES] = access->messages;
    field[METADATA] = access->metadata;
    field[COPIED] = access->device.bytes;
    field[COPIES] = access->device.copies;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Ranks that make the call early wait in its first reduction, which is the program's time. The last
 * one does not wait: its st1 is the call's. */
static void add_fields(coll_stats_line *line, const int64_t *field, int ranks)
{
    int64_t least = INT64_MAX, stage[BYTES] = {0};
    for (int r = 0; r < ranks; r++, field += FIELDS) {
        for (int i = 0; i < BYTES; i++)
            stage[i] = larger(stage[i], field[i]);
        least = field[COLL_ST1] < least ? field[COLL_ST1] : least;
        line->bytes += field[BYTES];
        line->messages += field[MESSAGES];
        line->metadata += field[METADATA];
        line->device.bytes += field[COPIED];
        line->device.copies += field[COPIES];
    }
    line->waited = 1e-9 * (double)(stage[COLL_ST1] - least);
    stage[COLL_ST1] = least;
    for (int i = 0; i < COLL_STAGES; i++)
        line->time.of[i] = 1e-9 * (double)stage[i];
    line->device.seconds = 1e-9 * (double)stage[COPY_TIME];
}

coll_stats_line coll_stats_make_line(const coll_observed *access, const int64_t *field)
{
    coll_stats_line line = {
        .file = access->file,
        .write = access->write,
        .ranks = access->group->size,
        .nodes = access->nodes->count,
        .calls = field != NULL,
        .plans = access->makes_plan,
        .domains = division_kind_name(DIVISION_AUTO),
        .strategy = "none",
        .plan_id = field != NULL ? 0 : -1,
    };
    if (field != NULL)
        add_fields(&line, field, line.ranks);
    if (access->settings != NULL) {
        line.stripe = access->settings->division.stripe;
        line.targets = access->settings->division.targets;
    }
    if (access->plan != NULL) {
        const coll_plan *plan = access->plan;
        line.aggregators = plan->layout.domains->count;
        line.domains = division_kind_name(plan->draft.kind);
        line.unit = plan->draft.unit;
        line.cycles = plan->layout.num_cycles;
        line.strategy = access->settings->strategy->name;
        line.hop_bytes = plan->draft.hop_bytes;
        line.hop_bytes_otp = plan->hop_bytes_otp;
        line.crossing_bytes = plan->draft.crossing_bytes;
        line.plan_id = plan->layout.id;
    }
    return line;
}

void coll_stats_add_line(coll_stats_line *total, const coll_stats_line *line)
{
    coll_stats_line sum = *line;
    sum.calls += total->calls;
    sum.plans += total->plans;
    sum.cycles += total->cycles;
    sum.bytes += total->bytes;
    sum.messages += total->messages;
    sum.metadata += total->metadata;
    sum.device.bytes += total->device.bytes;
    sum.device.copies += total->device.copies;
    sum.device.seconds += total->device.seconds;
    sum.waited += total->waited;
    sum.hop_bytes += total->hop_bytes;
    sum.hop_bytes_otp += total->hop_bytes_otp;
    sum.crossing_bytes += total->crossing_bytes;
    for (int i = 0; i < COLL_STAGES; i++)
        sum.time.of[i] += total->time.of[i];
    if (line->aggregators < total->aggregators) { /* those of the call with the most */
        sum.aggregators = total->aggregators;
        sum.domains = total->domains;
        sum.unit = total->unit;
        sum.strategy = total->strategy;
    }
    sum.plan_id = -1;
    *total = sum;
}

/* ---- the text ---- */

static void put_access(json_writer *w, const coll_stats_line *line)
{
    json_put_string(w, "op", line->write ? "write" : "read");
    json_put_string(w, "file", line->file);
    json_put_int64(w, "ranks", line->ranks);
    json_put_size(w, "nodes", line->nodes);
    json_put_int64(w, "calls", line->calls);
    json_put_int64(w, "plans", line->plans);
    json_put_size(w, "aggregators", line->aggregators);
    json_put_string(w, "domains", line->domains);
    json_put_int64(w, "unit", line->unit);
    json_put_int64(w, "cycles", line->cycles);
}

static void put_sums(json_writer *w, const coll_stats_line *line)
{
    char stage[] = "st1";
    double seconds = 0.0;
    for (int i = 0; i < COLL_STAGES; i++)
        seconds += line->time.of[i];
    json_put_int64(w, "bytes", line->bytes);
    json_put_int64(w, "messages", line->messages);
    json_put_int64(w, "metadata_bytes", line->metadata);
    json_put_int64(w, "device_bytes", line->device.bytes);
    json_put_int64(w, "device_copies", line->device.copies);
    json_put_formatted(w, "device_seconds", "%.6f", line->device.seconds);
    json_put_formatted(w, "seconds", "%.6f", seconds);
    json_put_formatted(w, "waited", "%.6f", line->waited);
    for (int i = 0; i < COLL_STAGES; i++, stage[2]++)
        json_put_formatted(w, stage, "%.6f", line->time.of[i]);
    json_put_string(w, "strategy", line->strategy);
    json_put_formatted(w, "hop_bytes", "%.15g", line->hop_bytes);
    json_put_formatted(w, "hop_bytes_otp", "%.15g", line->hop_bytes_otp);
    json_put_int64(w, "crossing_bytes", line->crossing_bytes);
    if (line->stripe > 0) {
        json_put_int64(w, "stripe_size", line->stripe);
        json_put_int64(w, "stripe_count", line->targets);
    }
    if (line->noncollective > 0)
        json_put_int64(w, "noncollective_bytes", line->noncollective);
}

static void put_origin(json_writer *w, const coll_stats_line *line, const coll_process *process,
                       int64_t number)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_put_int64(w, "format", FORMAT);
    json_put_string(w, "version", TATP_VERSION);
    json_put_string(w, "program", coll_process_program(process));
    json_put_string(w, "run", process->job.id);
    json_put_int64(w, "call", number);
    json_put_int64(w, "opens", process->opens);
    json_put_formatted(w, "open_seconds", "%.6f", 1e-9 * (double)process->opening);
    json_put_int64(w, "closes", process->closes);
    json_put_formatted(w, "close_seconds", "%.6f", 1e-9 * (double)process->closing);
    json_put_formatted(w, "ended", "%.3f", (double)now.tv_sec + (double)now.tv_nsec * 1e-9);
    if (line->plan_id >= 0)
        json_put_int64(w, "schedule", line->plan_id);
}

void coll_stats_put_line(json_writer *w, const coll_stats_line *line, const coll_process *process,
                         int64_t number)
{
    put_access(w, line);
    put_sums(w, line);
    put_origin(w, line, process, number);
}

/* ---- who runs what where ---- */

/* Longer commands are cut, so that the line stays short. */
enum { LONGEST_COMMAND = 1024, LONGEST_NAME = 256 };

static void put_command(json_writer *w)
{
    char *text = NULL;
    size_t length = 0;
    if (coll_process_command(&text, &length) == 0) {
        argz_stringify(text, length, ' ');
        text[strnlen(text, LONGEST_COMMAND)] = '\0';
        json_put_string(w, "command", text);
    }
    free(text);
}

/* MPIs describe themselves at length; their name and release come first. */
static void put_mpi(json_writer *w, const char *description)
{
    char name[LONGEST_NAME];
    if (description == NULL)
        return;
    snprintf(name, sizeof name, "%s", description);
    name[strcspn(name, ",\n")] = '\0';
    json_put_string(w, "mpi", name);
}

static void put_record_name(json_writer *w, const coll_process *process, const char *record)
{
    if (*record == '\0' || coll_record_is_automatic(record))
        return;
    char *path = coll_job_path(process, record);
    if (path != NULL)
        json_put_string(w, "record", path);
    free(path);
}

void coll_stats_put_job(json_writer *w, const coll_process *process, const char *record)
{
    char user[COLL_NAME];
    struct utsname system;
    coll_process_user(user);
    json_begin_object(w, "job");
    json_put_string(w, "user", user);
    json_put_string(w, "id", coll_process_job(process));
    if (uname(&system) == 0)
        json_put_string(w, "host", system.nodename);
    put_command(w);
    put_mpi(w, process->job.mpi);
    put_record_name(w, process, record);
    json_end_object(w);
}
