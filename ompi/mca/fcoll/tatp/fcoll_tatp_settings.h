/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a file must have in common: values of parameters and hints, and what Open MPI
 * knows of the file. Each rank collects its own; where they differ, those of rank 0 apply. */
#ifndef MCA_FCOLL_TATP_SETTINGS_H
#define MCA_FCOLL_TATP_SETTINGS_H

#include "ompi_config.h"

#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_hints.h"

#include "plan/parameters.h"

/* After the parameters of files (enum parameter): their values, or tatp_settings_digest_text. */
enum tatp_setting {
    /* What OMPIO and its fs component know. */
    TATP_OMPIO_BUFFER = PARAMETER_OF_FILE,
    TATP_OMPIO_AGGREGATORS,
    TATP_FS_STRIPE_SIZE,
    TATP_FS_STRIPE_COUNT,
    TATP_FS_CYCLE, /* bytes; 0: by messages */
    /* Hints; enum tatp_hint. */
    TATP_FIRST_HINT,
    TATP_SETTINGS = TATP_FIRST_HINT + TATP_HINTS
};

typedef struct tatp_settings {
    int64_t of[TATP_SETTINGS];
} tatp_settings;

/* A number that differs where the text does; 0: empty. */
int64_t tatp_settings_digest_text(const char *text);
/* A number >= 0 that differs where any setting does. */
int64_t tatp_settings_digest(const tatp_settings *settings);

tatp_hint_values tatp_settings_get_hints(const tatp_settings *settings);
void tatp_settings_set_hints(tatp_settings *settings, const tatp_hint_values *hints);

/* Replaces settings by those of rank 0, which reports each setting that differs, once a process.
 * `file`: its name. Returns the largest error class over all ranks. Collective. */
int tatp_settings_agree(tatp_settings *settings, coll_group *group, const char *file);

#endif
