/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs that try random cases: where one of them ends the program, the command that repeats
 * it is printed.
 */
#ifndef TESTS_REPLAY_H
#define TESTS_REPLAY_H

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of the case that is being tried: the program, its options but the seed, and the seed. */
static const char *replay_tool, *replay_way;
static uint64_t replay_seed;

static void replay_print(void)
{
    char text[200];
    int length = snprintf(text, sizeof text, "# the program ends in %s %s --seed=%" PRIu64 "\n",
                          replay_tool, replay_way, replay_seed);
    if (write(STDOUT_FILENO, text, (size_t)length) < 0)
        _exit(EXIT_FAILURE);
}

static void replay_end_by_signal(int signal)
{
    (void)signal;
    replay_print();
    _exit(EXIT_FAILURE);
}

/* Of the sanitizers' runtime, where the program is linked with it. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static inline void replay_catch_crashes(void)
{
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(replay_print);
        return;
    }
    signal(SIGSEGV, replay_end_by_signal);
    signal(SIGBUS, replay_end_by_signal);
    signal(SIGFPE, replay_end_by_signal);
    signal(SIGABRT, replay_end_by_signal);
}

#endif
