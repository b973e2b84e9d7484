/* SPDX-License-Identifier: BSD-3-Clause */
/* File access through OMPIO's file-byte-transfer layer, one contiguous piece a call: OMPIO then
 * neither reads, modifies and writes back what lies in holes, which may belong to other processes,
 * nor hides how many bytes it moved. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"

#include <errno.h>

#include "ompi/mca/fbtl/fbtl.h"

/* fbtl/posix returns only that it failed; errno is what the system call left. */
static int error_from_errno(int error)
{
    switch (error) {
    case ENOSPC: return MPI_ERR_NO_SPACE;
    case EDQUOT: return MPI_ERR_QUOTA;
    case EROFS: return MPI_ERR_READ_ONLY;
    case EACCES:
    case EPERM: return MPI_ERR_ACCESS;
    default: return MPI_ERR_IO;
    }
}

/* The piece goes with a copy of the handle: while a non-blocking call is here, another thread may
 * have a list of its own in the handle. */
static int transfer_piece(const tatp_io *io, ssize_t (*transfer)(ompio_file_t *fh), int64_t offset,
                          char *data, int64_t bytes, int64_t *done)
{
    mca_common_ompio_io_array_t piece = {data, (void *)(intptr_t)offset, (size_t)bytes};
    ompio_file_t handle = *io->fh;
    handle.f_io_array = &piece;
    handle.f_num_of_io_entries = 1;
    do {
        errno = 0;
        *done = transfer(&handle);
    } while (*done < 0 && EINTR == errno);
    if (*done >= 0)
        return OMPI_SUCCESS;
    *done = 0;
    return error_from_errno(errno);
}

int tatp_io_write(const tatp_io *io, int64_t offset, const char *data, int64_t bytes, int64_t *done)
{
    int rc = transfer_piece(io, io->fbtl->fbtl_pwritev, offset, (char *)data, bytes, done);
    return OMPI_SUCCESS == rc && 0 == *done ? MPI_ERR_IO : rc;
}

int tatp_io_read(const tatp_io *io, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    return transfer_piece(io, io->fbtl->fbtl_preadv, offset, data, bytes, done);
}
