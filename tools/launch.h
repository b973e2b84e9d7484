/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The placement of tatp run: any launcher gets it by environment variables alone. No word of its
 * command line means anything here.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include "cache/program.h"
#include "nodes.h"

typedef struct launch {
    const char *file; /* the record; NULL: that of the command in the user's cache */
    bool has_library; /* it is preloaded */
    bool is_given;    /* the nodes, not by an allocation */
    node_list nodes;  /* where ranks may be; none: not known */
    char command[CACHE_PROGRAM_LENGTH + 1]; /* its digits in the cache */
} launch;

/* Sets the digits of the command. */
void launch_name_command(launch *l, char *const *word);

/* Places the ranks, and prints one line. What cannot be placed starts as if nothing were set, and
 * the line, or one of the ranks, says why. Ends the program after a message if the file is no
 * record. */
void launch_place(const launch *l);

#endif
