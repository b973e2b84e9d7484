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

void tatp_transfer_init(tatp_transfer *transfer, const tatp_io *io)
{
    transfer->fbtl = io->fbtl;
    transfer->handle = *io->fh;
    transfer->handle.f_num_of_io_entries = 1;
}

static int transfer_piece(tatp_transfer *transfer, ssize_t (*move)(ompio_file_t *fh),
                          int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    mca_common_ompio_io_array_t piece = {data, (void *)(intptr_t)offset, (size_t)bytes};
    transfer->handle.f_io_array = &piece;
    do {
        errno = 0;
        *done = move(&transfer->handle);
    } while (*done < 0 && EINTR == errno);
    if (*done >= 0)
        return OMPI_SUCCESS;
    *done = 0;
    return error_from_errno(errno);
}

static int write_extent(tatp_transfer *transfer, const access_extent *extent)
{
    int64_t done;
    for (int64_t at = 0; at < extent->bytes; at += done) {
        int rc = transfer_piece(transfer, transfer->fbtl->fbtl_pwritev, extent->offset + at,
                                (char *)extent->data + at, extent->bytes - at, &done);
        if (OMPI_SUCCESS != rc)
            return rc;
        if (0 == done)
            return MPI_ERR_IO;
    }
    return OMPI_SUCCESS;
}

int tatp_io_write(tatp_transfer *transfer, const access_extent *extent, size_t count)
{
    int rc = OMPI_SUCCESS;
    for (size_t i = 0; i < count && OMPI_SUCCESS == rc; i++)
        rc = write_extent(transfer, &extent[i]);
    return rc;
}

int tatp_io_read(tatp_transfer *transfer, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    return transfer_piece(transfer, transfer->fbtl->fbtl_preadv, offset, data, bytes, done);
}
