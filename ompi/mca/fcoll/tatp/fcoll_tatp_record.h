/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: what the ranks access in the files of a run, for placement at the next launch.
 * Which of them access neighbouring regions (the view matrix), and which part of the range each
 * collective call accesses (the profile). An observer: it is called with what was accessed, and an
 * error of the recorder is reported by a message and never that of a call. */
#ifndef MCA_FCOLL_TATP_RECORD_H
#define MCA_FCOLL_TATP_RECORD_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"

#include "access/access.h"
#include "plan/division.h"

/* The recorder's state of one file. */
typedef struct tatp_record tatp_record;

tatp_record *tatp_record_new(void); /* NULL: no memory */
void tatp_record_free(tatp_record *record);

/* The value of parameter record with which runs are recorded in the user's cache (src/cache). */
#define TATP_RECORD_AUTOMATIC "auto"
bool tatp_record_is_automatic(const char *path);

/* On rank 0 of a file: whether its accesses are to be recorded, for this value of the parameter. In
 * the user's cache, only where there is no record of the program yet; what fails there is no error:
 * one message of the job says that its cache cannot be used. Otherwise one message of the process
 * says why nothing can be recorded. OMPI_SUCCESS or MPI_ERR_ACCESS. Local. */
int tatp_record_prepare(const char *path, bool *records);

/* What a file is recorded with. Pointers stay valid until the recording of the file ends. */
typedef struct tatp_record_options {
    const char *path; /* of the record, or TATP_RECORD_AUTOMATIC */
    tatp_comm *comm;
    size_t nodes; /* of the ranks of `comm` */
    /* Called when the file is closed under another component, before the recorder lets go of it. */
    void (*closing)(void *context);
    void *context;
} tatp_record_options;

/* A view of the file was set, the first one (recording begins: from now on accesses that are not
 * collective are noted as well) or another. Collective. */
void tatp_record_begin(tatp_record *record, ompio_file_t *fh, const tatp_record_options *options);

/* Whether the next access has to be passed with its list although it repeats the last one. */
bool tatp_record_wants_list(const tatp_record *record);
/* Whether this rank has noted so much that the ranks should collect it; the caller agrees on that.
 */
bool tatp_record_is_long(const tatp_record *record);

/* One ordered collective access that was carried out. */
typedef struct tatp_record_access {
    const access_list *list; /* this rank's; not read if the access repeats the last one and
                                tatp_record_wants_list is false */
    int64_t lo, hi;          /* range over all ranks */
    bool repeats;            /* the last one, maybe at another place of the file */
    bool independent;        /* without aggregators */
    const division_settings *division; /* of the file domains otherwise */
} tatp_record_access;

/* Notes the access. To be called for all of them, also while nothing is recorded. is_long: of any
 * rank; then collective, else local. */
void tatp_record_add(tatp_record *record, const tatp_record_access *access, bool is_long);

/* The component no longer handles the file: collects what is noted. Collective unless recording of
 * the file has not begun, or has ended already. */
void tatp_record_end(tatp_record *record);

#endif
