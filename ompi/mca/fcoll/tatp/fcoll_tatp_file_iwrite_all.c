/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_File_iwrite_all, MPI_File_iwrite_at_all, and the split MPI_File_write_*_begin and _end. */
#include "fcoll_tatp.h"

int mca_fcoll_tatp_file_iwrite_all(struct ompio_file_t *fh, const void *buf, compat_count count,
                                   struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    return tatp_collective_start(fh, true, buf, (size_t)count, datatype, request);
}
