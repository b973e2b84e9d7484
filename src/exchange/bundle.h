/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where one rank carries the data of others: the rule.
 */
#ifndef EXCHANGE_BUNDLE_H
#define EXCHANGE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/list.h"

/* Whether one message pays for this number of ranks, which have `bytes` in each of `cycles` cycles
 * at most, in pieces of `piece` bytes in the mean. */
bool exchange_bundle_pays(size_t ranks, int64_t bytes, int64_t piece, int64_t cycles,
                          int64_t message_size);

/* The most that a rank has in one cycle. */
int64_t exchange_largest_chunk(const access_list *list, int64_t cycle_size);

#endif
