/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_File_read_all, MPI_File_read_at_all, MPI_File_read_ordered. */
#include "fcoll_tatp.h"

int mca_fcoll_tatp_file_read_all(struct ompio_file_t *fh, void *buf, compat_count count,
                                 struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    return tatp_collective(fh, false, buf, (size_t)count, datatype, status);
}
