/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the benchmark program `contest` share: those who access the workload. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "workload.h"

/* One way to write and read the file. */
typedef struct way {
    const char *name;
    const char *settings;              /* what stood behind a + in its name; NULL: nothing */
    const struct mpiio_choice *choice; /* NULL: not MPI-IO */
    const workload_library *library;
    bool independent; /* without collective calls where the program calls MPI-IO itself */
} way;

/* ---- mpiio.c, and mpiio_other.c for another MPI ---- */
/* Makes Open MPI register its variables, which it does when a file is first opened. */
void mpiio_start(const char *path);
/* Fills the way that goes by this name, which may be longer by settings: tatp+num_aggregators=4.
 * False when there is none or Open MPI lacks it. */
bool mpiio_find(const char *name, const workload *w, way *found);
/* From now on files are opened by the components of the way, with its settings; by any for NULL and
 * for ways that are not MPI-IO. Fails if Open MPI selects another component. */
void mpiio_select(const way *w);
/* If ROMIO is selected, its hints for collective calls. */
void mpiio_add_hints(MPI_Info info);
/* Whether the way is fcoll/tatp, which reports what it did. */
bool mpiio_has_statistics(const way *w);
/* From now on fcoll/tatp appends its statistics to `path`; NULL: to what it did at first. */
void mpiio_statistics(const char *path);

/* ---- hand.c ---- */
/* Of an array whose counts fit into an int. Collective. */
bool hand_find(const char *name, const workload *w, way *found);

/* ---- measure.c: memory, and bytes on links (by the caller) ---- */
/* Exchanges something between all pairs of ranks, so that connections and their buffers are there.
 */
void connect_all(const workload *w);

/* The memory that this rank uses now, and from where on its peak counts; -1 where the system does
 * not say. */
int64_t memory_mark(void);
/* How much the peak since the mark is above it, on the rank where it is most. Collective. */
int64_t memory_over(int64_t mark);

/* Tells the caller of the program where it is, and waits for a line of its. Collective. */
void ask_caller(const char *contestant, const char *operation, const char *moment);

#endif
