/* SPDX-License-Identifier: BSD-3-Clause */
/* File access through OMPIO's file-byte-transfer layer, one contiguous piece a call: OMPIO then
 * neither reads, modifies and writes back what lies in holes, which may belong to other processes,
 * nor hides how many bytes it moved. Where pieces are small and the file system is local, their
 * pages are mapped instead of a call for each piece. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "storage/stripes.h"

/* fbtl/posix returns only that it failed; errno is what the system call left. */
static int error_from_errno(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EACCES:
    case EPERM: return tatp_error_class(-error);
    default: return MPI_ERR_IO;
    }
}

static void begin_operation(void *context)
{
    tatp_io *io = context;
    const ompio_file_t *fh = io->fh;
    io->handle = *fh;
    if (fh->f_fbtl == &io->counting)
        io->handle.f_fbtl = io->own;
    io->handle.f_num_of_io_entries = 1;
    io->locks = !fh->f_atomicity && 0 == (fh->f_flags & OMPIO_LOCK_NEVER);
    if (io->locks)
        io->handle.f_flags ^= OMPIO_LOCK_NEVER | (fh->f_flags & OMPIO_LOCK_ENTIRE_FILE);
}

/* ---- locks ---- */

static int from_storage(int rc)
{
    return 0 == rc ? OMPI_SUCCESS : error_from_errno(-rc);
}

/* If OMPIO found that the file has to be locked. fbtl/posix would lock each piece, and go on where
 * a lock fails. This one is shared: ranks of one call never write the same bytes, and nothing
 * around theirs, so that they need not wait for each other. What reads, modifies and writes back
 * elsewhere waits. */
static int lock_bytes(void *context, int64_t offset, int64_t bytes)
{
    tatp_io *io = context;
    io->offset = offset;
    io->bytes = bytes;
    return io->locks ? from_storage(storage_lock(io->handle.fd, false, offset, bytes))
                     : OMPI_SUCCESS;
}

static int unlock_bytes(void *context)
{
    const tatp_io *io = context;
    return io->locks ? from_storage(storage_unlock(io->handle.fd, io->offset, io->bytes))
                     : OMPI_SUCCESS;
}

/* ---- pieces ---- */

static int transfer_piece(tatp_io *io, ssize_t (*move)(ompio_file_t *fh), int64_t offset,
                          char *data, int64_t bytes, int64_t *done)
{
    mca_common_ompio_io_array_t piece = {data, (void *)(intptr_t)offset, (size_t)bytes};
    io->handle.f_io_array = &piece;
    do {
        errno = 0;
        *done = move(&io->handle);
    } while (*done < 0 && EINTR == errno);
    if (*done >= 0)
        return OMPI_SUCCESS;
    *done = 0;
    return error_from_errno(errno);
}

static int write_extent(tatp_io *io, const access_extent *extent)
{
    int64_t done;
    for (int64_t at = 0; at < extent->bytes; at += done) {
        int rc = transfer_piece(io, io->handle.f_fbtl->fbtl_pwritev, extent->offset + at,
                                (char *)extent->data + at, extent->bytes - at, &done);
        if (OMPI_SUCCESS != rc)
            return rc;
        if (0 == done)
            return MPI_ERR_IO;
    }
    return OMPI_SUCCESS;
}

/* The file has to belong to fbtl/posix. */
static bool may_map(void *context)
{
    tatp_io *io = context;
    const ompio_file_t *fh = io->fh;
    if (TATP_MAPPING_UNKNOWN == io->mapping) {
        bool may = 0 == strcmp(fh->f_fbtl_component->mca_component_name, "posix") &&
                   access_pages_are_shared(fh->fd);
        io->mapping = may ? TATP_MAPPING_ALLOWED : TATP_MAPPING_REFUSED;
    }
    return TATP_MAPPING_ALLOWED == io->mapping;
}

/* The last extent comes first: the file then ends behind all pages, at the size that the extents
 * demand, while other ranks may write behind them. false: the extents have to be written one by
 * one, and that returns the error if there is one. */
static bool write_pages(tatp_io *io, const access_extent *extent, size_t count)
{
    if (io->handle.f_atomicity || !access_pages_pay(extent, count) || !may_map(io))
        return false;
    if (OMPI_SUCCESS == write_extent(io, &extent[count - 1]) &&
        0 == access_pages_write(io->handle.fd, extent, count))
        return true;
    io->mapping = TATP_MAPPING_REFUSED;
    return false;
}

