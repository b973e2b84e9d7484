/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads: what a kind of program writes and reads, as a sequence of steps, and the library by
 * which it does so. Functions fail by fail(). Bytes and offsets are int64. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "parallel.h"
#include "part.h"

/* What one rank accesses in a step. Ordered; offsets are relative to the base of the step. */
typedef struct layout {
    access_list extents;
    MPI_Datatype view; /* of these extents, and its displacement; MPI_DATATYPE_NULL: not made */
    MPI_Offset displacement;
} layout;

typedef enum step_kind {
    STEP_AT,        /* contiguous, at an explicit offset */
    STEP_POINTER,   /* contiguous, with MPI_File_seek before it */
    STEP_VIEW,      /* sets the view, accesses it from its beginning */
    STEP_SAME_VIEW, /* accesses more of the view of the last STEP_VIEW */
    STEP_ARRAY,     /* all of the view that was set when the file was opened */
    STEP_ALONE      /* of rank 0, not collective; the other ranks have no bytes */
} step_kind;

/* One call of a program. Its bytes are those of the layout from byte `within` of its stream. */
typedef struct step {
    step_kind kind;
    const layout *layout;
    int64_t base;   /* where the layout begins in the file (libraries: in the data of the file) */
    int64_t within; /* 0 unless STEP_SAME_VIEW */
    int64_t bytes;
    int64_t buffer; /* first byte in workload.data */
} step;

/* A block of one array in the terms of HDF5 and PnetCDF: elements of 8 bytes; in each dimension
 * `count` blocks of `block` elements, the first at `start`, `stride` apart. */
typedef struct hyperslab {
    int dims;
    int64_t size[3], start[3], stride[3], count[3], block[3];
} hyperslab;

typedef struct workload {
    const struct workload_kind *kind;
    const run_options *run;
    int64_t megabytes;  /* wanted of all ranks, about */
    const shape *shape; /* of an array */
    layout *layouts;
    step *steps;
    size_t layout_count, step_count;
    char *data;             /* of all steps, in their order */
    int64_t bytes;          /* of these */
    int64_t data_bytes;     /* with the halo of an array */
    int64_t all_bytes, end; /* of all ranks; end of the file, or of its data */
    uint64_t filling;       /* what data hold */
    part own;               /* of an array, which is one step */
    /* For libraries: step v + variables * t accesses variable v at time t. */
    hyperslab selection;
    int variables, times;
} workload;

/* How a file is accessed. Collective. */
typedef struct workload_library {
    bool plain; /* bytes of the file are those of the layouts, so that it is compared as a whole */
    bool reopens;    /* closes the file between writing and reading */
    bool own_buffer; /* reads into memory of its own */
    /* Makes a file to overwrite, in the components that are selected. NULL: not necessary. */
    void (*create)(const workload *w, const char *path);
    /* Returns what the other functions need. write: for both. */
    void *(*open)(workload *w, const char *path, bool write);
    /* All steps. `independent`: by calls that are not collective where the program could do so.
     * False when the library reports fewer bytes than asked for. */
    bool (*transfer)(workload *w, void *file, bool write, bool independent);
    void (*close)(workload *w, void *file);
} workload_library;

typedef struct workload_kind {
    const char *name, *note;
    const workload_library *library;
    void (*make)(workload *w); /* layouts and steps */
    int64_t parameter;         /* of make */
    int samples;               /* in a round; more for short ones */
} workload_kind;

/* Closed by an entry whose name is NULL. The first is an array of the workload's shape. */
extern const workload_kind workload_kinds[];

extern const workload_library workload_array, workload_mpiio;
#ifdef HAVE_HDF5
extern const workload_library workload_hdf5;
#endif
#ifdef HAVE_PNETCDF
extern const workload_library workload_pnetcdf;
#endif

/* Sets kind, run, and megabytes or shape before. Collective. */
void workload_make(workload *w);
void workload_release(workload *w);

/* Of a variable in a library's file. */
#define WORKLOAD_NAME 32
void workload_name(char name[WORKLOAD_NAME], size_t variable);

/* ---- bytes: workload_check.c ---- */
void workload_fill(workload *w, uint64_t filling);
/* Sets data to what no filling is, so that bytes that were not read are seen. */
void workload_spoil(workload *w);
/* Says on standard error where the first wrong byte is. `who` read them. Local. */
bool workload_check_data(const workload *w, const char *who);
/* Whether steps write all bytes of the file. */
bool workload_is_dense(const workload *w);
/* Fills the file with another filling, also where no step writes. Collective. */
void workload_spoil_file(const workload *w, const char *path, uint64_t filling);
/* Whether each step's bytes, and no others, were written since workload_spoil_file with the filling
 * `old`. Uses the file PATH.model unless the workload is dense. Collective; the result is this
 * rank's. */
bool workload_check_file(const workload *w, const char *who, uint64_t old);

#endif
