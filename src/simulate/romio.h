/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A baseline: the messages of a collective access by ROMIO's two-phase I/O
 * (ADIOI_GEN_WriteStridedColl and ADIOI_GEN_ReadStridedColl, written down from knowledge of them),
 * without data.
 *
 * Modelled, in each call, whether one alike came before or not: the gathers of first and last
 * offsets on all ranks; one aggregator a node, contiguous domains of equal size; an exchange of
 * counts of all ranks with all, and a message with offsets and lengths, 16 bytes a piece, from each
 * rank to each aggregator whose domain it accesses; an agreement on the number of cycles, of 16 MiB
 * of each domain. In each cycle, in step on all ranks: an exchange of sizes of all with all, a
 * message between each aggregator and each rank with data in it, one access to the file from the
 * first to the last byte, for a write with holes after a read. Then an agreement on errors.
 *
 * In ROMIO's favour: collective operations take what no algorithm can go below, the latencies of a
 * tree and the time of the bytes on the link of a node, and are no messages; an aggregator's own
 * data take no time; a cycle is read after its sizes are known, so that reads do not wait for each
 * other. Not modelled: hints, alignment to stripes, the choice of independent access where accesses
 * are not interleaved, and processor time.
 */
#ifndef SIMULATE_ROMIO_H
#define SIMULATE_ROMIO_H

#include "access/list.h"
#include "collective/runtime.h"

/* What the ranks of a job have in common. */
typedef struct romio romio;

/* Nodes are numbered below `nodes`; each has ranks. Ends the program where there is no memory. */
romio *romio_new(const int *node_of_rank, int ranks, int nodes);
void romio_free(romio *job); /* may be NULL */

typedef struct romio_rank {
    romio *job;
    int node;
    const coll_runtime *runtime; /* of which it uses messages */
    /* All ranks come to a collective operation, which leaves the maxima of the values on each, and
     * in which a node gets or sends so many bytes. */
    void (*meet)(void *context, int64_t *value, size_t count, double bytes);
    void (*access)(void *context, int64_t offset, int64_t bytes); /* the file */
} romio_rank;

/* An ordered list, not empty on all ranks. */
void romio_access(const romio_rank *rank, const access_list *list, bool write);

#endif
