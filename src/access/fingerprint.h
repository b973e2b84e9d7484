/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A fingerprint of an access list: the same for lists with the same runs, moved by any distance.
 */
#ifndef ACCESS_FINGERPRINT_H
#define ACCESS_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "access/list.h"

/* 128 bits. Two different lists have the same one by chance only: two of 2^32 lists with a
 * probability of about 2^-65. */
typedef struct access_fingerprint {
    uint64_t half[2];
} access_fingerprint;

/* Of offsets relative to the first run's, lengths, strides, counts and positions in the stream.
 * O(runs). */
access_fingerprint access_get_fingerprint(const access_list *list);

static inline bool access_same_fingerprint(access_fingerprint a, access_fingerprint b)
{
    return a.half[0] == b.half[0] && a.half[1] == b.half[1];
}

#endif
