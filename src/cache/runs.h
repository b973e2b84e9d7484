/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of the runs of a program: how long its collective calls took, by the mapping of its
 * ranks, and whether a placement by the record turned out worse than the stock mapping.
 */
#ifndef CACHE_RUNS_H
#define CACHE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CACHE_MOST_SAMPLES 64
#define CACHE_MOST_MAPPINGS 8
#define CACHE_TEXT_SIZE 512

/* One run. A mapping is which ranks share nodes, as cache_mapping has it. */
typedef struct cache_sample {
    uint64_t mapping;
    int64_t calls;       /* at least 1 */
    int64_t nanoseconds; /* in all of them */
} cache_sample;

/* What became of a mapping. */
typedef enum cache_mark { CACHE_PLACED, CACHE_DROPPED, CACHE_MARKS } cache_mark;

/* Zeroed: nothing is known. The latest samples and mappings are kept. */
typedef struct cache_runs {
    char program[CACHE_TEXT_SIZE], arguments[CACHE_TEXT_SIZE]; /* escaped, cut off */
    size_t ranks;
    size_t samples;
    cache_sample sample[CACHE_MOST_SAMPLES]; /* the latest is the last */
    size_t marks[CACHE_MARKS];
    uint64_t mapping[CACHE_MARKS][CACHE_MOST_MAPPINGS];
} cache_runs;

/* The same for two mappings if and only if the same ranks share nodes, apart from collisions of
 * digests. 0; -ENOMEM. */
int cache_mapping(const size_t *node_of_rank, size_t ranks, size_t nodes, uint64_t *mapping);

/* Names what runs; argument[0] is not an argument. */
void cache_runs_describe(cache_runs *runs, const char *program, char *const *argument,
                         size_t ranks);
void cache_runs_add(cache_runs *runs, const cache_sample *sample);
void cache_runs_set_mark(cache_runs *runs, cache_mark mark, uint64_t mapping);
bool cache_runs_has_mark(const cache_runs *runs, cache_mark mark, uint64_t mapping);

/* Lines of text. Lines that are not of this format are skipped. 0; -EIO; -ENOMEM. */
int cache_runs_parse(FILE *stream, cache_runs *runs);
int cache_runs_format(FILE *stream, const cache_runs *runs);

typedef enum cache_verdict {
    CACHE_PLACE,         /* nothing speaks against the placement */
    CACHE_MEASURE_STOCK, /* the placement seems worse: some runs by the stock mapping will show it
                          */
    CACHE_DROP,          /* it is worse */
    CACHE_STAY_DROPPED   /* it was dropped before */
} cache_verdict;

/* Medians over the latest runs, for the message. */
typedef struct cache_comparison {
    size_t runs, stock_runs;
    double seconds, stock_seconds; /* of a call */
} cache_comparison;

/* A placement is worse than the stock mapping where the median of a call's time is longer by a
 * tenth at least, and three quarters of its runs are slower than three quarters of the stock ones;
 * with 5 runs of each. */
#define CACHE_LEAST_RUNS 5
#define CACHE_LEAST_LOSS .1
cache_verdict cache_runs_judge(const cache_runs *runs, uint64_t placed, uint64_t stock,
                               cache_comparison *comparison);

/* The runs by all mappings that are marked, and all others. */
void cache_runs_compare(const cache_runs *runs, cache_comparison *comparison);

#endif
