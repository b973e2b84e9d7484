/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When this process was started. Linux only.
 */
#ifndef BASE_START_H
#define BASE_START_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BASE_NANOSECONDS 1000000000

static inline int64_t base_read_clock(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * BASE_NANOSECONDS + now.tv_nsec;
}

/* Field 22 of /proc/self/stat: clock ticks since the system was booted. The name of the program,
 * field 2, is in brackets and may hold anything. 0: not known. */
static inline int64_t base_read_start(void)
{
    char text[1024] = "";
    unsigned long long ticks = 0;
    FILE *stream = fopen("/proc/self/stat", "r");
    if (stream == NULL)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    if (end == NULL || sscanf(end + 1,
                              " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                              "%*s %*s %*s %*s %llu",
                              &ticks) != 1)
        return 0;
    return (int64_t)ticks * (BASE_NANOSECONDS / sysconf(_SC_CLK_TCK));
}

/* Nanoseconds since 1970; 0: not known. */
static inline int64_t base_process_start(void)
{
    int64_t start = base_read_start();
    if (start == 0)
        return 0;
    return base_read_clock(CLOCK_REALTIME) - base_read_clock(CLOCK_BOOTTIME) + start;
}

#endif
