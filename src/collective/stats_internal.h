/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the statistics share. Calls go stats.c -> line, plan. */
#ifndef COLLECTIVE_STATS_INTERNAL_H
#define COLLECTIVE_STATS_INTERNAL_H

#include "collective/stats.h"

#include "json/json.h"

/* ---- a line (stats_line.c) ---- */

/* What each rank reports to rank 0 of a call. */
enum { COLL_STATS_FIELDS = 11 };
void coll_stats_fill_fields(int64_t field[COLL_STATS_FIELDS], const coll_observed *access);

/* field: COLL_STATS_FIELDS of each rank, in order; NULL: there was no call. */
coll_stats_line coll_stats_make_line(const coll_observed *access, const int64_t *field);
/* calls == 0 in *total: nothing was added yet. */
void coll_stats_add_line(coll_stats_line *total, const coll_stats_line *line);
/* The members of the line's object. number: of the line. */
void coll_stats_put_line(json_writer *w, const coll_stats_line *line, const coll_process *process,
                         int64_t number);

/* An object "job": user, job, host, command, MPI and record, each if it is known. record: the
 * parameter, or "". */
void coll_stats_put_job(json_writer *w, const coll_process *process, const char *record);

/* ---- the plan of a line (stats_plan.c) ---- */

/* Rank 0, where the plan has its entries, writes an object "plan". */
void coll_stats_put_plan(json_writer *w, const coll_observed *access);

#endif
