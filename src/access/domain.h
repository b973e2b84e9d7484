/* SPDX-License-Identifier: BSD-3-Clause
 *
 * File domains: which part of the accessed file is served by which aggregator.
 *
 * A domain is a *set* of ranges of the file, and its bytes have positions of their own: those of
 * its ranges, in file order, one after another, from 0 to size - 1. Everything after the cut (the
 * cycles, the buffers, the messages) works in positions, so that a domain of one range and a
 * domain of thousands take the same path. position_to_file leads back.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_DOMAIN_H
#define ACCESS_DOMAIN_H

#include "access/access.h"

typedef struct domain_range {
    int64_t lo, hi;   /* bytes [lo, hi) of the file */
    int64_t position; /* of byte lo within its domain */
    size_t domain;
} domain_range;

/* `range` ascends and covers [range[0].lo, range[ranges - 1].hi) without gaps or overlaps. */
typedef struct file_domains {
    size_t count;        /* number of domains, a */
    int64_t *size;       /* size[j]: bytes of domain j, >= 0 */
    size_t ranges;
    domain_range *range;
    size_t *first;       /* ranges of domain j: by_domain[first[j]] .. by_domain[first[j + 1] - 1] */
    size_t *by_domain;   /* indices into range[], ascending within a domain */
} file_domains;

/* [lo, hi) in `count` contiguous domains of equal size, their borders at multiples of `align` (>= 1)
 * in the file; trailing domains are empty when there is too little for all.
 * -EINVAL: lo < 0, lo > hi, count or align 0; -ENOMEM. */
int domains_even(file_domains *domains, int64_t lo, int64_t hi, size_t count, int64_t align);

/* [lo, hi) cut into units of `unit` bytes from lo on (the last may be shorter); unit u goes to
 * domain of[u] < count. Neighbouring units of one domain become one range.
 * -EINVAL: as above, or unit < 1, or a domain out of range; -ENOMEM. */
int domains_from_units(file_domains *domains, int64_t lo, int64_t hi, int64_t unit,
                       const size_t *of, size_t count);

void domains_release(file_domains *domains);

/* The file offset of position `position` of domain j, and how many bytes from there on lie in
 * one range. `position` < size[j]. */
int64_t domains_position_to_file(const file_domains *domains, size_t j, int64_t position,
                                 int64_t *contiguous);

/* What an ordered list has in one domain, in positions. */
typedef struct domain_share {
    size_t domain;
    access_list list;
} domain_share;

/* Cuts an ordered list that lies inside the range of the domains. *shares has one entry for each
 * domain that is touched, ascending by domain; the caller frees it with domains_free_shares.
 * O(runs + ranges touched + domains). -ENOMEM; -EINVAL when the list lies outside. */
int domains_cut(const file_domains *domains, const access_list *list,
                domain_share **shares, size_t *count);

void domains_free_shares(domain_share *shares, size_t count);

#endif
