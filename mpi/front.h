/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files that this library serves, for the functions of the MPI that it takes over. Handles of
 * the MPI are words: it may be another MPI than the one that the library was built for, whose
 * handles are as long as a pointer or as an int.
 */
#ifndef MPI_FRONT_H
#define MPI_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef uintptr_t front_word;
typedef struct front_file front_file;

/* The definition of a function of the MPI that comes behind this library's: that of a profiling
 * library, or the MPI's. caller: an address in the object that has called this library; NULL: not
 * known. Returns NULL if there is none. */
void *front_next(const char *name, const void *caller);

/* Whether the library may serve a file that the MPI opens next: the same on all ranks. Local. */
bool front_may_serve(front_word comm, const char *name, int mode);
/* fcoll/tatp sets it while this thread opens a file that it serves: on all ranks, or on none. */
extern _Thread_local bool tatp_mpiio_leaves_file;

/* The info object with which the MPI is to open a file: the program's, or a new one that also asks
 * for stripes, which front_release_info frees. Collective. */
front_word front_choose_info(front_word comm, const char *name, int mode, front_word info);
void front_release_info(front_word info, front_word chosen);

/* A file was opened: the library serves it, or leaves it to the MPI, on all ranks. began: when, by
 * the clock of the process. Collective. */
void front_open(front_word comm, const char *name, int mode, front_word info, front_word handle,
                double began);
/* The file of a handle; NULL if the MPI serves it as long as it has this view. */
front_file *front_find(front_word handle);
/* The MPI is about to flush a file, or to close it. Afterwards what the library has written is in
 * storage, or an error class says why not, the same on all ranks. front_close passes the error to
 * the error handler; false: that has closed the file. Collective. */
int front_flush(front_word handle);
bool front_close(front_word *handle, front_file **closing, int *error);
/* The MPI has closed it. Local, but for MPI's objects of the file. NULL is allowed. */
void front_end_closing(front_file *closing);
/* Calls the error handler of a file unless the error is 0. Returns the error. */
int front_report(front_word handle, int error);

/* The filetype that the MPI is to get: another one without data for one that has none, with many of
 * which the ROMIO of Open MPI 4.1 ends the job. Local. */
front_word front_choose_type(front_word handle, front_word filetype);
/* The MPI has set a view, or hints. */
void front_set_view(front_word handle, front_word info);
void front_set_info(front_word handle, front_word info);
/* Adds hints to the info object that the MPI has returned. info: MPI_Info *. */
void front_get_info(front_word handle, const void *info);

/* A communicator of the processes of `comm` in the order in which MPI_Cart_create, or
 * MPI_Graph_create, is to see them: that one, or a new one, which front_order_release frees.
 * Collective. */
front_word front_order_grid(front_word comm, int dims, const int *extent, const int *periodic,
                            bool reorder);
front_word front_order_graph(front_word comm, int ranks, const int *index, const int *edge,
                             bool reorder);
/* created: what the MPI has made; NULL after an error. */
void front_order_release(front_word comm, front_word ordered, const front_word *created);
/* The distributed graph that the MPI has made of `comm` becomes one in another order. weights: of
 * the program. created: MPI_Comm *. Collective. */
void front_order_dist_graph(front_word comm, const int *weights, front_word info, bool reorder,
                            front_word *created);

/* An access to a file by a function of the MPI, or the beginning of one. */
typedef struct front_access {
    bool write;
    bool at_offset; /* `offset` is explicit; else the library sets it to that of the file pointer */
    int64_t offset; /* etypes of the view */
    const void *buffer;
    int64_t count;
    front_word datatype;
    /* The MPI is to carry it out, at the offset. result: MPI_Status *, MPI_Request *. */
    int (*perform)(const struct front_access *access, front_word handle, void *result);
    bool is_profiling;
} front_access;

/* Carries out the access; reports and returns its error. status: MPI_Status *. Collective. */
int front_transfer(front_file *file, front_access *access, void *status);
/* Starts it. request: MPI_Request *. All errors are those of completion, also of this rank's
 * arguments, so that its part runs like that of the other ranks; but if there is no memory for a
 * request, that is the error here, after this rank's part. */
int front_start(front_file *file, front_access *access, void *request);
/* These are a split access, which is complete when it has begun. */
int front_begin(front_file *file, front_access *access);
int front_end(front_file *file, void *status);

/* Non-blocking calls that have not ended, or whose requests the MPI still has. */
extern atomic_int front_requests;
/* Lets them continue. Whether some have not ended. */
bool front_progress(void);
/* Lets them continue until those of these requests (MPI_Request *) have ended. */
void front_run(int count, const void *requests);
/* A function that completes requests has returned rc, with `count` statuses, or FRONT_ONE. flag:
 * whether it has completed them; NULL: it has. Returns what the program gets: rc, or the error of a
 * call, whose error handler it calls. */
enum { FRONT_ONE = -1 };
int front_completed(int rc, const int *flag, int count, void *statuses);
/* Calls on the file come to their end, before the MPI sets a view. */
void front_finish(front_word handle);

/* The two act as MPI_File_seek and MPI_File_get_position. */
int front_seek(front_file *file, int64_t offset, int whence);
int64_t front_position(front_file *file);

/* A call that is not collective asks for that much data. file: NULL is allowed. */
void front_count(front_file *file, bool write, int64_t count, front_word datatype);
/* The MPI carries out such a call at the file pointer, or starts it. result: MPI_Status *, or
 * MPI_Request * where it starts. */
int front_access_alone(front_file *file, front_access *access, bool starts, void *result);

#endif
