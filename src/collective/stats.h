/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: a line (a JSON object) for each operation, appended to a file by rank 0. An observer:
 * a line that cannot be written is reported by a message and does not fail the call. */
#ifndef COLLECTIVE_STATS_H
#define COLLECTIVE_STATS_H

#include "collective/observer.h"

/* One operation, which is counted as a call, or sums over several of one file and direction. */
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

/* Cycles of an aggregator in its time line: all of them, or every n-th. */
#define COLL_TIMELINE_CYCLES 32

typedef struct coll_timeline {
    double begin;  /* seconds, of this rank's clock */
    int64_t every; /* one of this number of cycles is kept */
    int32_t at[COLL_TIMELINE_CYCLES]
              [EXCHANGE_MOMENTS]; /* microseconds since then; 0: not reached */
} coll_timeline;

/* A line for each operation, without details or with plans and time lines; or at the end a line for
 * all in each direction. */
enum coll_stats_kind { COLL_STATS_OFF, COLL_STATS_PLAIN, COLL_STATS_DETAILED, COLL_STATS_TOTALS };
/* The value of parameter stats for standard error, whose lines have no details. */
#define COLL_STATS_STDERR "-"

/* The state of one file. Zero at first. */
typedef struct coll_stats {
    coll_timeline timeline;
    exchange_probe probe; /* notes into it */
    coll_process *process;
    enum coll_stats_kind kind;
    /* Rank 0, while a file with statistics is open: */
    char *path;               /* the value of the parameter; NULL: none is */
    char *record;             /* likewise, of the record */
    int64_t *fields;          /* what each rank reports */
    coll_stats_line total[2]; /* of all that was read, and written, but for own lines */
    int fd;                   /* of the statistics; negative: none */
} coll_stats;

/* Appends a line for each operation, or adds to totals; nothing where statistics are off. */
coll_observer coll_stats_observer(coll_stats *stats);

#endif
