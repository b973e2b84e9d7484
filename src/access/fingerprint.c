/* SPDX-License-Identifier: BSD-3-Clause */
/* Two chains of a 64-bit mixing function with different constants. Each step is a bijection of the
 * state for a given value, and of the value for a given state, so that no step loses a difference
 * that stands alone. The constants are odd and have about as many bits set as not. */
#include "access/fingerprint.h"

static uint64_t mix(uint64_t state, uint64_t value, uint64_t factor)
{
    state = (state ^ value) * factor;
    state ^= state >> 29;
    state *= UINT64_C(0xd6e8feb86659fd93);
    return state ^ state >> 32;
}

static void mix_value(access_fingerprint *fingerprint, int64_t value)
{
    fingerprint->half[0] = mix(fingerprint->half[0], (uint64_t)value, UINT64_C(0x9e3779b97f4a7c15));
    fingerprint->half[1] = mix(fingerprint->half[1], (uint64_t)value, UINT64_C(0xc2b2ae3d27d4eb4f));
}

access_fingerprint access_get_fingerprint(const access_list *list)
{
    access_fingerprint fingerprint = {{1, 2}};
    mix_value(&fingerprint, (int64_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i], *first = &list->run[0];
        mix_value(&fingerprint, (int64_t)((uint64_t)run->offset - (uint64_t)first->offset));
        mix_value(&fingerprint, run->length);
        mix_value(&fingerprint, run->stride);
        mix_value(&fingerprint, run->count);
        mix_value(&fingerprint, run->stream);
    }
    return fingerprint;
}
