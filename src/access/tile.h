/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tiling: a period of accesses that repeats every `extent` bytes of the file, as an MPI file view
 * does. The stream of the tiling is that of the first copy, then that of the second, and so on.
 *
 * Units: bytes. Functions return 0 or a negative errno value.
 */
#ifndef ACCESS_TILE_H
#define ACCESS_TILE_H

#include "access/access.h"

/* Appends stream bytes [from, from + bytes) of the tiling whose first copy has its origin at byte
 * `base` of the file; their stream continues at list->bytes. The stream of `period` begins at 0 and
 * has no gaps. Whole copies of a period of one block become one run, however many there are;
 * otherwise O(runs of the period * copies). from, bytes >= 0. -EINVAL: bytes of an empty period, or
 * an offset that is negative or beyond int64; -ENOMEM. The list may then have some of the bytes. */
int access_append_tiled(access_list *list, const access_list *period, int64_t base, int64_t extent,
                        int64_t from, int64_t bytes);

#endif
