/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of an open file: what MPI_File_open, MPI_File_set_view and MPI_File_set_info were given,
 * and what MPI_File_get_info returns. Local: src/collective agrees on them. */
#ifndef MCA_FCOLL_TATP_HINTS_H
#define MCA_FCOLL_TATP_HINTS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/mca/common/ompio/common_ompio.h"

#include "collective/collective.h"

/* Valid hints that the handle was opened with; others are 0, and reported where that is wanted. */
coll_hint_values tatp_hints_at_open(const ompio_file_t *fh, bool report);

/* The state of one file. */
typedef struct tatp_hints {
    struct ompi_file_t *file; /* the user's; NULL if there is none */
    bool reports;             /* rank 0 */
    coll_hint_values noted;   /* that the file has not got yet */
    coll_hint_values published;
    bool is_published; /* the info object has `published` */
} tatp_hints;

/* The handle was opened. An invalid value is ignored, and reported by rank 0, once a process for
 * each hint. */
void tatp_hints_open(tatp_hints *hints, const ompio_file_t *fh);
/* Notes hints of MPI_File_set_view, which OMPIO does not get. */
void tatp_hints_note_info(tatp_hints *hints, struct opal_info_t *info);
/* Notes a hint of MPI_File_set_info. Returns whether it is valid. */
bool tatp_hints_note(tatp_hints *hints, const char *name, const char *text);

/* The hints that were noted since the last time; 0: not this one. */
coll_hint_values tatp_hints_take(tatp_hints *hints);
/* Gives them to the file, of which no call runs. */
void tatp_hints_apply(tatp_hints *hints, coll_file *file);
/* From now on MPI_File_get_info returns what the file has, unless its opening has failed. */
void tatp_hints_publish(tatp_hints *hints, const coll_file *file);

#endif
