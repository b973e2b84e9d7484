/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How an accessed range is divided into file domains, and a domain into cycles.
 *
 * Where the file system has stripes it locks them: two aggregators that write to one stripe wait
 * for each other. So where stripes are known no stripe is in two domains, and a cycle has whole
 * ones where it can hold one. With the number of storage targets known as well, the stripes of a
 * target belong to as few aggregators as possible (Liao, Choudhary: file domain partitioning, SC
 * 2008).
 *
 * Ranges are bytes [lo, hi) of the file, 0 <= lo < hi. Functions return 0 or a negative errno
 * value; outputs are set only on success. Equal input gives equal output, so that ranks that know
 * the same need not agree.
 */
#ifndef PLAN_DIVISION_H
#define PLAN_DIVISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/domain.h"

/* Bytes of a domain on a node that has no other: what takes a link longer than one message more. */
#define DOMAIN_SPREAD ((int64_t)64 << 10)

typedef enum division_kind {
    DIVISION_AUTO, /* striped where there are several targets, else fitted or even */
    DIVISION_EVEN,
    DIVISION_STRIPE,
    DIVISION_FITTED
} division_kind;

/* "none" (DIVISION_AUTO: there are no domains), "even", "stripe" or "fitted". */
const char *division_kind_name(division_kind kind);

/* Bytes; file systems hold the size of a stripe in 32 bits. A stripe for each rank is below 2^63.
 */
#define DIVISION_LARGEST_STRIPE (INT64_C(1) << 32)

/* Without padding, like division_cycles: they may be compared by memcmp. */
typedef struct division_settings {
    int64_t kind;        /* a division_kind */
    int64_t aggregators; /* number of domains; 0: chosen */
    int64_t capacity;    /* number of domains at most where it is chosen, >= nodes, >= 1 */
    int64_t nodes;       /* that hold aggregators; 0: not known */
    int64_t stripe;      /* of the file system, bytes, <= DIVISION_LARGEST_STRIPE; 0: not known */
    int64_t targets; /* storage targets that take stripes in turn (stripe count); 0: not known, as
                        without a stripe */
    int64_t margin;  /* bytes of a stripe that were added to the range, or 0: domains are striped in
                        any case, as domains_cut wants it for wide shares */
} division_settings;

/* The number of aggregators of nodes with these numbers of ranks where it is chosen: on each node
 * half of its ranks, but at most its share of 256, or four of its ranks if that is more. The more
 * aggregators share a node's data, the faster these are copied; the time of a plan grows with the
 * number of domains. 0: there are no ranks. */
int64_t division_chosen_capacity(const size_t *ranks_on_node, size_t nodes);

/* The largest number up to `wanted` (>= 1) that divides `targets` or is a multiple of it; any where
 * targets is 0. */
int64_t division_allowed_aggregators(int64_t wanted, int64_t targets);

/* Whether stripes of a storage target belong together. */
bool division_is_striped(const division_settings *settings);

/* Whether the range may have a margin: even domains then have a column for each stripe. */
bool division_may_widen(const division_settings *settings, int64_t lo, int64_t hi);

/* Number of domains of a range: what is wanted, else one for each full DOMAIN_WORTHWHILE bytes, in
 * a multiple of the number of nodes; of fewer than nodes, one for each begun DOMAIN_SPREAD bytes,
 * up to one on each node, so that the data do not cross one link; at most one for each stripe, and
 * what division_allowed_aggregators makes of that. */
size_t division_count(const division_settings *settings, int64_t lo, int64_t hi);

typedef struct division {
    file_domains domains;
    int64_t period; /* bytes: the same domains, striped ones in turn, suit a range moved by a
                       multiple of this */
} division;

/* Even or striped domains; pieces.h has fitted ones. -ENOMEM. */
int division_make(const division_settings *settings, int64_t lo, int64_t hi, division *result);
/* Safe on a zeroed one. */
void division_release(division *result);

/* ---- cycles ---- */

typedef struct division_cycles {
    int64_t buffer;    /* an aggregator's cycle buffers at most, bytes, all in flight together */
    int64_t in_flight; /* their number, >= 1 */
    int64_t stripe;    /* as above */
    int64_t wanted;    /* bytes of a cycle; 0: by messages */
    int64_t message;   /* bytes of a message at most, 1 to 2^58 */
    int64_t parts;     /* the most contributors of an aggregator */
} division_cycles;

/* What a domain gets of the buffer of an aggregator where the number of domains was chosen: more
 * than four aggregators of a node share the memory of four. */
int64_t division_buffer(int64_t buffer, size_t domains, size_t nodes);

/* Positions of a cycle, equal for all domains: the largest is divided evenly, in the fewest cycles
 * of at most what is wanted, else full messages of all contributors, or of 16, as memory that is
 * touched first takes long; or 256 KiB or a stripe, if that is more; never of more than their part
 * of the buffer, or 1. Whole stripes where that holds one and the largest domain has more. */
int64_t division_cycle_size(const file_domains *domains, const division_cycles *cycles);

/* Number of cycles of the largest domain. */
int64_t division_num_cycles(const file_domains *domains, int64_t cycle_size);

#endif
