/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hosts of a job, from the argument of --hosts.
 */
#ifndef TOOLS_HOSTS_H
#define TOOLS_HOSTS_H

#include <stddef.h>

/* Each host once, numbered in the order of first occurrence, and the host of each rank. */
typedef struct tool_hosts {
    char **host;
    size_t count;
    size_t *of_rank;
    size_t ranks;
} tool_hosts;

/* "n[0-3]:32,login": a list in Slurm's syntax, in rank order, each name with an optional number of
 * slots (default 1); or "@FILE": one name per rank, separated by white space.
 * Returns 0, or TOOL_FAILURE after a message; release in both cases. */
int tool_parse_hosts(const char *text, tool_hosts *hosts);

void tool_hosts_release(tool_hosts *hosts);

#endif
