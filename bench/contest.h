/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the benchmark program `contest` share: the problem and those who solve it. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "parallel.h"
#include "part.h"

/* What is to be written and read, seen from this rank. */
typedef struct problem {
    decomposition array;
    part own;
    part_types types;
    const run_options *run;
    int rank, ranks;
    char *data;       /* own.memory_bytes of it */
    uint64_t filling; /* what is in `data` */
} problem;

/* One way to write and read the file. Calls are collective, fail by fail(), and return what the
 * next needs. */
typedef struct way {
    const char *name;
    const char *settings;              /* what stood behind a + in its name; NULL: nothing */
    const struct mpiio_choice *choice; /* NULL: not MPI-IO */
    void *(*open)(problem *p, const struct way *w);
    /* False when the library reports fewer bytes than asked for. */
    bool (*write)(problem *p, void *opened);
    bool (*read)(problem *p, void *opened);
    void (*close)(problem *p, void *opened);
    bool own_buffer; /* reads into memory of its own, not into the problem's */
} way;

/* ---- mpiio.c ---- */
/* Makes Open MPI register its variables, which it does when a file is first opened. */
void mpiio_start(const problem *p);
/* Fills the way that goes by this name, which may be longer by settings: tatp+num_aggregators=4.
 * False when there is none or Open MPI lacks it. */
bool mpiio_find(const char *name, way *w);
/* Files are opened by the components of the way, with its settings, until mpiio_deselect, which
 * frees the selection. */
typedef struct settings mpiio_selection;
mpiio_selection *mpiio_select(const way *w);
void mpiio_deselect(mpiio_selection *s);
/* Fails if Open MPI selected another component than that of the way. */
void mpiio_check(MPI_File file, const way *w);
/* Whether the way is fcoll/tatp, which reports what it did. */
bool mpiio_has_statistics(const way *w);
/* From now on fcoll/tatp appends its statistics to `path`; NULL: to what it did at first. */
void mpiio_statistics(const char *path);

/* ---- hand.c ---- */
bool hand_find(const char *name, way *w);
/* Whether its counts fit into an int; else hand_find finds nothing. */
void hand_start(const problem *p);

#endif
