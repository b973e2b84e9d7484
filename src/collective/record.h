/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: what the ranks access by aggregators in the files of a run, for placement at the
 * next launch. Which of them access neighbouring regions (the view matrix), and which part of the
 * range each collective call accesses (the profile). What each rank accesses itself is not
 * recorded: no placement changes what that moves. An observer: it is called with what was accessed,
 * and an error of the recorder is reported by a message and never that of a call. */
#ifndef COLLECTIVE_RECORD_H
#define COLLECTIVE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/group.h"

#include "access/access.h"
#include "plan/division.h"
#include "record/record_file.h"

/* The recorder's state of one file. */
typedef struct coll_record coll_record;

/* On rank 0: what is accessed by a plan, and how often that was done. */
typedef struct coll_recorded {
    record_entry entry;
    int64_t times; /* accesses that were not appended to the record yet */
} coll_recorded;

coll_record *coll_record_new(void); /* NULL: no memory */
void coll_record_free(coll_record *record);

/* The value of parameter record with which runs are recorded in the user's cache (src/cache). */
#define COLL_RECORD_AUTOMATIC "auto"
bool coll_record_is_automatic(const char *path);

/* On rank 0 of a file: whether its accesses are to be recorded, for this value of the parameter. In
 * the user's cache, only where there is no record of the program yet; what fails there is no error:
 * one message of the job says that its cache cannot be used. Otherwise one message of the process
 * says why nothing can be recorded. 0 or, where the user is strict, -EACCES. Local. */
int coll_record_prepare(coll_process *process, const char *path, bool strict, bool *records);
/* The process opens no more files: writes what it has recorded. Local. */
void coll_record_finish(coll_process *process);

/* On rank 0: the file of that name was opened, and is recorded for this value of the parameter,
 * which stays valid until coll_record_end. Local. */
void coll_record_begin(coll_record *record, coll_process *process, const char *path,
                       const char *file);

typedef struct coll_record_access {
    const access_list *list;           /* this rank's, ordered */
    int64_t lo, hi;                    /* range over all ranks */
    const division_settings *division; /* of the file domains */
} coll_record_access;

/* A plan was made for this access. Collective. */
void coll_record_plan(coll_recorded *recorded, coll_group *group, const coll_record_access *access);
/* Appends the accesses by a plan, maybe at other places of the file, to the record. Local. */
void coll_record_settle(const coll_record *record, coll_recorded *recorded);

/* All accesses are appended; the component no longer handles the file, if there is one. Local. */
void coll_record_end(coll_record *record);

#endif
