/* SPDX-License-Identifier: BSD-3-Clause */
/* The access patterns of the benchmarks by kind and size, as options of a program. Needs no MPI. */
#ifndef BENCH_SHAPE_H
#define BENCH_SHAPE_H

#include <argp.h>

#include "decomposition.h"

/* Zero is the kind's default. */
typedef struct shape {
    const struct shape_kind *kind;
    int size_dims, grid_dims; /* numbers given */
    int64_t size[DECOMPOSITION_DIMS], grid[DECOMPOSITION_DIMS];
    int64_t element;   /* bytes */
    int64_t variables; /* of dump */
    bool reorder;      /* ranks in another order than cells */
    int dims;          /* of blocks, by the kind; 0: as many as --size has numbers */
    bool tiles;        /* by the kind: --size is that of a cell */
    /* Of a rank's part in an MPI program: */
    int64_t halo; /* elements around the block in memory, in each dimension: of one cell */
    bool tiled;   /* the first dimension, which is not cut, is not in the file type: the type
                     repeats along it */
} shape;

typedef struct shape_kind {
    const char *name;
    const char *note; /* what --size and --grid mean */
    shape usual;
    const char *(*make)(const shape *s, size_t ranks, decomposition *d);
} shape_kind;

/* NULL: there is none of the name:
 *   cube     a 3-D array of doubles, a block a rank
 *   btio     NAS BT-IO: block-tridiagonal multipartition of a cube of 5 doubles a point
 *   tile     a 2-D array of tiles, one a rank
 *   lattice  a 4-D lattice of sites
 *   dump     particles, a different number of each rank
 *   array    an array of one to four dimensions, a block a rank */
const shape_kind *shape_find(const char *name);

/* An argp child whose input is a shape with the kind set: --size, --grid, --element, --reorder. */
extern const struct argp shape_argp;

/* NULL or what is wrong. */
const char *shape_make(const shape *s, size_t ranks, decomposition *d);

/* "256x256x256" into up to four positive numbers; how many, 0 where it is none of that. */
int shape_parse_dims(const char *text, int64_t value[DECOMPOSITION_DIMS]);
/* A number of at least `least`, else argp_error. */
int64_t shape_parse_number(struct argp_state *state, const char *option, const char *text,
                           int64_t least);

/* The kind of this name, else argp_error. */
const shape_kind *shape_parse_kind(struct argp_state *state, const char *text);

/* "4x4x4" */
#define SHAPE_DIMS_TEXT 96
void shape_print_dims(const int64_t *value, int dims, char text[SHAPE_DIMS_TEXT]);

#endif
