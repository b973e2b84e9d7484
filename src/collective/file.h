/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: its settings, and what is kept for its next calls. */
#ifndef COLLECTIVE_FILE_H
#define COLLECTIVE_FILE_H

#include "collective/files.h"
#include "collective/independent.h"
#include "collective/nodes.h"
#include "collective/record.h"
#include "collective/slot.h"

struct coll_file {
    coll_ranks ranks;
    struct coll_file *next; /* of those that are kept */
    coll_settings settings; /* the same on all ranks */
    /* This rank's: as the settings, but for hints that the program has set since. */
    coll_facts facts;
    int64_t aggregators; /* of the last call by a plan; 0: none yet */
    bool has_started;    /* all ranks have agreed on `error` */
    int error;           /* of the opening */
    double began;        /* the opening, or closing, by the clock of the process; -1: neither */
    coll_handle handle;
    access_staging *staging; /* NULL until a device's memory is used */
    coll_group group;
    coll_nodes nodes;
    coll_stream stream; /* of plans */
    coll_exchange_memory *memory;
    coll_slots slots;
    int64_t moved;            /* bytes of this rank, by collective calls */
    int64_t noncollective[2]; /* after coll_file_count_noncollective: as of coll_closing */
    bool was_independent[2];  /* the last call that read, or wrote; true: there was none */
    bool misjudged;           /* this rank transferred data early, without use */
    char *buffer;             /* of independent.h */
    coll_observers observers;
    coll_wishes wishes; /* of the observers */
    coll_record record;
    coll_stats stats;
};

/* NULL if memory is exhausted. */
coll_file *coll_file_new(coll_process *process);
void coll_file_free(coll_file *file); /* closed; NULL is allowed */
/* The handle is copied. It is the first, or the next after coll_file_close. */
void coll_file_open(coll_file *file, const coll_handle *handle);
void coll_file_close(coll_file *file);
/* Whether the next handle of the same ranks can have the closed file: it was started, for this
 * handle or an earlier one, and without an error. */
bool coll_file_is_reusable(const coll_file *file);
/* Whether plans of the file fit these facts on the same file system. */
bool coll_file_has_settings(const coll_file *file, const coll_facts *facts);
/* The facts become the settings; those of rank 0, where they differ between ranks. If plans depend
 * on what changes, none is reused. The same on all ranks. Collective where ranks differ. */
int coll_file_agree(coll_file *file, bool differ);

#endif
