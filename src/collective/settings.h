/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a file must have in common: values of parameters and hints, and what the MPI
 * knows of the file. Each rank collects its own; where they differ, those of rank 0 apply. What
 * plans depend on follows from them. */
#ifndef COLLECTIVE_SETTINGS_H
#define COLLECTIVE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "collective/group.h"
#include "collective/hints.h"
#include "collective/parameters.h"
#include "collective/plan.h"

/* After the parameters of files (enum parameter): their values, or coll_settings_digest_text. */
enum coll_setting {
    /* What the MPI has; 0: nothing. */
    COLL_MPI_BUFFER = PARAMETER_OF_FILE, /* bytes of a cycle */
    COLL_MPI_AGGREGATORS,
    COLL_FS_STRIPE_SIZE,
    COLL_FS_STRIPE_COUNT,
    COLL_FS_CYCLE, /* bytes; 0: by messages */
    /* Hints; enum coll_hint. */
    COLL_FIRST_HINT,
    COLL_SETTINGS = COLL_FIRST_HINT + COLL_HINTS
};

typedef struct coll_settings {
    int64_t of[COLL_SETTINGS];
} coll_settings;

/* The texts of all parameters of a process; NULL or empty: the default. */
typedef const char *const *coll_parameters;

/* Reports values that cannot be used, each once a process. Returns 0 or as coll_refuse. Local, as
 * all that follow but agree. */
int coll_settings_check(coll_process *process, coll_parameters text);
/* Whether what cannot be used is an error. */
bool coll_settings_are_strict(coll_parameters text);

/* What the MPI has: the settings from COLL_MPI_BUFFER to COLL_FS_STRIPE_COUNT. */
typedef struct coll_mpi_values {
    int64_t of[COLL_FS_STRIPE_COUNT + 1 - COLL_MPI_BUFFER];
} coll_mpi_values;

/* This rank's settings. */
coll_settings coll_settings_collect(coll_parameters text, const coll_mpi_values *mpi,
                                    const coll_hint_values *hints);
/* A number that differs where the text does; 0: empty. */
int64_t coll_settings_digest_text(const char *text);
/* A number >= 0 that differs where any setting does. */
int64_t coll_settings_digest(const coll_settings *settings);

coll_hint_values coll_settings_get_hints(const coll_settings *settings);
void coll_settings_set_hints(coll_settings *settings, const coll_hint_values *hints);

/* What plans of a file of `ranks` ranks depend on. */
coll_plan_settings coll_settings_plan(const coll_settings *settings, int ranks);
/* Tells where the number of aggregators is not the one that was asked for. */
void coll_settings_tell(const coll_settings *settings, const coll_plan_settings *plan,
                        const coll_group *group, const char *file);
/* The hints that these settings mean, for MPI_File_get_info. given: the user's; aggregators: the
 * number of them in the last call, where it is chosen; 0: not known. */
coll_hint_values coll_settings_hints(const coll_plan_settings *settings,
                                     const coll_hint_values *given, int64_t aggregators);

/* Replaces settings by those of rank 0, which reports each setting that differs, once a process.
 * `file`: its name. Returns the largest error class over all ranks. Collective. */
int coll_settings_agree(coll_settings *settings, coll_group *group, const char *file);

#endif
