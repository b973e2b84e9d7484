/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a job as an option names them. */
#ifndef TOOLS_HOSTS_H
#define TOOLS_HOSTS_H

#include <stddef.h>

/* Each host once, numbered as they first occur, and the host of each rank. */
typedef struct tool_hosts {
    char **host;
    size_t count;
    size_t *of_rank;
    size_t ranks;
} tool_hosts;

/* "n[0-3]:32,login", a list as Slurm writes it whose names may be followed by so many slots (1), in
 * the order of ranks; or "@FILE", which has one name for each rank, separated by white space.
 * Returns 0, or TOOL_FAILURE after a message. Release in both cases. */
int tool_parse_hosts(const char *text, tool_hosts *hosts);

void tool_hosts_release(tool_hosts *hosts);

#endif
