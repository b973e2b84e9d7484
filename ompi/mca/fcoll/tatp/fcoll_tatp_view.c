/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the bytes of a call are: in the file (the view) and in memory (the datatype), as runs. */
#include "fcoll_tatp.h"

#include <string.h>

#include "opal/datatype/opal_convertor.h"
#include "ompi/datatype/ompi_datatype.h"

#define RAW_PIECES 128

static bool same_runs(const access_list *a, const access_list *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->run, b->run, a->count * sizeof *a->run) == 0);
}

/* The view as runs, once for each MPI_File_set_view. Programs set the view that they had: that
 * is no other view. */
static int decode_period(ompio_file_t *fh, tatp_module *module)
{
    access_list period = {0};
    int rc = 0;
    if (module->period_known)
        return OMPI_SUCCESS;
    for (uint32_t i = 0; i < fh->f_iov_count && rc == 0; i++) {
        const struct iovec *block = &fh->f_decoded_iov[i];
        rc = access_append(&period, (int64_t)(intptr_t)block->iov_base, (int64_t)block->iov_len,
                           period.bytes);
    }
    if (rc != 0) {
        access_release(&period);
        return tatp_from_errno(rc);
    }
    module->view +=
        module->extent != (int64_t)fh->f_view_extent || !same_runs(&period, &module->period);
    access_release(&module->period);
    module->period = period;
    module->extent = (int64_t)fh->f_view_extent;
    module->period_known = true;
    return OMPI_SUCCESS;
}

/* Copies of a one-block period that follow one another are one run, however many there are. */
static int append_copies(access_list *list, const access_list *period, int64_t base, int64_t extent,
                         int64_t copies)
{
    int rc = 0;
    if (period->count == 1 && period->run[0].count == 1 && copies > 1) {
        const access_run *block = &period->run[0];
        access_run run = {base + block->offset, block->length, extent, copies, list->bytes};
        return access_append_run(list, &run);
    }
    for (int64_t c = 0; c < copies && rc == 0; c++)
        rc = access_append_slice(list, period, 0, period->bytes, base + c * extent);
    return rc;
}

/* Stream bytes [from, from + bytes) of the tiled view, counted from the copy at `base`. */
static int append_tiled(access_list *list, const access_list *period, int64_t base, int64_t extent,
                        int64_t from, int64_t bytes)
{
    int64_t size = period->bytes, copy = from / size, last = (from + bytes - 1) / size;
    int64_t head = from % size, tail = (from + bytes - 1) % size + 1, end;
    if (__builtin_mul_overflow(last, extent, &end) || __builtin_add_overflow(base, end, &end))
        return -EINVAL;
    if (copy == last)
        return access_append_slice(list, period, head, tail, base + copy * extent);
    int rc = access_append_slice(list, period, head, size, base + copy * extent);
    if (rc == 0)
        rc = append_copies(list, period, base + (copy + 1) * extent, extent, last - copy - 1);
    if (rc == 0)
        rc = access_append_slice(list, period, 0, tail, base + last * extent);
    return rc;
}

/* OMPIO's own state of the file pointer: it stays at the end of a period that was used up, and
 * goes on to the next one only with the next byte. */
static void advance_pointer(ompio_file_t *fh, int64_t bytes)
{
    int64_t size = (int64_t)fh->f_view_size, used = (int64_t)fh->f_total_bytes + bytes;
    int64_t copies = (used - 1) / size, begin = 0;
    int block = 0;

    fh->f_offset += copies * (int64_t)fh->f_view_extent;
    used -= copies * size;
    while (used - begin > (int64_t)fh->f_decoded_iov[block].iov_len)
        begin += (int64_t)fh->f_decoded_iov[block++].iov_len;
    fh->f_total_bytes = (size_t)used;
    fh->f_position_in_file_view = (size_t)begin;
    fh->f_index_in_file_view = block;
}

int tatp_view_start(ompio_file_t *fh, tatp_module *module, tatp_start *start)
{
    *start = (tatp_start){(int64_t)fh->f_offset, (int64_t)fh->f_total_bytes};
    return decode_period(fh, module);
}

void tatp_view_advance(ompio_file_t *fh, int64_t bytes)
{
    if (bytes > 0 && fh->f_view_size > 0)
        advance_pointer(fh, bytes);
}

int tatp_view_access(const tatp_module *module, tatp_start start, int64_t bytes, access_list *list)
{
    int64_t end;
    if (bytes == 0 || module->period.bytes == 0)
        return OMPI_SUCCESS;
    if (__builtin_add_overflow(start.used, bytes, &end))
        return MPI_ERR_COUNT;
    return tatp_from_errno(
        append_tiled(list, &module->period, start.offset, module->extent, start.used, bytes));
}

static int append_pieces(opal_convertor_t *convertor, access_list *memory)
{
    struct iovec piece[RAW_PIECES];
    int32_t done = 0;
    int rc = 0;
    while (!done && rc == 0) {
        uint32_t pieces = RAW_PIECES;
        size_t bytes = 0;
        done = opal_convertor_raw(convertor, piece, &pieces, &bytes);
        if (done < 0)
            return -EINVAL;
        for (uint32_t i = 0; i < pieces && rc == 0; i++)
            rc = access_append_memory(memory, piece[i].iov_base, piece[i].iov_len);
    }
    return rc;
}

int tatp_memory_layout(ompio_file_t *fh, const void *buf, size_t count,
                       struct ompi_datatype_t *datatype, access_list *memory)
{
    opal_convertor_t convertor;
    size_t bytes;
    if (__builtin_mul_overflow(datatype->super.size, count, &bytes) || bytes > INT64_MAX)
        return MPI_ERR_COUNT;
    if (bytes == 0)
        return OMPI_SUCCESS;
    if (opal_datatype_is_contiguous_memory_layout(&datatype->super, (int32_t)count))
        return tatp_from_errno(
            access_append_memory(memory, (const char *)buf + datatype->super.true_lb, bytes));
    if (OPAL_SUCCESS != opal_convertor_clone(fh->f_mem_convertor, &convertor, 0))
        return OMPI_ERR_OUT_OF_RESOURCE;
    int rc =
        OPAL_SUCCESS == opal_convertor_prepare_for_send(&convertor, &datatype->super, count, buf)
            ? append_pieces(&convertor, memory)
            : -EINVAL;
    opal_convertor_cleanup(&convertor);
    if (rc == 0 && (size_t)memory->bytes != bytes)
        return OMPI_ERR_BAD_PARAM;
    return tatp_from_errno(rc);
}
