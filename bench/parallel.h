/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI programs of this folder share: failing, plain file access, times. */
#ifndef BENCH_PARALLEL_H
#define BENCH_PARALLEL_H

#include <argp.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_HINTS 32

/* Of MPI_COMM_WORLD; set by parallel_start. */
extern int world_rank, world_size;

/* MPI_Init. */
void parallel_start(int *argc, char ***argv);

/* Ends all ranks with a message. */
void fail(const char *what, const char *detail) __attribute__((noreturn));
/* For what is wrong on all ranks alike, called by all: reported once, exit status 2. */
void refuse(const char *what, const char *detail) __attribute__((noreturn));
void check_mpi(int code, const char *what);
/* calloc that fails by fail(). */
void *take_memory(size_t count, size_t size);

int file_open(const char *path, int flags);
void file_write(int fd, const char *from, size_t bytes, int64_t offset);
void file_read(int fd, char *to, size_t bytes, int64_t offset);
/* Collective. */
void remove_file(const char *path);

/* The slowest rank's; true on all ranks. Collective. */
double slowest(double seconds);
bool everywhere(bool right);

/* Sorts them. */
typedef struct times {
    double least, median;
} times;
times summarise(double *seconds, int count);

/* Options that all have: --file, --label, --fresh, --hint, --csv. An argp child. */
typedef struct run_options {
    const char *file, *label;
    const char *hint[MAX_HINTS]; /* KEY=VALUE */
    int hints;
    bool fresh, csv;
} run_options;

extern const struct argp run_argp;

/* The caller frees it. */
MPI_Info make_hints(const run_options *o);

#endif
