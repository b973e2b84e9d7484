/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the Open MPI that runs has the structs of the headers that a component was built with.
 * They differ between releases of a series, and between configurations of a release; a struct that
 * is taken for another one is memory that is overwritten. */
#ifndef TATP_COMPAT_FIT_H
#define TATP_COMPAT_FIT_H

#include <stdbool.h>

/* Compares the release and the sizes of classes. Uses only what all releases of Open MPI have.
 * Where something differs, rank 0 prints it, with the remedy. component: "fcoll:tatp". */
bool compat_fits_library(const char *component);

/* Prints that message. what: the struct that differs though the releases are alike, or NULL. */
void compat_report_misfit(const char *component, const char *what);

#endif
