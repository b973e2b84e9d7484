/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call accesses in the file (the view) and in memory (the datatype), as lists of extents. */
#include <errno.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "ompi/compat/compat.h"
#include "opal/datatype/opal_convertor.h"

#define RAW_PIECES 128

/* A view is decoded once for each MPI_File_set_view. */
static int decode_view(tatp_view *view, const ompio_file_t *fh)
{
    access_list period = {0};
    int rc = 0;
    if (view->is_decoded)
        return 0;
    for (uint32_t i = 0; i < COMPAT_VIEW(fh)->f_iov_count && 0 == rc; i++) {
        const struct iovec *block = &COMPAT_VIEW(fh)->f_decoded_iov[i];
        rc = access_append(&period, (int64_t)(intptr_t)block->iov_base, (int64_t)block->iov_len,
                           period.bytes);
    }
    if (0 != rc) {
        access_release(&period);
        return rc;
    }
    coll_view_set(&view->view, &period, (int64_t)COMPAT_VIEW(fh)->f_view_extent);
    view->is_decoded = true;
    return 0;
}

int tatp_view_position(tatp_view *view, const ompio_file_t *fh, coll_position *position)
{
    *position = (coll_position){(int64_t)COMPAT_VIEW(fh)->f_offset,
                                (int64_t)COMPAT_VIEW(fh)->f_total_bytes};
    return decode_view(view, fh);
}

/* OMPIO's state of the file pointer: it stays at the end of a period that was used up, and moves to
 * the next one only with the next byte. */
void tatp_view_advance(ompio_file_t *fh, int64_t bytes)
{
    int64_t size = (int64_t)COMPAT_VIEW(fh)->f_view_size,
            used = (int64_t)COMPAT_VIEW(fh)->f_total_bytes + bytes;
    if (bytes == 0 || size == 0)
        return;
    int64_t copies = (used - 1) / size, begin = 0;
    int block = 0;
    COMPAT_VIEW(fh)->f_offset += copies * (int64_t)COMPAT_VIEW(fh)->f_view_extent;
    used -= copies * size;
    while (used - begin > (int64_t)COMPAT_VIEW(fh)->f_decoded_iov[block].iov_len)
        begin += (int64_t)COMPAT_VIEW(fh)->f_decoded_iov[block++].iov_len;
    COMPAT_VIEW(fh)->f_total_bytes = (size_t)used;
    COMPAT_VIEW(fh)->f_position_in_file_view = (size_t)begin;
    COMPAT_VIEW(fh)->f_index_in_file_view = block;
}

static int append_pieces(opal_convertor_t *convertor, access_list *memory)
{
    struct iovec piece[RAW_PIECES];
    int32_t done = 0;
    int rc = 0;
    while (!done && 0 == rc) {
        uint32_t pieces = RAW_PIECES;
        size_t bytes = 0;
        done = opal_convertor_raw(convertor, piece, &pieces, &bytes);
        if (done < 0)
            return -EINVAL;
        for (uint32_t i = 0; i < pieces && 0 == rc; i++)
            rc = access_append_memory(memory, piece[i].iov_base, piece[i].iov_len);
    }
    return rc;
}

int tatp_memory_layout(ompio_file_t *fh, const tatp_buffer *buffer, access_list *memory)
{
    const struct ompi_datatype_t *datatype = buffer->datatype;
    const size_t count = buffer->count;
    opal_convertor_t convertor;
    size_t bytes;
    if (__builtin_mul_overflow(datatype->super.size, count, &bytes) || bytes > INT64_MAX)
        return MPI_ERR_COUNT;
    if (0 == bytes)
        return OMPI_SUCCESS;
    /* All that matters of the count is whether it is 1; it may not fit into an int32_t. */
    if (opal_datatype_is_contiguous_memory_layout(&datatype->super, 1 == count ? 1 : 2))
        return access_append_memory(memory, (const char *)buffer->address + datatype->super.true_lb,
                                    bytes);
    if (OPAL_SUCCESS != opal_convertor_clone(fh->f_mem_convertor, &convertor, 0))
        return -ENOMEM;
    int rc = -EINVAL;
    if (OPAL_SUCCESS ==
        opal_convertor_prepare_for_send(&convertor, &datatype->super, count, buffer->address))
        rc = append_pieces(&convertor, memory);
    opal_convertor_cleanup(&convertor);
    if (0 == rc && (size_t)memory->bytes != bytes)
        return MPI_ERR_ARG;
    return rc;
}
