/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks do in the file, by bins: who should share a node, and which bytes would cross between
 * nodes. Private to this folder; the public half is in setmatch.h.
 */
#ifndef SETMATCH_PROFILE_H
#define SETMATCH_PROFILE_H

#include "setmatch/setmatch.h"

/* The node of each bin of one call: bins[b] is SIZE_MAX for a bin that nobody touches. */
typedef struct owners {
    size_t **bins; /* by call */
    size_t calls;
} owners;

/* Gives the bins of every call to nodes, as setmatch_crossing says, for ranks placed at node[];
 * *kept are the bytes that stay on their nodes. -ENOMEM; -ERANGE: sums beyond int64. */
int owners_find(owners *o, const setmatch_profile *profile, size_t nodes, const size_t *node,
                setmatch_domains domains, int64_t *kept);

/* Even domains in order of `count` nodes, before any rank has a node. -ENOMEM. */
int owners_in_order(owners *o, const setmatch_profile *profile, const size_t *nodes, size_t count);

void owners_release(owners *o);

/* Bytes of each rank (row) in the bins of each node (column). -ERANGE; -ENOMEM. */
int owners_benefit(const owners *o, const setmatch_profile *profile, size_t nodes, matrix *benefit);

#endif
