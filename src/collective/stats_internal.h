/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the statistics share. Calls go stats.c -> plan, timeline and file. */
#ifndef COLLECTIVE_STATS_INTERNAL_H
#define COLLECTIVE_STATS_INTERNAL_H

#include "collective/stats.h"

#include "json/json.h"

/* ---- the plan of a line (stats_plan.c) ---- */

/* On rank 0, where the plan has its entries: an object of that key. */
void coll_stats_put_plan(json_writer *w, const char *key, const coll_stats_access *access,
                         int ranks);

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
