/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Assignment of file domains to nodes by an access profile. Private to this folder; quality.h has
 * the public functions.
 */
#ifndef SETMATCH_PROFILE_H
#define SETMATCH_PROFILE_H

#include "base/arena.h"
#include "setmatch/input.h"

/* By call, the node that owns each bin; SIZE_MAX: the bin is not accessed. */
typedef struct owners {
    size_t **bins;           /* by call */
    struct base_arena arena; /* of all arrays */
} owners;

/* Assigns the bins of every call to nodes (numbered below `nodes`), with ranks placed at node[]: as
 * one contiguous domain of equal length per node that has ranks or, where that keeps no fewer
 * bytes, bin by bin, the same number to each. An auction finds the nodes, which keeps all but at
 * most one hundredth of an average domain's bytes per domain, compared with the optimum.
 * *local_bytes: bytes that stay on their nodes. -ENOMEM; -ERANGE: sums beyond int64. */
int owners_find(owners *o, const setmatch_profile *profile, size_t nodes, const size_t *node,
                int64_t *local_bytes);

/* Even domains in order of `count` nodes, whatever the placement. -ENOMEM. */
int owners_in_order(owners *o, const setmatch_profile *profile, const size_t *nodes, size_t count);

void owners_release(owners *o);

/* Bytes of each rank (row) in the bins of each node (column). -ERANGE; -ENOMEM. */
int owners_benefit(const owners *o, const setmatch_profile *profile, size_t nodes, matrix *benefit);

#endif
