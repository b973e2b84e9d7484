/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines of plans, each by itself, on problems that are made up here. */
#ifndef BENCH_ENGINES_H
#define BENCH_ENGINES_H

#include <stdbool.h>

enum { ALL_PROBLEMS = -1 };

typedef struct engine_options {
    long problem; /* its number, or ALL_PROBLEMS */
    long repetitions;
    const char *dump; /* the file for the costs of the last assignment; NULL: none */
} engine_options;

/* Prints a line for each problem: its name in columns, the least processor seconds, and what was
 * reached. False: an answer was wrong. Ends the program without memory. */
bool measure_assignments(const engine_options *o);
bool measure_auctions(const engine_options *o);

double processor_seconds(void);

#endif
