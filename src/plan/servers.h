/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage servers as ranks that own nothing. For this folder only.
 */
#ifndef PLAN_SERVERS_H
#define PLAN_SERVERS_H

#include "plan/problem.h"

/* The same problem with one sum of hop-bytes to minimise: in node_bytes, weighted bytes on the
 * servers of a node are bytes of its ranks, and there is no `storage`. *sum is that matrix, which
 * the caller releases, or empty where nothing is known of servers or their weight is 0. -EINVAL: a
 * wrong shape or a negative weight; -ERANGE; -ENOMEM. */
int plan_count_servers(const plan_input *in, matrix *sum, plan_input *counted);

#endif
