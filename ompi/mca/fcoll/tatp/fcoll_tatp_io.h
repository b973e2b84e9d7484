/* SPDX-License-Identifier: BSD-3-Clause */
/* The file: OMPIO's file-byte-transfer layer (fbtl), the view and the user's buffer. Local. */
#ifndef MCA_FCOLL_TATP_IO_H
#define MCA_FCOLL_TATP_IO_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_error.h"

#include "access/access.h"

/* ---- transfers (fcoll_tatp_io.c) ---- */

/* Whether small pieces are written through a mapping of the file's pages (src/access/pages.h). */
enum tatp_mapping { TATP_MAPPING_UNKNOWN, TATP_MAPPING_ALLOWED, TATP_MAPPING_REFUSED };

/* An open file. */
typedef struct tatp_io {
    ompio_file_t *fh;
    enum tatp_mapping mapping;
    int64_t lock_unit; /* bytes that the file system locks together; 0: local, or not known */
} tatp_io;

/* File accesses of one collective operation, with a copy of the handle: while a non-blocking call
 * is in flight, another thread may have a list of pieces in the handle. */
typedef struct tatp_transfer {
    ompio_file_t handle;
    tatp_io *io;
    bool locks;            /* before it accesses the file; else fbtl does where it has to */
    int64_t offset, bytes; /* what is locked */
} tatp_transfer;

void tatp_transfer_init(tatp_transfer *transfer, tatp_io *io);

/* Whether the pages of the file may be mapped. May ask the file system. */
bool tatp_io_may_map(tatp_io *io);

/* The functions of an exchange_store; `context` is a tatp_transfer. MPI error codes. */
/* Where the file has to be locked: these bytes, until they are unlocked. Waits for other processes,
 * so that no rank may wait for this one meanwhile. */
int tatp_io_lock(void *context, int64_t offset, int64_t bytes);
int tatp_io_unlock(void *context);
/* Writes extents, which ascend and do not overlap, and nothing else. After an error it is not known
 * which of them were written. */
int tatp_io_write(void *context, const access_extent *extent, size_t count);
/* One contiguous piece; *done bytes were read, at least one unless the file ends before. */
int tatp_io_read(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done);

/* ---- the view (fcoll_tatp_view.c) ---- */

typedef struct tatp_view tatp_view;

tatp_view *tatp_view_new(void); /* NULL: no memory */
void tatp_view_free(tatp_view *view);
/* MPI_File_set_view was called: the next access decodes the view of the handle. */
void tatp_view_reset(tatp_view *view);
/* A number that changes whenever the view does. */
uint64_t tatp_view_id(const tatp_view *view);

/* Where an access begins: byte `used` of the copy of the view at byte `offset` of the file. */
typedef struct tatp_position {
    int64_t offset, used;
} tatp_position;

/* The position of the file pointer, and the pointer past the next `bytes` bytes. */
int tatp_view_position(tatp_view *view, const ompio_file_t *fh, tatp_position *position);
void tatp_view_advance(ompio_file_t *fh, int64_t bytes);
/* What `bytes` bytes from the position on access, in the empty list; it may borrow the view's. */
int tatp_view_access(const tatp_view *view, tatp_position position, int64_t bytes,
                     access_list *list);

/* The layout of the user's buffer, appended to the empty list. */
int tatp_memory_layout(ompio_file_t *fh, const void *buf, size_t count,
                       struct ompi_datatype_t *datatype, access_list *memory);

/* ---- data representation (fcoll_tatp_datarep.c) ---- */

/* The conversion of a non-blocking call's data. */
typedef struct tatp_datarep tatp_datarep;

bool tatp_datarep_is_needed(const ompio_file_t *fh, const struct ompi_datatype_t *datatype);
/* Appends a buffer of the file's representation to the empty list `memory` in place of the user's,
 * and converts what is written. *datarep, which the caller frees, is set also on most errors. */
int tatp_datarep_begin(ompio_file_t *fh, bool write, const void *buf, size_t count,
                       struct ompi_datatype_t *datatype, access_list *memory,
                       tatp_datarep **datarep);
/* Converts what was read: the first `moved` bytes. */
int tatp_datarep_end(tatp_datarep *datarep, int64_t moved);
void tatp_datarep_free(tatp_datarep *datarep); /* NULL is none */

/* MPI_ERR_READ_ONLY or MPI_ERR_ACCESS where the program did not ask for this direction: OMPIO opens
 * a file for more than it was asked for, so that the system would not object. Local. */
int tatp_io_check_mode(const ompio_file_t *fh, bool write);

#endif
