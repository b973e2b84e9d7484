/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the recorder share; for the rest of the component see fcoll_tatp.h. */
#ifndef FCOLL_TATP_RECORD_H
#define FCOLL_TATP_RECORD_H

#include "fcoll_tatp.h"

#include "matrix/view_file.h"
#include "ompi/mca/fbtl/fbtl.h"
#include "record/record.h"

/* What one kind of accesses adds to the record. On rank 0 of a file; elsewhere it stays empty. */
typedef struct tatp_kind {
    matrix view;            /* world ranks */
    access_pattern pattern; /* its file is not set here */
    matrix bytes;           /* no rows: no profile */
    int64_t moved, missed;  /* bytes, by all ranks: these, and those that could not be remembered */
} tatp_kind;

void tatp_kind_release(tatp_kind *kind);

/* Accesses that the ranks have not told each other yet: those of a collective call, or others under
 * one view. Every rank has one for each, in the same order. */
typedef struct tatp_noted {
    bool collective;
    access_list list; /* this rank's, ordered */
    int error;        /* an errno value: why the list is not all */
    int64_t missed;   /* bytes that were too many to remember */
    int64_t lo, hi; /* range over all ranks; of others it is agreed upon when they are collected */
    int64_t times;  /* calls like it */
} tatp_noted;

/* Then they are collected, also while the file is open. */
#define TATP_MOST_NOTED 16

/* Who knows the accesses of the last pass. */
typedef enum tatp_known {
    TATP_UNKNOWN,
    TATP_NOTED, /* all ranks: they are the last collective ones among those noted */
    TATP_KEPT   /* rank 0 */
} tatp_known;

/* The recorder's part of a module. */
typedef struct tatp_recording {
    tatp_module *module;
    char *file;   /* as the program named it */
    bool counted; /* the file is among those of the record */
    tatp_noted noted[TATP_MOST_NOTED];
    size_t count, last;           /* so many; the last collective ones */
    size_t runs;                  /* in the lists of all */
    tatp_known known;             /* the same on all ranks */
    tatp_kind kind;               /* the last that was collected */
    int64_t times;                /* so many passes of that kind are not in the record yet */
    mca_fbtl_base_module_t watch; /* takes the place of `fbtl` in the handle */
    mca_fbtl_base_module_t *fbtl; /* whose place it takes */
    access_list individual; /* accessed by calls that are not collective, since the view was set */
    size_t folded;          /* runs that were left when these were last put in order */
    int64_t missed;         /* bytes of such accesses that were too many to remember */
} tatp_recording;

/* ---- fcoll_tatp_record.c ---- */
size_t tatp_world_size(void);
/* A rank of the communicator as a world rank; SIZE_MAX for a process of another job. */
size_t tatp_world_rank(ompio_file_t *fh, int rank);

/* ---- fcoll_tatp_record_collect.c ---- */
/* Brings all that is noted to rank 0, and into the record there; the last collective accesses
 * become `kind`. Collective; an error is this rank's. */
int tatp_collect(ompio_file_t *fh, tatp_recording *recording);

/* ---- fcoll_tatp_record_exchange.c ---- */
/* Sends part[j] to the owner of part j, and takes in what `senders` other ranks send the owner
 * that this rank is to `received`, which is NULL without memory for it. Parts without words
 * are left out. Collective; a failure is local. */
int tatp_exchange_parts(tatp_pass *pass, const record_words *part, size_t parts, size_t senders,
                        tatp_words *received);
/* The rank that owns a part, and the part that a rank owns; SIZE_MAX: none. */
int tatp_owner(const ompio_file_t *fh, size_t part, size_t parts);
size_t tatp_owned(const ompio_file_t *fh, size_t rank, size_t parts);

/* ---- fcoll_tatp_record_individual.c ---- */
/* From now on accesses of the handle that are not collective are noted. Local. */
void tatp_watch(ompio_file_t *fh, tatp_recording *recording);
bool tatp_watches(const ompio_file_t *fh, const tatp_recording *recording);
void tatp_unwatch(ompio_file_t *fh, tatp_recording *recording);
/* What was noted, as an ordered list; nothing is noted any more. Local; negative errno. */
int tatp_take_individual(tatp_recording *recording, access_list *list);

/* ---- fcoll_tatp_record_file.c ---- */
/* What this process adds to the record, `times` times. Failures are told when the record is
 * written. */
void tatp_record_keep(const char *file, const tatp_kind *kind, int64_t times, bool new_file);
/* An error that keeps something out of the record. */
void tatp_record_failed(int rc);
#endif
