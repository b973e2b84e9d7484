/* SPDX-License-Identifier: BSD-3-Clause
 *
 * File domains: the parts of the accessed range that the aggregators own.
 *
 * A domain is a *set* of ranges of the file. Its bytes are numbered by positions: those of its
 * ranges, in file order, contiguously up to size - 1. Everything after the cut (cycles, buffers,
 * messages) uses positions, so that a domain of one range and one of thousands share one data path.
 * domains_position_to_file converts back.
 *
 * In aligned domains position 0 is the border at or before the first byte, so that borders in the
 * file are at multiples of the alignment in positions, too.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_DOMAIN_H
#define ACCESS_DOMAIN_H

#include <stdbool.h>

#include "access/list.h"

typedef struct domain_range {
    int64_t lo, hi;   /* bytes [lo, hi) of the file */
    int64_t position; /* of byte lo within its domain */
    size_t domain;
} domain_range;

/* A column of striped domains is every `columns`-th stripe. */
typedef struct domain_column {
    size_t domain;
    int64_t before, after; /* number of adjacent columns of the same domain on each side */
} domain_column;

/* Ranges are computed for striped domains, since a large file has millions of stripes; else they
 * are a table. */
typedef struct file_domains {
    size_t count;   /* number of domains, a */
    int64_t lo, hi; /* they cover bytes [lo, hi) of the file without gaps or overlaps */
    int64_t head;   /* of a table: bytes from the border at or before lo to lo */
    int64_t *size;  /* size[j]: one past the last position of domain j; 0: it has no bytes */
    int64_t stripe; /* of striped domains, bytes; 0: ranges are a table */
    size_t columns; /* of stripes */
    domain_column *column;
    int64_t *skipped; /* per domain: its stripes below the one that holds byte lo */
    size_t ranges, capacity;
    domain_range *range; /* ascending; those of a single domain where there is no by_domain */
    size_t *first; /* ranges (or columns) of domain j: by_domain[first[j]] .. by_domain[first[j + 1]
                      - 1] */
    size_t *by_domain; /* indices into range[] or column[], ascending within a domain */
} file_domains;

/* Bytes below which one more domain does not pay for its messages. */
#define DOMAIN_WORTHWHILE ((int64_t)1 << 20)

/* The alignment for `count` even domains of `bytes` in all: the file system's stripes if these are
 * known (stripe > 0), else pages unless the domains are small. count > 0. */
int64_t domains_alignment(int64_t bytes, size_t count, int64_t stripe);

/* [lo, hi) in `count` contiguous domains, with borders at multiples of `align` (>= 1) in the file:
 * of the units between these, of which the first and the last may be a part, the first domains have
 * one more than the others. -EINVAL: lo < 0, lo > hi, count or align 0; -ENOMEM. */
int domains_even(file_domains *domains, int64_t lo, int64_t hi, size_t count, int64_t align);

/* [lo, hi) cut into units of `unit` bytes counted from `base` <= lo, so that the first and the last
 * one may be shorter. */
typedef struct domain_units {
    int64_t lo, hi, base, unit;
} domain_units;

/* The u-th unit that intersects [lo, hi) belongs to domain of[u] < count; where of is NULL, to
 * domain u. Adjacent units of one domain become one range. -EINVAL: as above, or unit < 1, base < 0
 * or base > lo, or a domain out of range; -ENOMEM. */
int domains_from_units(file_domains *domains, const domain_units *units, const size_t *of,
                       size_t count);

/* Units are stripes, counted from byte 0 of the file, whatever `base` is: stripe s belongs to
 * domain of[s % columns] < count; where of is NULL, to domain s % count. Memory O(columns + count).
 *
 * Where the file system puts stripe s on storage target s % targets, all stripes of a target belong
 * to one domain when columns is `targets`, or of is NULL and count divides it. Where count is m
 * times `targets` and columns is count (or of is NULL), a target's stripes belong to m columns.
 * -EINVAL: lo < 0, lo > hi, unit < 1, columns or count 0, or a domain out of range; -ENOMEM. */
int domains_striped(file_domains *domains, const domain_units *stripes, const size_t *of,
                    size_t columns, size_t count);

void domains_release(file_domains *domains);

/* ---- a table of which a rank has a part at a time ---- */

/* Domains of [lo, hi) without a range yet; base as above. -EINVAL, -ENOMEM as above. */
int domains_begin(file_domains *domains, const domain_units *units, size_t count);
/* Appends a range [lo, hi) of the file, hi > lo, which begins where the last one ended. One that is
 * not stored adds to the size of its domain only. -ENOMEM. */
int domains_append(file_domains *domains, int64_t lo, int64_t hi, size_t domain, bool stored);
/* Forgets the ranges but those of domain `j`; none, if there is no such domain. Nothing is done to
 * striped domains. */
void domains_keep(file_domains *domains, size_t j);

/* The range that contains file offset `offset` of [lo, hi). *near is the caller's, 0 initially; the
 * offsets of calls with the same *near ascend. */
domain_range domains_range_at(const file_domains *domains, int64_t offset, size_t *near);

/* The file offset of position `position` of domain j, which has a byte there, and the number of
 * bytes from there on in the same range. */
int64_t domains_position_to_file(const file_domains *domains, size_t j, int64_t position,
                                 int64_t *contiguous);

#endif
