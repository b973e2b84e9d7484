/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: a line (a JSON object) for each collective access, appended to a file by rank 0. An
 * observer: a line that cannot be written is reported by a message and does not fail the call. */
#ifndef MCA_FCOLL_TATP_STATS_H
#define MCA_FCOLL_TATP_STATS_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_device.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"

#include "exchange/transport.h"

/* The state of one file: its time line and memory for what the ranks report. */
typedef struct tatp_stats tatp_stats;

tatp_stats *tatp_stats_new(void); /* NULL: no memory */
void tatp_stats_free(tatp_stats *stats);
/* Allocates what rank 0 needs for `ranks` ranks. Local. */
int tatp_stats_prepare(tatp_stats *stats, int rank, int ranks);

/* For people lines have no details: neither plan nor time line. */
enum tatp_stats_kind { TATP_STATS_OFF, TATP_STATS_FOR_PEOPLE, TATP_STATS_DETAILED };
/* The value of parameter stats for standard error, whose lines are for people. */
#define TATP_STATS_STDERR "-"
/* A file is opened. kind: the same on all ranks; path: rank 0's value of the parameter, which stays
 * valid until tatp_stats_end. Local, as all that follow but report. */
void tatp_stats_begin(tatp_stats *stats, const char *path, enum tatp_stats_kind kind);
void tatp_stats_end(tatp_stats *stats);

bool tatp_stats_are_on(const tatp_stats *stats);
/* On rank 0: whether the next line can have a plan, for which its entries have to be kept. */
bool tatp_stats_want_plan(const tatp_stats *stats);

/* Starts the time line: the probe notes when this rank's aggregator reached which moment, while an
 * exchange of `num_cycles` cycles runs. NULL where the next line cannot have a time line. */
const exchange_probe *tatp_stats_probe(tatp_stats *stats, int64_t num_cycles);

/* Seconds of the five stages of two-phase I/O as the TATP paper counts them, on this rank. */
typedef struct tatp_times {
    double st1; /* view, accessed range */
    double st2; /* file domains and their assignment */
    double st3; /* exchange of the access requests */
    double st4; /* shuffle */
    double st5; /* file access */
} tatp_times;

typedef struct tatp_stats_access {
    const char *file; /* that was accessed */
    bool write;
    tatp_times time;
    int64_t moved;    /* bytes of this rank's buffer */
    int64_t messages; /* with data, sent by this rank */
    tatp_device_use device;
    int64_t metadata; /* bytes of the messages of int64 that it sent for this access */
    bool makes_plan;
    int64_t plan_calls; /* accesses by this plan, this one included */
    const tatp_plan_settings *settings;
    tatp_plan *plan; /* rank 0 releases its entries; NULL: none, as of an independent access */
    const tatp_nodes *nodes;
} tatp_stats_access;

/* Appends the line; does nothing where statistics are off. Returns an error of communication only.
 * Collective where statistics are on. */
int tatp_stats_report(tatp_stats *stats, coll_group *group, const tatp_stats_access *access);

#endif
