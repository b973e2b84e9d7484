/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the recorder share. Calls go record.c -> collect -> exchange and file, and
 * record.c -> individual; file -> automatic. */
#ifndef MCA_FCOLL_TATP_RECORD_INTERNAL_H
#define MCA_FCOLL_TATP_RECORD_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_record.h"

#include "ompi/mca/fbtl/fbtl.h"
#include "record/record.h"
#include "record/record_file.h"

/* ---- the user's cache (fcoll_tatp_record_automatic.c), local ---- */

/* The record that this run is to write; NULL: none. Owned by this function, until the run ends. */
const char *tatp_record_cache_place(void);
/* Reports, once a job, why the cache cannot be used; then this process does not use it. */
void tatp_record_cache_refuse(int rc);
/* The command by which this process was started, for people; the caller frees it. NULL: not known.
 */
char *tatp_record_cache_command(void);
/* Writes the record, in the user's folder, whose size stays bounded. */
void tatp_record_cache_write(record_file *file);
/* The run ends. */
void tatp_record_cache_end(void);

/* ---- the record file (fcoll_tatp_record_file.c), local ---- */

/* A file was closed: writes the record, unless that was done a short time ago. */
void tatp_record_flush(void);

/* Appends `times` accesses like the entry, which is by world ranks, to what this process has to
 * write. Errors are reported when it is written. On rank 0 of a file. */
void tatp_record_append(const tatp_record_options *options, const char *file,
                        const record_entry *entry, int64_t times, bool new_file);
/* An error because of which the record lacks something. On rank 0 of a file. */
void tatp_record_set_error(int rc);

/* Accesses that end beyond this offset are not recorded, so that bins, which may be twice as large
 * as the range of an access, end within RECORD_FILE_MOST_OFFSET. */
#define TATP_RECORD_MOST_OFFSET (RECORD_FILE_MOST_OFFSET / 4)

/* ---- accesses that are not collective (fcoll_tatp_record_individual.c), local ---- */

typedef struct tatp_record_individual {
    ompio_file_t *fh;                  /* NULL: not interposed */
    mca_fbtl_base_module_t interposer; /* takes the place of `fbtl` in the handle */
    mca_fbtl_base_module_t *fbtl;      /* that OMPIO selected */
    access_list list;                  /* accessed since the last acquire */
    size_t ordered;                    /* runs of the list when it was last put in order */
    int64_t missed;                    /* bytes that were too many, or too far, to note */
    void (*closing)(void *context); /* called when the handle is closed; removes the interposer */
    void *context;
} tatp_record_individual;

/* Notes the accesses of the handle that are not collective from now on. */
void tatp_record_interpose(tatp_record_individual *individual, ompio_file_t *fh);
void tatp_record_remove_interposer(tatp_record_individual *individual);
/* Hands over what was noted as an ordered list, and resets the notes. *missed: bytes that are not
 * in it. Negative errno. */
int tatp_record_acquire_individual(tatp_record_individual *individual, access_list *list,
                                   int64_t *missed);

/* ---- the recorder of a file ---- */

/* An access that was not collected yet: a collective one, or all others under one view. Every rank
 * has one for each, in the same order. */
typedef struct tatp_record_pending {
    bool collective;
    bool independent; /* without aggregators, as all that are not collective */
    access_division division;
    access_list list; /* this rank's, ordered */
    int error;        /* negative errno: why the list is incomplete */
    int64_t missed;   /* bytes of this rank that are not in the list */
    int64_t lo, hi;   /* range over all ranks; unless collective, agreed on when it is collected */
    int64_t times;    /* accesses like it */
} tatp_record_pending;

/* With this number of pending accesses they are collected, also while the file is open. */
#define TATP_RECORD_MAX_PENDING 16

/* Where the last collective access is known; the same on all ranks. */
enum tatp_record_last {
    TATP_RECORD_LAST_UNKNOWN,
    TATP_RECORD_LAST_PENDING,  /* on all ranks: the last collective one of the pending ones */
    TATP_RECORD_LAST_COLLECTED /* on rank 0: tatp_record.entry */
};

struct tatp_record {
    tatp_record_options options;
    tatp_record_individual individual;
    char *file;   /* as the program named it */
    bool counted; /* the file is among those of the record */
    tatp_record_pending pending[TATP_RECORD_MAX_PENDING];
    size_t count;
    size_t runs; /* in the lists of the pending ones */
    enum tatp_record_last last;
    size_t last_pending; /* index of the last collective one */
    record_entry entry;  /* of the last collective access that was collected; on rank 0 */
    int64_t repeats;     /* accesses like it that were not appended to the record yet */
};

/* ---- collection on rank 0 (fcoll_tatp_record_collect.c) ---- */

/* Appends all pending accesses to the record; `entry` becomes that of the last collective one.
 * Returns this rank's error. Collective. */
int tatp_record_collect(tatp_record *record);

/* ---- messages to the owners of the parts of the range (fcoll_tatp_record_exchange.c) ---- */

/* Sends part[j] to the owner of part j, and appends what `senders` other ranks send to this rank to
 * `received`, which is NULL if there is no memory for it. Empty parts are not sent. Returns this
 * rank's error. Collective. */
int tatp_record_exchange(tatp_comm *comm, const record_message *part, size_t parts, size_t senders,
                         tatp_message *received);
/* The rank that owns a part, and the part that a rank owns; SIZE_MAX: none. */
int tatp_record_owner(const tatp_comm *comm, size_t part, size_t parts);
size_t tatp_record_owned(const tatp_comm *comm, size_t rank, size_t parts);

#endif
