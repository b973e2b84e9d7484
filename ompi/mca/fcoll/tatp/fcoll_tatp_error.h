/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes: 0, a negative errno value, or a positive MPI error class. */
#ifndef MCA_FCOLL_TATP_ERROR_H
#define MCA_FCOLL_TATP_ERROR_H

/* Converts a code into an MPI error class; 0 for success. */
int tatp_error_class(int rc);
/* Converts what Open MPI's functions return into a code. */
int tatp_from_ompi(int rc);

#endif
