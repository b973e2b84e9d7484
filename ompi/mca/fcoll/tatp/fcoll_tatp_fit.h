/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the Open MPI that runs has the structs of the headers that the component was built with.
 * They differ between releases of a series, and between configurations of a release; a struct that
 * is taken for another one is memory that is overwritten. */
#ifndef TATP_FIT_H
#define TATP_FIT_H

#include "fcoll_tatp.h"

/* Compares the release and the sizes of classes. Uses only what all releases of Open MPI have.
 * Where something differs, rank 0 prints it, with the remedy. */
bool tatp_fits_library(void);

/* Compares a handle as OMPIO has filled it, for releases whose structs are not known yet. Follows
 * no pointer. Where something differs, rank 0 of the job prints it, for the first handle. */
bool tatp_fits_handle(const ompio_file_t *fh);

#endif
