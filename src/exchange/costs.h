/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which holes a read includes, by what reads have cost so far.
 *
 * A read that ends at a hole costs one more request; a read that includes it transfers bytes that
 * are not used. A request takes less than a microsecond where the file is in memory and hundreds of
 * them where a server has to be asked, so that the hole at which both cost the same is between a
 * few KiB and more than a MiB. Both costs are moving averages of the reads of one file by one rank.
 * Local.
 */
#ifndef EXCHANGE_COSTS_H
#define EXCHANGE_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes: a hole up to the one is always included, a hole above the other never. */
#define READ_COSTS_LEAST (4 * 1024)
#define READ_COSTS_MOST (64 * 1024)

/* Zeroed: nothing is known, and holes up to READ_COSTS_MOST are included. */
typedef struct read_costs {
    double request, byte; /* seconds; 0: not known */
    uint64_t included;    /* holes above READ_COSTS_LEAST */
} read_costs;

/* A read took this long. */
void read_costs_add(read_costs *costs, int64_t bytes, double seconds);

/* Whether a read includes a hole. Now and then one that should be included is not, because only
 * short reads show what a request costs. */
bool read_costs_include(read_costs *costs, int64_t hole);

#endif
