/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a repeated call, by trying. */
#include "collective/trial.h"

/* Calls by aggregators before the first trial, and by how much more before the one after a failure:
 * even trials that fail at the very end take a few per cent of many calls. */
#define FIRST_CALLS 2
#define SHIFT_OF_FAILURE 2
#define MOST_FAILURES 16
/* Trials in turn that have to succeed. */
#define PASSES 2
/* An attempt succeeds within this part of the time that aggregators took. */
#define CLEARLY_FASTER .8
/* Independent calls in turn that show that aggregators were faster. */
#define SLOW_CALLS 3

/* Between two trials in turn there is one call. */
static uint64_t calls_before_trial(const trial *t)
{
    return t->passed > 0 ? 1 : (uint64_t)FIRST_CALLS << (SHIFT_OF_FAILURE * t->failed);
}

trial_way trial_next(const trial *t)
{
    if (t->independent)
        return TRIAL_INDEPENDENT;
    return t->calls >= calls_before_trial(t) ? TRIAL_ATTEMPT : TRIAL_AGGREGATORS;
}

double trial_limit(const trial *t)
{
    return trial_next(t) == TRIAL_ATTEMPT ? 1e-9 * CLEARLY_FASTER * (double)t->least : 0;
}

/* Back to aggregators, whose time is measured anew. */
static void note_failure(trial *t)
{
    *t = (trial){.failed = t->failed < MOST_FAILURES ? t->failed + 1 : MOST_FAILURES};
}

static void note_attempt(trial *t, bool succeeded)
{
    if (!succeeded) {
        note_failure(t);
        return;
    }
    t->calls = 0;
    t->passed++;
    t->independent = t->passed == PASSES;
}

void trial_add(trial *t, bool independent, int64_t nanoseconds)
{
    switch (trial_next(t)) {
    case TRIAL_ATTEMPT:
        note_attempt(t, independent && 1e-9 * (double)nanoseconds <= trial_limit(t));
        break;
    case TRIAL_INDEPENDENT:
        t->slow = nanoseconds > t->least ? t->slow + 1 : 0;
        if (t->slow == SLOW_CALLS)
            note_failure(t);
        break;
    case TRIAL_AGGREGATORS:
    default:
        t->calls++;
        if (t->least == 0 || nanoseconds < t->least)
            t->least = nanoseconds;
        break;
    }
}
