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

/* *done: bytes written, all of them unless there is an error. */
static int write_whole(tatp_transfer *transfer, int64_t offset, const char *data, int64_t bytes,
                       int64_t *done)
{
    int rc = OMPI_SUCCESS;
    *done = 0;
    while (OMPI_SUCCESS == rc && *done < bytes) {
        int64_t part;
        rc = tatp_io_write(transfer, offset + *done, data + *done, bytes - *done, &part);
        *done += part;
    }
    return rc;
}

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

/* Moves the first bytes of *piece, which is advanced past them, in one transfer. *ended: the file
 * ended before the last of them. */
static int transfer_part(tatp_independent *independent, tatp_transfer *transfer,
                         const tatp_independent_run *run, access_piece *piece, bool *ended,
                         int64_t *done)
{
    int64_t bytes = piece->length < MOST_DIRECT ? piece->length : MOST_DIRECT;
    char *data = access_memory_at(run->memory, piece->stream, bytes), *at = data;
    if (NULL == data) {
        bytes = bytes < BUFFER_SIZE ? bytes : BUFFER_SIZE;
        at = independent->buffer;
    }
    if (NULL == data && run->write)
        access_from_memory(run->memory, piece->stream, bytes, at);
    int rc = run->write ? write_whole(transfer, piece->offset, at, bytes, done)
                        : read_whole(transfer, piece->offset, at, bytes, done);
    if (NULL == data && !run->write)
        access_to_memory(run->memory, piece->stream, *done, at);
    *ended = OMPI_SUCCESS == rc && *done < bytes;
    piece->offset += bytes;
    piece->stream += bytes;
    piece->length -= bytes;
    return rc;
}

int tatp_independent_execute(tatp_independent *independent, const tatp_io *io,
                             const tatp_independent_run *run, tatp_independent_result *result)
{
    double start = MPI_Wtime();
    access_cursor cursor;
    access_piece piece;
    bool ended = false;
    int rc = OMPI_SUCCESS;
    tatp_transfer transfer;
    *result = (tatp_independent_result){0};
    tatp_transfer_init(&transfer, io);
    access_cursor_init(&cursor, run->accesses);
    while (OMPI_SUCCESS == rc && !ended && access_take_piece(&cursor, ACCESS_END, &piece)) {
        while (OMPI_SUCCESS == rc && !ended && piece.length > 0) {
            int64_t done;
            rc = transfer_part(independent, &transfer, run, &piece, &ended, &done);
            result->moved += done;
        }
    }
    result->seconds = MPI_Wtime() - start;
    return rc;
}
