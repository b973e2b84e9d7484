/* SPDX-License-Identifier: BSD-3-Clause */
/* Who accesses what: an array in the file, cut into one block a rank. */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_DIMS 4

/* An array of elements, slowest dimension first, cut over a grid of ranks in C order. All of the
 * file belongs to exactly one rank. */
typedef struct pattern {
    int dims;
    int64_t size[PATTERN_DIMS]; /* elements in each dimension */
    int64_t grid[PATTERN_DIMS]; /* ranks in each dimension */
    int64_t element;            /* bytes */
    bool tiled;                 /* the first dimension is not in the file type, which repeats along it */
    int64_t halo;               /* elements around the block in memory, in each dimension */
    int64_t bytes;              /* of the whole file; set by pattern_complete */
} pattern;

/* The part of one rank. In the file and in memory it is `runs` runs of `run_bytes`, which ascend in
 * both. */
typedef struct block {
    int64_t start[PATTERN_DIMS], count[PATTERN_DIMS]; /* elements */
    int64_t elements, bytes;
    int64_t memory_bytes; /* with the halo */
    int inner;            /* dimensions before this one are counted by the run's number */
    int64_t runs, run_bytes;
} block;

/* Checks the pattern against the number of ranks, and completes it; NULL or what is wrong. */
const char *pattern_complete(pattern *p, int ranks);
/* The block of a rank; NULL or what is wrong with it. */
const char *pattern_block(const pattern *p, int rank, block *b);

/* Where run `i` lies in the file, and in the rank's memory. */
int64_t block_file_offset(const pattern *p, const block *b, int64_t i);
int64_t block_memory_offset(const pattern *p, const block *b, int64_t i);
/* The first run that ends behind `offset` of the file; b->runs when there is none. */
int64_t block_first_run(const pattern *p, const block *b, int64_t offset);

/* The MPI types for it: one element; the view; memory, of which the access has *count. The caller
 * frees all three. */
void pattern_types(const pattern *p, const block *b, MPI_Datatype *element, MPI_Datatype *view,
                   MPI_Datatype *memory, int *count);

/* What the bytes [offset, offset + bytes) of the file are, for one of many fillings. */
void fill_bytes(char *to, int64_t offset, int64_t bytes, uint64_t filling);
/* The same for a rank's whole memory. Halo bytes are left alone. */
void fill_block(const pattern *p, const block *b, char *memory, uint64_t filling);

#endif
