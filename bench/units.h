/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Patterns of parallel programs as bytes of units on nodes, and what to compare fitted file domains
 * with. Programs of the tests and the bench share it: it exits when there is no memory.
 */
#ifndef BENCH_UNITS_H
#define BENCH_UNITS_H

#include "plan/fitted.h"

#include <stdint.h>

enum shape { GRID, RECORDS, UNEVEN, RANDOM_BLOCKS, MULTIPARTITION, TWO_ARRAYS };
enum placing { BY_SLOT, BY_NODE, SHUFFLED };

/* Arrays are row-major. */
typedef struct pattern {
    const char *name;
    enum shape shape;
    int64_t size[4]; /* elements in each dimension, 0 closes; RECORDS, RANDOM_BLOCKS: bytes of one,
                        count; UNEVEN: bytes in all */
    int64_t grid[4]; /* GRID: processes in each dimension; otherwise grid[0] processes in all */
    int64_t element; /* bytes */
    size_t nodes;
    enum placing placing;
} pattern;

extern const pattern patterns[];
extern const size_t pattern_count;

int64_t pattern_ranks(const pattern *p);
int64_t pattern_bytes(const pattern *p);

/* Release with matrix_release. */
matrix pattern_units(const pattern *p, int64_t unit);

/* `aggregators` of them, dealt to the nodes in blocks: the caller frees it. */
size_t *spread_aggregators(size_t aggregators, size_t nodes);

/* Even contiguous domains of whole units, given to the aggregators by linear assignment. */
void assign_even(const fitted_input *in, size_t *aggregator_of_unit);

/* The least hop-bytes within the balance of fitted_assign. */
double exact_hop_bytes(const fitted_input *in);

void *allocate(size_t count, size_t size);

#endif
