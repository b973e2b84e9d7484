/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_File_iread_all, MPI_File_iread_at_all, and the split MPI_File_read_*_begin and _end. */
#include "fcoll_tatp.h"

int mca_fcoll_tatp_file_iread_all(struct ompio_file_t *fh, void *buf, compat_count count,
                                  struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    return tatp_collective_start(fh, false, buf, (size_t)count, datatype, request);
}
