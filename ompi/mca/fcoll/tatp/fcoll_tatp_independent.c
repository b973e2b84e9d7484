/* SPDX-License-Identifier: BSD-3-Clause */
/* File access of a rank that takes part in no exchange. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_independent.h"

#include <stdlib.h>

#include "base/memory.h"

/* Bytes of one transfer at most: with data contiguous in memory, and through the buffer. The first
 * is below what a system call transfers at once; the second fits into the processor's cache. */
#define MOST_DIRECT ((int64_t)1 << 30)
#define BUFFER_SIZE ((int64_t)1 << 20)

struct tatp_independent {
    char *buffer;
};

tatp_independent *tatp_independent_new(void)
{
    tatp_independent *independent = calloc(1, sizeof *independent);
    if (NULL == independent)
        return NULL;
    independent->buffer = base_alloc((size_t)BUFFER_SIZE, 1);
    if (NULL != independent->buffer)
        return independent;
    free(independent);
    return NULL;
}

void tatp_independent_free(tatp_independent *independent)
{
    if (NULL == independent)
        return;
    free(independent->buffer);
    free(independent);
}

static void advance(access_piece *piece, int64_t bytes)
{
    piece->offset += bytes;
    piece->stream += bytes;
    piece->length -= bytes;
}

/* ---- writing ---- */

typedef struct write_batch {
    access_extent extent[ACCESS_BATCH];
    size_t count;
    int64_t bytes, buffered; /* of all extents; of those whose data are in the buffer */
} write_batch;

static int flush_batch(tatp_transfer *transfer, write_batch *batch, int64_t *moved)
{
    int rc = tatp_io_write(transfer, batch->extent, batch->count);
    if (OMPI_SUCCESS == rc)
        *moved += batch->bytes;
    batch->count = 0;
    batch->bytes = batch->buffered = 0;
    return rc;
}

/* Appends the first bytes of *piece, which is advanced past them. */
static void append_part(tatp_independent *independent, const access_list *memory,
                        access_piece *piece, write_batch *batch)
{
    int64_t bytes = piece->length < MOST_DIRECT ? piece->length : MOST_DIRECT;
    char *data = access_memory_at(memory, piece->stream, bytes);
    if (NULL == data) {
        int64_t room = BUFFER_SIZE - batch->buffered;
        bytes = bytes < room ? bytes : room;
        data = independent->buffer + batch->buffered;
        access_from_memory(memory, piece->stream, bytes, data);
        batch->buffered += bytes;
    }
    batch->extent[batch->count++] = (access_extent){piece->offset, data, bytes};
    batch->bytes += bytes;
    advance(piece, bytes);
}

static int write_accesses(tatp_independent *independent, tatp_transfer *transfer,
                          const tatp_independent_run *run, int64_t *moved)
{
    access_cursor cursor;
    access_piece piece;
    write_batch batch;
    int rc = OMPI_SUCCESS;
    batch.count = 0;
    batch.bytes = batch.buffered = 0;
    access_cursor_init(&cursor, run->accesses);
    while (OMPI_SUCCESS == rc && access_take_piece(&cursor, ACCESS_END, &piece)) {
        while (OMPI_SUCCESS == rc && piece.length > 0) {
            append_part(independent, run->memory, &piece, &batch);
            if (ACCESS_BATCH == batch.count || BUFFER_SIZE == batch.buffered)
                rc = flush_batch(transfer, &batch, moved);
        }
    }
    return OMPI_SUCCESS == rc ? flush_batch(transfer, &batch, moved) : rc;
}

/* ---- reading ---- */

/* *done: bytes read, all of them unless there is an error or the file ends. */
static int read_whole(tatp_transfer *transfer, int64_t offset, char *data, int64_t bytes,
                      int64_t *done)
{
    int rc = OMPI_SUCCESS;
    int64_t part = 1;
    *done = 0;
    while (OMPI_SUCCESS == rc && part > 0 && *done < bytes) {
        rc = tatp_io_read(transfer, offset + *done, data + *done, bytes - *done, &part);
        *done += part;
    }
    return rc;
}

/* Reads the first bytes of *piece, which is advanced past them, in one transfer. *ended: the file
 * ended before the last of them. */
static int read_part(tatp_independent *independent, tatp_transfer *transfer,
                     const access_list *memory, access_piece *piece, bool *ended, int64_t *done)
{
    int64_t bytes = piece->length < MOST_DIRECT ? piece->length : MOST_DIRECT;
    char *data = access_memory_at(memory, piece->stream, bytes), *at = data;
    if (NULL == data) {
        bytes = bytes < BUFFER_SIZE ? bytes : BUFFER_SIZE;
        at = independent->buffer;
    }
    int rc = read_whole(transfer, piece->offset, at, bytes, done);
    if (NULL == data)
        access_to_memory(memory, piece->stream, *done, at);
    *ended = OMPI_SUCCESS == rc && *done < bytes;
    advance(piece, bytes);
    return rc;
}

static int read_accesses(tatp_independent *independent, tatp_transfer *transfer,
                         const tatp_independent_run *run, int64_t *moved)
{
    access_cursor cursor;
    access_piece piece;
    bool ended = false;
    int rc = OMPI_SUCCESS;
    access_cursor_init(&cursor, run->accesses);
    while (OMPI_SUCCESS == rc && !ended && access_take_piece(&cursor, ACCESS_END, &piece)) {
        while (OMPI_SUCCESS == rc && !ended && piece.length > 0) {
            int64_t done;
            rc = read_part(independent, transfer, run->memory, &piece, &ended, &done);
            *moved += done;
        }
    }
    return rc;
}

int tatp_independent_execute(tatp_independent *independent, tatp_io *io,
                             const tatp_independent_run *run, tatp_independent_result *result)
{
    double start = MPI_Wtime();
    tatp_transfer transfer;
    *result = (tatp_independent_result){0};
    tatp_transfer_init(&transfer, io);
    int rc = run->write ? write_accesses(independent, &transfer, run, &result->moved)
                        : read_accesses(independent, &transfer, run, &result->moved);
    result->seconds = MPI_Wtime() - start;
    return rc;
}
