/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A baseline: collective accesses by the messages of ROMIO, without data.
 */
#ifndef SIMULATE_ROMIO_H
#define SIMULATE_ROMIO_H

#include "access/list.h"
#include "simulate/machine.h"

typedef struct romio_parts {
    struct romio_part *part;
    size_t count, capacity;
} romio_parts;

/* What the ranks have in common. */
typedef struct romio {
    network *net;
    machine *machine;
    int64_t nodes;
    const int *aggregator; /* of each node, its lowest rank */
    romio_parts *expected; /* by node, in a step, then the same in the next one; zeroed at first */
    bool is_interleaved;   /* their accesses are */
} romio;

/* Whether a rank begins before the last byte of the rank before it. */
bool romio_is_interleaved(const access_list *list, int ranks);

/* Each rank has an ordered list, not all of them empty. Its memory counts as the rank's. */
void romio_access(const romio *of, const coll_runtime *runtime, const access_list *list,
                  bool write);

#endif