static int write_extents(void *context, const access_extent *extent, size_t count)
{
    tatp_io *io = context;
    int rc = OMPI_SUCCESS;
    io->has_written = true;
    if (write_pages(io, extent, count))
        return rc;
    for (size_t i = 0; i < count && OMPI_SUCCESS == rc; i++)
        rc = write_extent(io, &extent[i]);
    return rc;
}

static int read_bytes(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    tatp_io *io = context;
    return transfer_piece(io, io->handle.f_fbtl->fbtl_preadv, offset, data, bytes, done);
}

/* When OMPIO's own non-blocking calls write is not known here. */
static int flush_file(void *context)
{
    tatp_io *io = context;
    bool is_written = io->has_written || io->counted[true] > 0;
    int rc = is_written ? storage_flush(io->fh->fd) : 0;
    io->has_written = 0 != rc;
    return from_storage(rc);
}

static void refresh_file(void *context)
{
    const tatp_io *io = context;
    if (0 == (io->fh->f_amode & MPI_MODE_RDONLY))
        storage_refresh(io->fh->fd);
}

/* ---- what OMPIO accesses itself ---- */

_Atomic unsigned long long tatp_io_counted[2];

/* Counts what the handle is about to access. Returns its own fbtl. */
static const mca_fbtl_base_module_t *count_pieces(const ompio_file_t *fh, bool write)
{
    tatp_io *io = (tatp_io *)((char *)fh->f_fbtl - offsetof(tatp_io, counting));
    size_t bytes = 0;
    for (int i = 0; i < fh->f_num_of_io_entries; i++)
        bytes += fh->f_io_array[i].length;
    atomic_fetch_add_explicit(&io->counted[write], (int64_t)bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&tatp_io_counted[write], bytes, memory_order_relaxed);
    return io->own;
}

static ssize_t count_pwritev(ompio_file_t *fh)
{
    return count_pieces(fh, true)->fbtl_pwritev(fh);
}

static ssize_t count_preadv(ompio_file_t *fh)
{
    return count_pieces(fh, false)->fbtl_preadv(fh);
}

static ssize_t count_ipwritev(ompio_file_t *fh, ompi_request_t *request)
{
    return count_pieces(fh, true)->fbtl_ipwritev(fh, request);
}

static ssize_t count_ipreadv(ompio_file_t *fh, ompi_request_t *request)
{
    return count_pieces(fh, false)->fbtl_ipreadv(fh, request);
}

void tatp_io_count(tatp_io *io)
{
    ompio_file_t *fh = io->fh;
    if (fh->f_fbtl == &io->counting)
        return;
    io->own = fh->f_fbtl;
    io->counting = *io->own;
    io->counting.fbtl_pwritev = count_pwritev;
    io->counting.fbtl_preadv = count_preadv;
    if (NULL != io->own->fbtl_ipwritev)
        io->counting.fbtl_ipwritev = count_ipwritev;
    if (NULL != io->own->fbtl_ipreadv)
        io->counting.fbtl_ipreadv = count_ipreadv;
    fh->f_fbtl = &io->counting;
}

void tatp_io_close(tatp_io *io)
{
    if (io->fh->f_fbtl == &io->counting)
        io->fh->f_fbtl = io->own;
}

/* ---- the file ---- */

/* File systems flush a file when any of its descriptors is closed. */
int tatp_io_try_close(const tatp_io *io)
{
    const int copy = io->fh->f_amode & MPI_MODE_RDONLY ? -1 : dup(io->fh->fd);
    return copy >= 0 && 0 != close(copy) ? -errno : 0;
}

void tatp_io_open(tatp_io *io, ompio_file_t *fh)
{
    *io = (tatp_io){.fh = fh};
    io->store = (coll_store){
        .access = {io, write_extents, read_bytes, lock_bytes, unlock_bytes, 0},
        .flush = flush_file,
        .refresh = refresh_file,
        .begin = begin_operation,
        .may_map = may_map,
    };
}

int tatp_io_check_mode(const ompio_file_t *fh, bool write)
{
    if (write && (fh->f_amode & MPI_MODE_RDONLY))
        return MPI_ERR_READ_ONLY;
    if (!write && (fh->f_amode & MPI_MODE_WRONLY))
        return MPI_ERR_ACCESS;
    return OMPI_SUCCESS;
}
