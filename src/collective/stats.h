/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: a line (a JSON object) for each collective access, appended to a file by rank 0. An
 * observer: a line that cannot be written is reported by a message and does not fail the call. */
#ifndef COLLECTIVE_STATS_H
#define COLLECTIVE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "collective/nodes.h"
#include "collective/plan.h"

#include "exchange/transport.h"

/* The state of one file: its time line and memory for what the ranks report. */
typedef struct coll_stats coll_stats;

coll_stats *coll_stats_new(void); /* NULL: no memory */
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
 * which stay valid until coll_stats_end. Local, as all that follow but report. */
void coll_stats_begin(coll_stats *stats, enum coll_stats_kind kind, const char *path,
                      const char *record);
/* The file is closed: appends what it has of totals. */
void coll_stats_end(coll_stats *stats);

bool coll_stats_are_on(const coll_stats *stats);
/* On rank 0: whether the next line can have a plan, for which its entries have to be kept. */
bool coll_stats_want_plan(const coll_stats *stats);

/* Starts the time line: the probe notes when this rank's aggregator reached which moment, while an
 * exchange of `num_cycles` cycles runs. NULL where the next line cannot have a time line. */
const exchange_probe *coll_stats_probe(coll_stats *stats, int64_t num_cycles);

/* Seconds of the five stages of two-phase I/O as the TATP paper counts them, on this rank. */
typedef struct coll_times {
    double st1; /* view, accessed range */
    double st2; /* file domains and their assignment */
    double st3; /* exchange of the access requests */
    double st4; /* shuffle */
    double st5; /* file access */
} coll_times;

/* Copies between a device and host memory. */
typedef struct coll_device_use {
    int64_t copies, bytes;
    double seconds;
} coll_device_use;

typedef struct coll_stats_access {
    const char *file; /* that was accessed */
    bool write;
    coll_times time;
    int64_t moved;          /* bytes of this rank's buffer */
    int64_t messages;       /* with data, sent by this rank */
    coll_device_use device; /* of this rank */
    int64_t metadata;       /* bytes of the messages of int64 that it sent for this access */
    bool makes_plan;
    int64_t plan_calls; /* accesses by this plan, this one included */
    const coll_plan_settings *settings;
    coll_plan *plan; /* rank 0 releases its entries; NULL: none, as of an independent access */
    const coll_nodes *nodes;
} coll_stats_access;

/* Appends the line, or adds to totals; does nothing where statistics are off. Returns an error of
 * communication only. Collective where statistics are on. */
int coll_stats_report(coll_stats *stats, coll_group *group, const coll_stats_access *access);

#endif
