/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a handle of OMPIO has the struct of the header that the component was built with
 * (ompi/compat/compat_fit.h). */
#ifndef TATP_FIT_H
#define TATP_FIT_H

#include "fcoll_tatp.h"

/* Compares a handle as OMPIO has filled it, for releases whose structs are not known yet. Follows
 * no pointer. Where something differs, rank 0 of the job prints it, for the first handle. */
bool tatp_fits_handle(const ompio_file_t *fh);

#endif
