/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the statistics share. Calls go stats.c -> plan, timeline and file. */
#ifndef MCA_FCOLL_TATP_STATS_INTERNAL_H
#define MCA_FCOLL_TATP_STATS_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_stats.h"

#include "json/json.h"

/* ---- the plan of a line (fcoll_tatp_stats_plan.c) ---- */

/* On rank 0, where the plan has its entries: an object of that key. */
void tatp_stats_put_plan(json_writer *w, const char *key, const tatp_stats_access *access,
                         int ranks);

/* ---- time lines (fcoll_tatp_stats_timeline.c) ---- */

/* Cycles of an aggregator in its time line: all of them, or every n-th. */
#define TATP_TIMELINE_CYCLES 32

typedef struct tatp_timeline {
    double begin;  /* seconds, of this rank's clock */
    int64_t every; /* one of this number of cycles is kept */
    int32_t at[TATP_TIMELINE_CYCLES]
              [EXCHANGE_MOMENTS]; /* microseconds since then; 0: not reached */
} tatp_timeline;

void tatp_timeline_reset(tatp_timeline *line, int64_t num_cycles);
/* exchange_probe.note; context is a tatp_timeline. */
void tatp_timeline_note(void *context, int64_t cycle, enum exchange_moment moment);

/* Sends this rank's time line to rank 0, if rank 0 expects it. */
int tatp_timeline_send(const tatp_timeline *line, coll_group *group, const tatp_plan *plan);
/* On rank 0: receives those of other ranks, and writes all as an array of that key unless w is
 * NULL. Returns the first error. */
int tatp_timeline_receive(const tatp_timeline *own, coll_group *group, const tatp_plan *plan,
                          json_writer *w, const char *key);

/* ---- the file (fcoll_tatp_stats_file.c) ---- */

/* Opens the file for appending. Returns its descriptor, or a negative errno; -EINVAL: not a regular
 * file; -EEXIST: neither empty nor statistics. */
int tatp_stats_open(const char *path);
/* Appends a line. Negative errno. */
int tatp_stats_append(int fd, const char *text, size_t length);

#endif
