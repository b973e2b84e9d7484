/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_File_write_all, MPI_File_write_at_all, MPI_File_write_ordered. */
#include "fcoll_tatp.h"

int mca_fcoll_tatp_file_write_all(struct ompio_file_t *fh, const void *buf, compat_count count,
                                  struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    return tatp_collective(fh, true, buf, (size_t)count, datatype, status);
}
