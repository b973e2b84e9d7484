/* SPDX-License-Identifier: BSD-3-Clause
 *
 * This process and its job: parameters, which are environment variables TATP_NAME, and messages.
 */
#ifndef MPI_PROCESS_H
#define MPI_PROCESS_H

#include <stdbool.h>

#include "collective/collective.h"

/* MPI_Init has succeeded. Reports if the library cannot be used: with this MPI, or since not all
 * processes of this node have it. Else collective over the job. */
void front_process_start(void);

/* Whether all processes of the job have called front_process_start. The same on all of them. Only
 * then may the rest be used. */
bool front_process_is_ready(void);

coll_process *front_process(void);

/* The name of this process's node, with its NUL in FRONT_HOST bytes, and a number that other nodes
 * do not have: of the machine as it is running, by this name. Containers with other names are other
 * nodes. */
enum { FRONT_HOST = 256 };
const char *front_process_host(void);
int64_t front_process_node(void);

/* The texts of the parameters, as they are now. */
void front_process_parameters(const char *text[PARAMETERS]);

/* How communicators are reordered, as rank 0 of the job has it: by the view file of this name; "":
 * by their grids and graphs; NULL: not at all. */
const char *front_process_record(void);

/* Whether new files get the stripes that the library chooses. */
bool front_process_sets_stripes(void);

/* A line on standard error where TATP_VERBOSE is at least the level. */
void front_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
