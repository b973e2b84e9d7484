/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The processes of the job that are on this node, as the system knows them: no message of the MPI
 * is sent, with which one of the program's could be matched, and no process waits for another.
 */
#ifndef MPI_PEERS_H
#define MPI_PEERS_H

#include <stdbool.h>

/* Whether this process may be rank 0, by the environment that launchers give it. */
bool front_peers_may_be_first(void);

/* Whether all ranks of this node have the library, after MPI_Init in a job of `ranks` ranks, as far
 * as is known; if not, all that have it agree. *is_first: this one has the lowest rank of these. */
bool front_peers_have_library(int ranks, bool *is_first);

#endif
