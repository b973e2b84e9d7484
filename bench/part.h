/* SPDX-License-Identifier: BSD-3-Clause */
/* What one rank accesses: as runs, as MPI types, and as bytes that identify their place in the
 * file. */
#ifndef BENCH_PART_H
#define BENCH_PART_H

#include <mpi.h>

#include "shape.h"

/* The MPI types: one element; the view; memory, of which the access has `count`. */
typedef struct part_types {
    MPI_Datatype element, view, memory;
    int count;
} part_types;

typedef struct part {
    decomposition array;
    const shape *shape;
    access_list file;   /* its stream: the bytes of the part, packed */
    access_list memory; /* where the stream lies in memory; offsets from its beginning */
    array_box inside;   /* the block in an array with its halo, ... */
    int64_t held[DECOMPOSITION_DIMS]; /* ... which has so many elements */
    int64_t elements, bytes;
    int64_t memory_bytes; /* with the halo */
    part_types types;
} part;

/* This rank's part of the array of a shape over all ranks. Refers to the shape. Fails by
 * refuse() or fail(). Release
 * with part_release. */
void part_make(part *p, const shape *s);
void part_release(part *p);

/* What the bytes [offset, offset + bytes) of the file are, for one of many fillings. */
void fill_bytes(char *to, int64_t offset, int64_t bytes, uint64_t filling);
/* The same for the stream of an ordered list, whose offsets count from byte `base` of the file. */
void fill_list(const access_list *list, char *stream, int64_t base, uint64_t filling);

/* Each says on standard error where the first wrong byte is. `who` names what wrote or read. */
/* Compares `bytes` of `where`, the first of which is at `offset` of it. */
bool check_bytes(const char *who, const char *where, const char *got, const char *wanted,
                 int64_t bytes, int64_t offset);
/* Where the contiguous part of a rank of so many begins when `bytes` are divided equally. */
int64_t slab_start(int64_t bytes, int rank, int ranks);
/* The file as a whole, each rank its slab, without MPI-IO: against that filling or, where `model`
 * is not -1, against the bytes of that open file. */
bool check_file(const char *path, const char *who, int64_t bytes, uint64_t filling, int model);

#endif
