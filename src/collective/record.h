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

/* The recorder's state of one file. On rank 0: for the plan in each slot, what is accessed by it,
 * and how often that was done. */
typedef struct coll_record coll_record;

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

/* The plan in the slot was made for this access. Collective. */
void coll_record_plan(coll_record *record, size_t slot, coll_group *group,
                      const coll_record_access *access);
/* It was accessed by that plan, maybe at another place of the file. Local. */
void coll_record_count(coll_record *record, size_t slot);
/* The plan in the slot is released. Local. */
void coll_record_reset(coll_record *record, size_t slot);

/* The component no longer handles the file, if there is one. Local. */
void coll_record_end(coll_record *record);

#endif
