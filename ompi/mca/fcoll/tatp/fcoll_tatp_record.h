/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the recorder share; for the rest of the component see fcoll_tatp.h. */
#ifndef FCOLL_TATP_RECORD_H
#define FCOLL_TATP_RECORD_H

#include "fcoll_tatp.h"

#include "access/neighbours.h"
#include "matrix/view_file.h"
#include "ompi/mca/fbtl/fbtl.h"

/* What one kind of accesses adds to the record. On rank 0 of a file; elsewhere it stays empty. */
typedef struct tatp_kind {
    matrix view;            /* world ranks */
    access_pattern pattern; /* its file is not set here */
    matrix bytes;           /* no rows: no profile */
    int64_t moved, missed;  /* bytes, by all ranks: these, and those that could not be remembered */
} tatp_kind;

void tatp_kind_release(tatp_kind *kind);

/* The recorder's part of a module. */
typedef struct tatp_recording {
    tatp_module *module;
    char *file;             /* as the program named it */
    bool counted;           /* the file is among those of the record */
    bool known;             /* the last pass was recorded; the same on all ranks */
    tatp_kind kind;         /* of the last pass */
    int64_t times;          /* so many passes like it are not in the record yet */
    mca_fbtl_base_module_t watch; /* takes the place of `fbtl` in the handle */
    mca_fbtl_base_module_t *fbtl; /* whose place it takes */
    access_list individual; /* accessed by calls that are not collective, since the view was set */
    size_t folded;          /* runs that were left when these were last put in order */
    int64_t missed;         /* bytes of such accesses that were too many to remember */
} tatp_recording;

/* Numbers that a rank sends to rank 0. */
typedef struct tatp_account {
    int64_t *word;
    size_t count, capacity;
} tatp_account;

/* ---- fcoll_tatp_record.c ---- */
size_t tatp_world_size(void);
/* A rank of the communicator as a world rank; SIZE_MAX for a process of another job. */
size_t tatp_world_rank(ompio_file_t *fh, int rank);
/* Appends; -ENOMEM. */
int tatp_account_add(tatp_account *words, const int64_t *more, size_t count);

/* ---- fcoll_tatp_record_neighbours.c ---- */
/* Of an aggregator of contiguous domains: who follows whom in its own, as words. Local; negative errno. */
int tatp_describe_neighbours(const tatp_pass *pass, tatp_account *words);
/* On rank 0: adds what that aggregator said. `ends` has an entry for each domain. */
int tatp_add_neighbours(const int64_t *word, size_t count, matrix_builder *counts, access_ends *ends,
                        size_t domains);

/* ---- fcoll_tatp_record_profile.c ---- */
/* This rank's bytes by bins, as words; all ranks agree on the size of a bin, `*unit`. `rc` is what this
 * rank brings along. Collective; an error is this rank's, or everyone's. */
int tatp_describe_profile(const tatp_pass *pass, int rc, int64_t *unit, tatp_account *words);
/* On rank 0: adds the row that a rank described. Negative errno. */
int tatp_add_profile(const int64_t *word, size_t count, size_t row, matrix_builder *bytes);

/* ---- fcoll_tatp_record_individual.c ---- */
/* From now on accesses of the handle that are not collective are noted. Local. */
void tatp_watch(ompio_file_t *fh, tatp_recording *recording);
bool tatp_watches(const ompio_file_t *fh, const tatp_recording *recording);
void tatp_unwatch(ompio_file_t *fh, tatp_recording *recording);
/* What was noted, as an ordered list; nothing is noted any more. Local; negative errno. */
int tatp_take_individual(tatp_recording *recording, access_list *list);

/* ---- fcoll_tatp_record_file.c ---- */
/* What this process adds to the record, `times` times. Failures are told when the record is written. */
void tatp_record_keep(const char *file, const tatp_kind *kind, int64_t times, bool new_file);
/* An error that keeps something out of the record. */
void tatp_record_failed(int rc);
#endif
