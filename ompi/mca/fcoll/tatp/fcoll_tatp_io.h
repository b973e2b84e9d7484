/* SPDX-License-Identifier: BSD-3-Clause */
/* The file: OMPIO's file-byte-transfer layer (fbtl), the view and the user's buffer. Local. */
#ifndef MCA_FCOLL_TATP_IO_H
#define MCA_FCOLL_TATP_IO_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fbtl/fbtl.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_error.h"

#include "access/access.h"
#include "collective/runtime.h"
#include "collective/view.h"

/* ---- the file (fcoll_tatp_io.c) ---- */

/* Whether small pieces are written through a mapping of the file's pages (src/access/pages.h). */
enum tatp_mapping { TATP_MAPPING_UNKNOWN, TATP_MAPPING_ALLOWED, TATP_MAPPING_REFUSED };

/* An open file, as the store of src/collective. Its errors are MPI error classes. */
typedef struct tatp_io {
    ompio_file_t *fh;
    coll_store store;
    enum tatp_mapping mapping;
    bool has_written; /* what was not flushed since */
    /* An operation has a copy of the handle: while a non-blocking call is in flight, another thread
     * may have a list of pieces in the handle. */
    ompio_file_t handle;
    bool locks;            /* before it accesses the file; else fbtl does where it has to */
    int64_t offset, bytes; /* what is locked */
    /* The handle has `counting` instead of its fbtl; `counted` has the bytes that others read, and
     * write. */
    mca_fbtl_base_module_t counting, *own;
    _Atomic int64_t counted[2];
} tatp_io;

void tatp_io_open(tatp_io *io, ompio_file_t *fh);
/* Counts, until the file is closed, the bytes that OMPIO accesses itself, which it does for calls
 * that are not collective. */
void tatp_io_count(tatp_io *io);
void tatp_io_close(tatp_io *io);
/* Returns what the file system would return where OMPIO closes the file, and does not look: 0, or a
 * negative errno value. */
int tatp_io_try_close(const tatp_io *io);
/* These bytes of all files were to be read, and written. */
extern _Atomic unsigned long long tatp_io_counted[2];
/* MPI_ERR_READ_ONLY or MPI_ERR_ACCESS where the program did not ask for this direction: OMPIO opens
 * a file for more than it was asked for, so that the system would not object. Local. */
int tatp_io_check_mode(const ompio_file_t *fh, bool write);

/* ---- the view (fcoll_tatp_view.c) ---- */

/* The view of a handle is zero at first. */
typedef struct tatp_view {
    bool is_decoded; /* false: MPI_File_set_view was called, the next access decodes the view */
    coll_view view;
} tatp_view;

/* Sets the position of the file pointer, and moves it past the next `bytes` bytes. */
int tatp_view_position(tatp_view *view, const ompio_file_t *fh, coll_position *position);
void tatp_view_advance(ompio_file_t *fh, int64_t bytes);

/* The user's buffer. */
typedef struct tatp_buffer {
    const void *address;
    size_t count;
    struct ompi_datatype_t *datatype;
} tatp_buffer;

/* Its layout, appended to the empty list. */
int tatp_memory_layout(ompio_file_t *fh, const tatp_buffer *buffer, access_list *memory);

/* ---- data representation (fcoll_tatp_datarep.c) ---- */

/* The conversion of a non-blocking call's data. */
typedef struct tatp_datarep tatp_datarep;

bool tatp_datarep_is_needed(const ompio_file_t *fh, const struct ompi_datatype_t *datatype);
/* Appends a buffer of the file's representation to the empty list `memory` instead of the user's,
 * and converts what is written. *datarep, which the caller frees, is set also on most errors. */
int tatp_datarep_begin(ompio_file_t *fh, bool write, const tatp_buffer *buffer, access_list *memory,
                       tatp_datarep **datarep);
/* Converts what was read: the first `moved` bytes. */
int tatp_datarep_end(tatp_datarep *datarep, int64_t moved);
void tatp_datarep_free(tatp_datarep *datarep); /* NULL is allowed */

#endif
