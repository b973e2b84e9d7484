/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: what the ranks access by aggregators in the files of a run, for placement at the
 * next launch. Which of them access neighbouring regions (the view matrix), and which part of the
 * range each collective call accesses (the profile). What each rank accesses itself is not
 * recorded: no placement changes what that moves. An observer: it is called with what was accessed,
 * and an error of the recorder is reported by a message and never that of a call. */
#ifndef COLLECTIVE_RECORD_H
#define COLLECTIVE_RECORD_H

#include <stdbool.h>

#include "collective/observer.h"
#include "record/record_file.h"

/* The recorder's state of one file. Zero at first. */
typedef struct coll_record {
    bool records; /* the same on all ranks */
    /* Rank 0 has the rest. */
    coll_process *process;
    char *path; /* the value of the parameter */
    char *file; /* as the program named it; NULL if no file is recorded */
} coll_record;

/* The value of parameter record with which runs are recorded in the user's cache (src/cache). */
#define COLL_RECORD_AUTOMATIC "auto"
/* What it begins with for a command that `tatp run` was given; its digits in the cache follow. */
#define COLL_RECORD_COMMAND COLL_RECORD_AUTOMATIC ":"
bool coll_record_is_automatic(const char *path);

/* A number for the command of this process, where runs are recorded in the user's cache by this
 * value of the parameter (NULL: not set); otherwise 0. Local. */
int64_t coll_record_program(const char *path);
/* The process opens no more files: writes what it has recorded. Local. */
void coll_record_finish(coll_process *process);

/* Finds out whether a file is to be recorded. Collects what is accessed by each plan on rank 0, and
 * counts the accesses by it. */
coll_observer coll_record_observer(coll_record *record);

/* ---- record_collect.c, for record.c ---- */

/* Makes the entry of an access, by world ranks, on rank 0; elsewhere, and after an error, it has no
 * rows. Returns this rank's error, of rank 0 after any that makes it incomplete. Collective. */
int coll_record_collect(const coll_observed *access, record_entry *entry);

#endif
