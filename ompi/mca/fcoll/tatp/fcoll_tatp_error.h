/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes. */
#ifndef MCA_FCOLL_TATP_ERROR_H
#define MCA_FCOLL_TATP_ERROR_H

/* An OMPI or MPI error code as a positive MPI error class; 0 for success. */
int tatp_error_class(int rc);
/* A negative errno value of src/ as an OMPI error code. */
int tatp_from_errno(int rc);

#endif
