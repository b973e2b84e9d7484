/* SPDX-License-Identifier: BSD-3-Clause */
/* An aggregator's access to the file, through OMPIO's file-byte-transfer layer.
 *
 * One contiguous piece a call: OMPIO then neither reads, changes and writes back what lies in
 * holes (which are other people's bytes) nor hides how much was done. A piece that was done in
 * part is gone on with, until nothing moves or an error says why. */
#include "fcoll_tatp.h"

#include <errno.h>

#include "ompi/mca/fbtl/fbtl.h"

/* fbtl/posix says only that it failed; errno is what the system call left. */
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

typedef ssize_t (*transfer_fn)(ompio_file_t *fh);

/* Bytes moved, or -1 with errno. The list of pieces goes with a copy of the handle: a call that
 * does not block may get here while another thread has a list of its own in the handle. */
static ssize_t transfer_once(const ompio_file_t *fh, transfer_fn move, int64_t offset,
                             int64_t length, char *data)
{
    mca_common_ompio_io_array_t piece = {data, (void *)(intptr_t)offset, (size_t)length};
    ompio_file_t handle = *fh;
    handle.f_io_array = &piece;
    handle.f_num_of_io_entries = 1;
    errno = 0;
    return move(&handle);
}

/* Moves a piece whole, or up to where nothing more comes: *done bytes. */
static int transfer(const ompio_file_t *fh, transfer_fn move, int64_t offset, int64_t length,
                    char *data, int64_t *done)
{
    *done = 0;
    while (*done < length) {
        ssize_t moved = transfer_once(fh, move, offset + *done, length - *done, data + *done);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return error_from_errno(errno);
        if (moved == 0)
            break;
        *done += moved;
    }
    return OMPI_SUCCESS;
}

int tatp_file_write(tatp_pass *pass, int64_t lo, int64_t end, char *data)
{
    for (int64_t at = lo; at < end;) {
        int64_t contiguous, done;
        int64_t offset = domains_position_to_file(&pass->schedule->domains, pass->schedule->domain,
                                                  at, &contiguous);
        int64_t length = tatp_least(contiguous, end - at);
        int rc = transfer(pass->fh, tatp_fbtl(pass->fh)->fbtl_pwritev, offset + pass->shift, length,
                          data + (at - lo), &done);
        if (OMPI_SUCCESS != rc)
            return rc;
        if (done < length)
            return MPI_ERR_IO;
        at += length;
    }
    return OMPI_SUCCESS;
}

int tatp_file_read(tatp_pass *pass, int64_t lo, int64_t end, char *data, int64_t *valid)
{
    for (*valid = lo; *valid < end;) {
        int64_t contiguous, done;
        int64_t offset = domains_position_to_file(&pass->schedule->domains, pass->schedule->domain,
                                                  *valid, &contiguous);
        int64_t length = tatp_least(contiguous, end - *valid);
        int rc = transfer(pass->fh, tatp_fbtl(pass->fh)->fbtl_preadv, offset + pass->shift, length,
                          data + (*valid - lo), &done);
        *valid += done;
        if (OMPI_SUCCESS != rc || done < length)
            return rc;
    }
    return OMPI_SUCCESS;
}
