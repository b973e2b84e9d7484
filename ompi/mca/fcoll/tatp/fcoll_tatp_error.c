/* SPDX-License-Identifier: BSD-3-Clause */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_error.h"

#include "ompi_config.h"

#include <errno.h>

#include "mpi.h"
#include "ompi/compat/compat_loss.h"
#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"

int tatp_from_ompi(int rc)
{
    if (OMPI_SUCCESS == rc)
        return 0;
    int class = rc < 0 ? ompi_errcode_get_mpi_code(rc) : rc;
    if (compat_is_loss(class))
        return COMPAT_LOSS;
    return class > 0 ? class : MPI_ERR_OTHER;
}

int tatp_error_class(int rc)
{
    switch (rc) {
    case -ENOMEM: return tatp_from_ompi(OMPI_ERR_OUT_OF_RESOURCE);
    case -EINVAL: return MPI_ERR_ARG;
    case -EIO: return MPI_ERR_IO;
    case -ENOSPC: return MPI_ERR_NO_SPACE;
    case -EDQUOT: return MPI_ERR_QUOTA;
    case -EROFS: return MPI_ERR_READ_ONLY;
    case -EPERM:
    case -EACCES: return MPI_ERR_ACCESS;
    case -EOVERFLOW: return MPI_ERR_COUNT;
    default: return rc < 0 ? MPI_ERR_OTHER : rc;
    }
}
