/* SPDX-License-Identifier: BSD-3-Clause */
/* The first agreement of a call: whether it reuses a plan, and what decides on the way of its data.
 *
 * Each rank describes its access, and all agree on it in one reduction. The plans of earlier calls
 * are known by their slot, number and access only. */
#ifndef COLLECTIVE_SCHEDULE_H
#define COLLECTIVE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/slot.h"

typedef struct coll_agreement {
    bool reuse; /* the plan in `slot` is reused, moved by `shift` bytes in the file */
    size_t slot;
    int64_t shift;
    int64_t lo, hi;       /* range of the first layers over all ranks; hi is 0: no rank has data */
    int64_t layers;       /* of the rank that has most */
    bool flush;           /* without reuse: the plans of all slots have to be released */
    bool settings_differ; /* between ranks */
    bool atomic;          /* on any rank */
    bool is_done;         /* on all ranks */
    aggregation_access aggregation; /* of all ranks */
} coll_agreement;

/* `access` is described unless rc is an error. rc: this rank's status so far. Returns the largest
 * error class over all ranks. Collective. */
int coll_schedule_agree(coll_slots *slots, coll_group *group, const coll_access *access, int rc,
                        coll_agreement *agreement);

#endif
