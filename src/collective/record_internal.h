/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the recorder share. Calls go record.c -> collect and automatic. */
#ifndef COLLECTIVE_RECORD_INTERNAL_H
#define COLLECTIVE_RECORD_INTERNAL_H

#include "collective/record.h"

#include "cache/cache.h"
#include "collective/process.h"

#include "record/record.h"
#include "record/record_file.h"

/* What this process records. Threads may open and close several files at the same time: the lock of
 * the process is held. */
typedef struct coll_recorder {
    coll_process *process;
    record_file *file;     /* NULL if it records nothing */
    bool is_automatic;     /* it is in the user's cache */
    int error;             /* negative errno: why something is missing */
    int64_t noncollective; /* bytes that are not in it, as no collective call has moved them */
    double next;           /* when a closed file leads to the next version */
    bool is_refused;       /* another job records into the file, which was reported */
    /* This run, in the user's cache. */
    struct {
        bool is_known;   /* all of what follows */
        bool has_key;    /* and a folder: the cache is used */
        bool has_record; /* of an earlier run */
        cache_key key;
        char *path;    /* of the record */
        char *command; /* the arguments of this process as one line */
    } run;
} coll_recorder;

/* ---- collection on rank 0 (record_collect.c) ---- */

/* Makes the entry of an access, by world ranks, on rank 0; elsewhere, and after an error, it has no
 * rows. Returns this rank's error, of rank 0 after any that makes it incomplete. Collective. */
int coll_record_collect(const coll_observed *access, record_entry *entry);

/* ---- the user's cache (record_automatic.c), local, with the lock held ---- */

/* The record that this run is to write; NULL if there is none. Owned by this function, until the
 * run ends. */
const char *coll_record_cache_place(coll_recorder *recorder);
/* Reports, once a job, why the cache cannot be used; then this process does not use it. */
void coll_record_cache_refuse(coll_recorder *recorder, int rc);
/* Writes the record, in the user's folder, whose size stays bounded. */
void coll_record_cache_write(coll_recorder *recorder);
/* The run ends. */
void coll_record_cache_end(coll_recorder *recorder);

#endif
