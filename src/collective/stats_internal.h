/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the statistics share. Calls go stats.c -> line, plan, timeline and file;
 * line -> job. */
#ifndef COLLECTIVE_STATS_INTERNAL_H
#define COLLECTIVE_STATS_INTERNAL_H

#include "collective/stats.h"

#include "json/json.h"

/* ---- a line (stats_line.c) ---- */

/* What each rank reports to rank 0 of a call. */
enum { COLL_STATS_FIELDS = 11 };
void coll_stats_fill_fields(int64_t field[COLL_STATS_FIELDS], const coll_observed *access);

/* One call, or sums over several of one file and direction. */
typedef struct coll_stats_line {
    const char *file;
    bool write;
    int ranks;
    size_t nodes;
    int64_t calls, plans;
    size_t aggregators;
    const char *domains, *strategy;
    int64_t unit, cycles;
    coll_times time; /* of the slowest rank in each stage; st1 of the last rank to make the call */
    double waited;   /* of the first rank to make the call for the last one */
    int64_t bytes, messages, metadata; /* sums over all ranks */
    access_device_use device;          /* seconds: of the slowest rank */
    double hop_bytes, hop_bytes_otp;
    int64_t crossing_bytes;
    int64_t plan_id;         /* -1: of several calls, or none */
    int64_t noncollective;   /* bytes by other calls, of all ranks; not in `bytes` */
    int64_t stripe, targets; /* bytes of a stripe of the file, and how many; 0: not known */
} coll_stats_line;

/* field: COLL_STATS_FIELDS of each rank, in order; NULL: there was no call. */
coll_stats_line coll_stats_make_line(const coll_observed *access, const int64_t *field);
/* calls == 0 in *total: nothing was added yet. */
void coll_stats_add_line(coll_stats_line *total, const coll_stats_line *line);
/* The members of the line's object. number: of the line. */
void coll_stats_put_line(json_writer *w, const coll_stats_line *line, const coll_process *process,
                         int64_t number);

/* ---- the job (stats_job.c) ---- */

/* An object of that key: user, job, host, command, MPI and record, each if it is known. record: the
 * parameter, or "". */
void coll_stats_put_job(json_writer *w, const char *key, const coll_process *process,
                        const char *record);

/* ---- the plan of a line (stats_plan.c) ---- */

/* On rank 0, where the plan has its entries: an object of that key. */
void coll_stats_put_plan(json_writer *w, const char *key, const coll_observed *access, int ranks);

/* ---- time lines (stats_timeline.c) ---- */

/* Cycles of an aggregator in its time line: all of them, or every n-th. */
#define COLL_TIMELINE_CYCLES 32

typedef struct coll_timeline {
    const coll_process *process;
    double begin;  /* seconds, of this rank's clock */
    int64_t every; /* one of this number of cycles is kept */
    int32_t at[COLL_TIMELINE_CYCLES]
              [EXCHANGE_MOMENTS]; /* microseconds since then; 0: not reached */
} coll_timeline;

void coll_timeline_reset(coll_timeline *line, int64_t num_cycles);
/* exchange_probe.note; context is a coll_timeline. */
void coll_timeline_note(void *context, int64_t cycle, enum exchange_moment moment);

/* Sends this rank's time line to rank 0, if rank 0 expects it. */
int coll_timeline_send(const coll_timeline *line, coll_group *group, const coll_plan *plan);
/* On rank 0: receives those of other ranks, and writes all as an array of that key unless w is
 * NULL. Returns the first error. */
int coll_timeline_receive(const coll_timeline *own, coll_group *group, const coll_plan *plan,
                          json_writer *w, const char *key);

/* ---- the file (stats_file.c) ---- */

/* Opens the file for appending. Returns its descriptor, or a negative errno; -EINVAL: not a regular
 * file; -EEXIST: neither empty nor statistics. */
int coll_stats_open(const coll_process *process, const char *path);
/* Appends a line. Negative errno. */
int coll_stats_append(int fd, const char *text, size_t length);

#endif
