/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cutting accesses at the borders of file domains, and what a plan makes of the parts.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_CUT_H
#define ACCESS_CUT_H

#include "access/domain.h"

/* The part of an ordered list in one domain, in positions. */
typedef struct domain_share {
    size_t domain;
    access_list list;
    int64_t margin; /* bytes of a wide share that the domain does not have */
} domain_share;

/* Cuts an ordered list inside the range of the domains. *shares has one entry for each domain
 * accessed, ascending by domain; free it with domains_free_shares. O(runs + ranges accessed +
 * domains) time and memory. -ENOMEM; -EINVAL: the list exceeds the range.
 *
 * Wide shares are those of striped domains whose range has one stripe more than the list: in
 * offsets of the file, and with the stripe before each of the domain's. That is all that the domain
 * can have of the list where this is moved by less than a stripe. */
int domains_cut(const file_domains *domains, const access_list *list, bool is_wide,
                domain_share **shares, size_t *count);

/* What a domain has of a wide list that is moved by a distance: becomes the list *part. -ENOMEM. */
int domains_cut_part(const file_domains *domains, const access_list *wide, int64_t distance,
                     size_t domain, access_list *part);

void domains_free_shares(domain_share *shares, size_t count);

/* The same by and by, while the table of the domains has a part of the ranges at a time. */
typedef struct domain_cutter {
    const file_domains *domains;
    const access_list *list; /* ordered */
    int64_t distance;        /* by which it is moved */
    bool is_wide;            /* the shares are */
    access_list *part;       /* of `domain` alone, instead of shares */
    size_t domain;
    size_t next;            /* its first run that is not begun */
    access_run block, rest; /* of the run before: the rest of a block, and the blocks behind it */
    size_t near;            /* the last range */
    size_t *slot;           /* of each domain: 1 + the index of its share, or 0 */
    domain_share *share;
    size_t count, capacity;
} domain_cutter;

/* -ENOMEM; -EINVAL: the list exceeds the range. */
int domains_cut_begin(domain_cutter *cut, const file_domains *domains, const access_list *list);
/* Up to the end of the last range of the table. -ENOMEM. */
int domains_cut_more(domain_cutter *cut);
/* The shares, if rc is 0, and otherwise nothing. Returns rc. */
int domains_cut_end(domain_cutter *cut, int rc, domain_share **shares, size_t *count);

/* A plan: file domains, their aggregators and cycles, and this rank's part in them. What plans,
 * exchanges and statistics share. All but that part is the same on all ranks. */
typedef struct domain_layout {
    int error;      /* this rank's in making its part of it, which has to be agreed on */
    int64_t id;     /* another one for each plan of a rank 0 */
    int64_t period; /* bytes: it suits an access that is moved by a multiple of this */
    int64_t margin; /* bytes of a stripe where the shares are wide, or 0 */
    int64_t piece;  /* bytes of a contiguous piece of the accesses in the mean */
    const file_domains *domains;
    int *aggregator;      /* per domain, a rank */
    int64_t cycle_size;   /* positions of a domain */
    int64_t num_cycles;   /* of the largest domain */
    int64_t message_size; /* bytes of a message at most */
    /* This rank's part of each domain that it accesses. */
    domain_share *share;
    size_t shares;
    bool aggregates; /* this rank owns domain `domain` ... */
    size_t domain;
    size_t contributors;       /* ... which this number of ranks access, itself included */
    int64_t most_contributors; /* of a domain */
} domain_layout;

#endif
