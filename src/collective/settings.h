/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a file must have in common. Each rank brings its facts; where they differ,
 * those of rank 0 apply, and become the settings of the file. What plans depend on follows from
 * them. */
#ifndef COLLECTIVE_SETTINGS_H
#define COLLECTIVE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "collective/group.h"
#include "collective/hints.h"
#include "collective/parameters.h"
#include "collective/plan.h"

/* They follow the parameters of files (enum parameter), whose settings are their values or
 * coll_settings_digest_text. */
enum coll_setting {
    /* What the MPI has; 0: nothing. */
    COLL_MPI_BUFFER = PARAMETER_OF_FILE, /* bytes of a cycle */
    COLL_MPI_AGGREGATORS,
    COLL_FS_STRIPE_SIZE,
    COLL_FS_STRIPE_COUNT,
    /* Hints; enum coll_hint. */
    COLL_FIRST_HINT,
    /* Up to here, ranks may differ. What rank 0 finds out for all, or any rank: the largest of
     * their values counts; 0: nothing. */
    COLL_OF_RANKS = COLL_FIRST_HINT + COLL_HINTS,
    COLL_ROOT_STRIPE_SIZE = COLL_OF_RANKS, /* where the MPI has none */
    COLL_ROOT_STRIPE_COUNT,
    COLL_ROOT_CYCLE,      /* bytes; 0: by messages */
    COLL_ROOT_LOCK_UNIT,  /* bytes, where there are no stripes */
    COLL_ROOT_RECORDS,    /* whether the accesses of the file are recorded */
    COLL_ROOT_FLUSHES,    /* whether caches of nodes are not coherent, on any node */
    COLL_PROGRAM,         /* of record.c, a number of the command ... */
    COLL_PROGRAM_NEGATED, /* ... and its negative */
    COLL_SETTINGS
};

/* What this rank knows of a file that it opens. */
typedef struct coll_facts {
    parameter_texts parameters; /* until the file is open */
    int fd;                     /* to ask the file system; on others than rank 0 maybe -1 */
    bool locks_file;            /* each access locks it, and caches of nodes are coherent by that */
    bool is_asked_for;          /* collective access, by the user: others are told nothing */
    int64_t of[COLL_SETTINGS];
} coll_facts;

/* What all ranks have agreed on. */
typedef struct coll_settings {
    int64_t of[COLL_SETTINGS];
    int64_t digest; /* -1: of another handle */
    coll_plan_settings plan;
} coll_settings;

/* Reports values that cannot be used, each once a process. Returns 0 or as coll_refuse. Local, as
 * all that follow but agree. */
int coll_settings_check(coll_process *process, parameter_texts text);

/* The facts have these parameters and hints; the rest is zeroed. */
coll_facts coll_facts_collect(parameter_texts text, const coll_hint_values *hints);
/* A number that differs where the text does; 0: empty. */
int64_t coll_settings_digest_text(const char *text);
/* A number >= 0 that differs where any setting does in which ranks may differ. */
int64_t coll_settings_digest(const int64_t of[COLL_SETTINGS]);

/* What plans of a file of `ranks` ranks depend on. */
coll_plan_settings coll_settings_plan(const int64_t of[COLL_SETTINGS], int ranks);
/* Tells where the number of aggregators is not the one that was asked for. */
void coll_settings_tell(const coll_settings *settings, const coll_group *group, const char *file);
/* The hints that these settings mean, for MPI_File_get_info. aggregators: the number of them in the
 * last call, where it is chosen; 0: not known. */
coll_hint_values coll_settings_hints(const int64_t of[COLL_SETTINGS], int ranks,
                                     int64_t aggregators);

/* Replaces what ranks may differ in by that of rank 0, which reports each setting that differs,
 * once a process. `file`: its name. Returns the largest error class over all ranks; after an error
 * nothing is replaced. Collective. */
int coll_settings_agree(int64_t of[COLL_SETTINGS], coll_group *group, const char *file);

#endif
