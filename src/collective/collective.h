/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank's part in collective access to a file, over the runtime of an MPI (runtime.h).
 *
 * A file is opened by all ranks of a group, gets views, is accessed by collective calls, and is
 * closed. Calls on one file follow one another, and are made by all ranks in the same order. Where
 * a function is collective, an error of any rank becomes the error of all, as a class of
 * runtime->error_class; no rank returns while others wait for it.
 */
#ifndef COLLECTIVE_COLLECTIVE_H
#define COLLECTIVE_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "access/memory.h"
#include "collective/runtime.h"
#include "collective/settings.h"
#include "collective/stats.h"
#include "collective/view.h"

/* ---- what a front end has of an open file ---- */

/* Valid until the file is closed. */
typedef struct coll_handle {
    const coll_runtime *runtime;
    coll_store *store;
    const char *name;            /* of the file, for people */
    const access_device *device; /* whose memory calls may use; NULL: none */
    coll_observer observer;      /* the front end's; zeroed: none */
    double began;                /* the opening, by the clock of the process */
} coll_handle;

/* ---- files ---- */

/* files.h opens and closes it. */
typedef struct coll_file coll_file;

/* The first view was set: the ranks agree on settings. The facts are copied. The error is kept, and
 * every call returns it. Collective. */
void coll_file_start(coll_file *file, const coll_facts *facts);
/* A rank that has no memory for the file takes part with these values in the reduction, of maxima,
 * by which the others open it. All of them get the error. */
enum { COLL_OPENING_VALUES = 13 };
void coll_file_refuse(int64_t value[COLL_OPENING_VALUES]);
/* Whether coll_file_start was called for the present handle. */
bool coll_file_has_started(const coll_file *file);
/* The program has set hints (0: not this one), which apply from the next call on. No call may run,
 * as in the next function. Local. */
void coll_file_set_hints(coll_file *file, const coll_hint_values *hints);
/* Sets what MPI_File_get_info returns. False: the file is not open without an error. Local. */
bool coll_file_get_hints(const coll_file *file, coll_hint_values *hints);
/* All ranks close the file, next by coll_files_close: the bytes that this rank has read, and
 * written, by calls that are not collective. If they are most of all, and the user has asked for
 * collective access, rank 0 of the job says so once, if it is one of them. Collective. */
void coll_file_count_noncollective(coll_file *file, const int64_t bytes[2]);
/* Storage lacks data that this rank has written, as its file system says when it flushes or closes
 * the file: rc, 0 or a negative errno value. Returns the largest error class over all ranks; the
 * first of them with an error reports it. Collective. */
int coll_file_report_loss(coll_file *file, int rc);

/* ---- calls ---- */

typedef struct coll_call {
    coll_file *file;
    bool write, atomic;
    int error;            /* of the arguments, on this rank */
    access_memory memory; /* the caller's */
    const coll_view *view;
    coll_position position; /* in the view, of the first byte */
    int64_t bytes;          /* on this rank, as the memory has; 0 where the view has none */
    int64_t moved;          /* the result, unless the opening has failed */
} coll_call;

/* Returns the call's error. Collective. */
int coll_call_run(coll_call *call);

#endif
