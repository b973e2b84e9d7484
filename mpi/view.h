/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program sets of an open file: its view, the individual file pointer in it, and hints. The
 * view is the MPI's, which is asked for it. The pointer is here alone: ROMIO keeps an offset of the
 * file in its place, which is none in a view whose copies overlap each other. Local.
 */
#ifndef MPI_VIEW_H
#define MPI_VIEW_H

#include <stdatomic.h>

#include "collective/collective.h"
#include "mpi/calls.h"

typedef struct front_view {
    int error;      /* why it is not known; 0: it is */
    bool is_native; /* its data representation */
    MPI_Offset displacement;
    int64_t etype, filetype; /* bytes */
    coll_view bytes;
    _Atomic int64_t pointer; /* in etypes, while is_native */
} front_view;

/* Reads the view that the MPI has. name: of the file, for a message of rank 0. */
void front_view_read(front_view *view, MPI_File handle, const char *name, int rank);
/* How many etypes that much data is: 0 if there are none, or too many to count; negative if it is
 * no whole number of them. */
int64_t front_view_etypes(const front_view *view, int64_t count, MPI_Datatype type);
/* Sets where an access begins that is so many etypes into the view. */
int front_view_find(const front_view *view, int64_t etypes, coll_position *position);

typedef struct front_move {
    int64_t before, after;
} front_move;

/* Moves the pointer past that much data where it can; the access is refused where it cannot. */
front_move front_pointer_move(front_view *view, int64_t count, MPI_Datatype type);
/* Does nothing if another call has moved it since. */
void front_pointer_correct(front_view *view, front_move move, int64_t position);
/* Does what MPI_File_seek does. end: of the file, in etypes. */
int front_pointer_seek(front_view *view, int64_t offset, int whence, int64_t end);

/* The hints of an info object, which may be MPI_INFO_NULL. Rank 0 tells of values that are none. */
bool front_hint_find(MPI_Info info, enum coll_hint hint, char text[MPI_MAX_INFO_VAL + 1]);
coll_hint_values front_hints_read(MPI_Info info, int rank);
void front_hints_write(MPI_Info info, const coll_hint_values *hints);

#endif
