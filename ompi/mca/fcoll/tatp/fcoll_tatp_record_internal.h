/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the recorder share. Calls go record.c -> collect and file -> automatic. */
#ifndef MCA_FCOLL_TATP_RECORD_INTERNAL_H
#define MCA_FCOLL_TATP_RECORD_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_record.h"

#include "record/record.h"
#include "record/record_file.h"

/* ---- collection on rank 0 (fcoll_tatp_record_collect.c) ---- */

/* Makes the entry of an access, by world ranks, on rank 0; elsewhere, and after an error, it has no
 * rows. Returns this rank's error, of rank 0 after any that makes it incomplete. Collective. */
int tatp_record_collect(coll_group *group, const tatp_record_access *access, record_entry *entry);

/* ---- the record file (fcoll_tatp_record_file.c), local ---- */

/* Appends `times` accesses like the entry to what this process has to write; new_file: a file, and
 * no access. Errors are reported when it is written. On rank 0 of a file. */
void tatp_record_append(const char *path, const char *file, const record_entry *entry,
                        int64_t times, bool new_file);
/* Negative errno: why the record lacks something. On rank 0 of a file. */
void tatp_record_set_error(int rc);
/* A file was closed: writes the record, unless that was done a short time ago. */
void tatp_record_flush(void);

/* ---- the user's cache (fcoll_tatp_record_automatic.c), local, one thread at a time ---- */

/* The record that this run is to write; NULL: none. Owned by this function, until the run ends. */
const char *tatp_record_cache_place(void);
/* The command by which this process was started, for people; owned as above. */
const char *tatp_record_cache_command(void);
/* Reports, once a job, why the cache cannot be used; then this process does not use it. */
void tatp_record_cache_refuse(int rc);
/* Writes the record, in the user's folder, whose size stays bounded. */
void tatp_record_cache_write(record_file *file);
/* The run ends. */
void tatp_record_cache_end(void);

#endif
