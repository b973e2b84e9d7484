/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Assignment of file domains to nodes by an access profile. Private to this folder; quality.h has
 * the public functions.
 */
#ifndef SETMATCH_PROFILE_H
#define SETMATCH_PROFILE_H

#include "setmatch/input.h"

/* Owners are an array: for each bin of every call, call by call, the node that owns it; nothing
 * where the bin is not accessed. The number of bins: */
size_t owners_count_bins(const setmatch_profile *profile);

/* Assigns the bins of every call to nodes (numbered below `nodes`), with ranks placed at node[]: as
 * one contiguous domain of equal length per node that has ranks or, where that keeps no fewer
 * bytes, bin by bin, the same number to each. An auction finds the nodes, which keeps all but at
 * most one hundredth of an average domain's bytes per domain, compared with the optimum (more only
 * after a price war: plan/auction.h). *local_bytes: bytes that stay on their nodes. -ENOMEM;
 * -ERANGE: sums beyond int64. */
int owners_find(const setmatch_profile *profile, size_t nodes, const size_t *node, size_t *owner,
                int64_t *local_bytes);

/* Even domains in order of `count` nodes, whatever the placement. */
void owners_in_order(const setmatch_profile *profile, const size_t *nodes, size_t count,
                     size_t *owner);

/* Places ranks on the nodes that own most of their bytes: at most capacity[n] on node n, which
 * suffices for all. -ERANGE; -ENOMEM. */
int owners_follow(const setmatch_profile *profile, size_t nodes, const size_t *capacity,
                  const size_t *owner, size_t *node);

#endif
