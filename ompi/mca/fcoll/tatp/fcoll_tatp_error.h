/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes: 0, a negative errno value, or a positive MPI error class. */
#ifndef MCA_FCOLL_TATP_ERROR_H
#define MCA_FCOLL_TATP_ERROR_H

/* A code as an MPI error class; 0 for success. */
int tatp_error_class(int rc);
/* What Open MPI's functions return, as a code. */
int tatp_from_ompi(int rc);

#endif
