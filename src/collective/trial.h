/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which way of a repeated call is faster, by trying: aggregators, or each rank accesses the file
 * itself.
 *
 * After two calls by aggregators one call is tried independently, for less time than they took. If
 * it succeeds, this is repeated once; then calls are independent, until three of them in turn take
 * longer than aggregators did. After a failure four times as many calls pass before the next trial.
 *
 * Noise makes calls longer, never shorter. So times are compared by their minimum, and the way is
 * changed only when calls of both ways in turn have shown the same.
 *
 * A function of the reported seconds alone: ranks that report the same decide alike.
 */
#ifndef COLLECTIVE_TRIAL_H
#define COLLECTIVE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum trial_way {
    TRIAL_AGGREGATORS,
    TRIAL_ATTEMPT, /* independent, within trial_limit; else by aggregators after all */
    TRIAL_INDEPENDENT
} trial_way;

/* The calls of one kind. Zeroed: there was none. */
typedef struct trial {
    bool independent;
    int64_t least;  /* ns, of the calls by aggregators since the last failure; 0: none */
    uint64_t calls; /* by aggregators, since the last trial */
    int passed;     /* trials in turn */
    int failed;     /* trials */
    int slow;       /* independent calls in turn that took longer than `least` */
} trial;

/* How the next call goes. */
trial_way trial_next(const trial *t);
/* Seconds that an attempt may take; 0 unless that is next: no limit. */
double trial_limit(const trial *t);
/* The next call took this long. independent: it went without aggregators; false for an attempt that
 * was given up. */
void trial_add(trial *t, bool independent, int64_t nanoseconds);

#endif
