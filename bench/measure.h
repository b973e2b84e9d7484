/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured besides time: memory, bytes on links (by the caller), fcoll/tatp's own words. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "contest.h"

enum { STAGES = 5 };

/* Of the statistics that fcoll/tatp wrote about one operation. */
typedef struct statistics {
    int lines;                       /* 0: nothing is known */
    double crossing_bytes;           /* that change nodes, in the last call */
    double planning_share;           /* median over the calls of the part of stages 1 to 3 */
    double messages, metadata_bytes; /* in the last call */
    double hop_bytes, aggregators;   /* in the last call */
    double stage[STAGES];            /* seconds of st1 to st5, medians over the calls */
} statistics;

/* Exchanges something between all pairs of ranks, so that connections and their buffers are there.
 */
void connect_all(const problem *p);

/* The memory that this rank uses now, and from where on its peak counts; -1 where the system does
 * not say. */
int64_t memory_mark(void);
/* How much the peak since the mark is above it, on the rank where it is most. Collective. */
int64_t memory_over(int64_t mark);

/* Tells the caller of the program where it is, and waits for a line of its. Collective. */
void ask_caller(const char *contestant, const char *operation, const char *moment);

statistics read_statistics(const char *path, const char *operation);

#endif
