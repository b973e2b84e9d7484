/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors and numbers that all ranks of a file must see alike. */
#include "fcoll_tatp.h"

#include "ompi/errhandler/errcode-internal.h"

int tatp_error_class(int rc)
{
    int class;
    if (OMPI_SUCCESS == rc)
        return MPI_SUCCESS;
    class = rc < 0 ? ompi_errcode_get_mpi_code(rc) : rc;
    return class > 0 ? class : MPI_ERR_OTHER;
}

int tatp_from_errno(int rc)
{
    switch (rc) {
    case 0: return OMPI_SUCCESS;
    case -ENOMEM: return OMPI_ERR_OUT_OF_RESOURCE;
    case -EINVAL: return MPI_ERR_ARG;
    default: return OMPI_ERROR;
    }
}

int tatp_agree_max(ompio_file_t *fh, int64_t *value, int count)
{
    return tatp_allreduce(fh, value, count, MPI_INT64_T, MPI_MAX);
}

int tatp_agree_error(ompio_file_t *fh, int rc)
{
    int64_t worst = tatp_error_class(rc);
    int failed = tatp_agree_max(fh, &worst, 1);
    return OMPI_SUCCESS != failed ? failed : (int)worst;
}
