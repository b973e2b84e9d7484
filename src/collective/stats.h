/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: a line (a JSON object) for each collective access, appended to a file by rank 0. An
 * observer: a line that cannot be written is reported by a message and does not fail the call. */
#ifndef COLLECTIVE_STATS_H
#define COLLECTIVE_STATS_H

#include "collective/observer.h"

/* The state of one file: its time line and memory for what the ranks report. */
typedef struct coll_stats coll_stats;

coll_stats *coll_stats_new(void); /* NULL if memory is exhausted */
void coll_stats_free(coll_stats *stats);
/* For a file of this group: allocates what rank 0 needs. Local. */
int coll_stats_prepare(coll_stats *stats, const coll_group *group);

/* On rank 0, where the user is strict: opens the file for this value of the parameter, which may be
 * empty. 0, or an error that one message of the process reports. Local. */
int coll_stats_check(coll_stats *stats, const char *path);

/* A line for each call, without details or with plans and time lines; or at the end a line for all
 * calls in each direction. */
enum coll_stats_kind { COLL_STATS_OFF, COLL_STATS_PLAIN, COLL_STATS_DETAILED, COLL_STATS_TOTALS };
/* The value of parameter stats for standard error, whose lines have no details. */
#define COLL_STATS_STDERR "-"
/* A file is opened. kind: the same on all ranks; path, record: rank 0's values of the parameters,
 * which stay valid until coll_stats_end. Local. */
void coll_stats_begin(coll_stats *stats, enum coll_stats_kind kind, const char *path,
                      const char *record);
/* On rank 0, before coll_stats_end: bytes of all ranks by calls that are not collective. access:
 * the file and the direction. Local. */
void coll_stats_count_noncollective(coll_stats *stats, const coll_observed *access, int64_t bytes);
/* The file is closed: appends what it has of totals. Local. */
void coll_stats_end(coll_stats *stats);

/* Appends a line for each access, or adds to totals; nothing where statistics are off. */
coll_observer coll_stats_observer(coll_stats *stats);

#endif
