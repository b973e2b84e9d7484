/* SPDX-License-Identifier: BSD-3-Clause */
/* Cutting accesses at the borders of file domains. */
#include "access/domain.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

typedef struct cutter {
    const file_domains *domains;
    size_t near;  /* index of the last range */
    size_t *slot; /* slot[j]: 1 + index of domain j's share; 0: none yet */
    domain_share *share;
    size_t count, capacity;
} cutter;

static access_list *share_of(cutter *cut, size_t domain)
{
    if (cut->slot[domain] == 0) {
        if (base_reserve(&cut->share, &cut->capacity, cut->count + 1, sizeof *cut->share) != 0)
            return NULL;
        cut->share[cut->count] = (domain_share){.domain = domain};
        cut->slot[domain] = ++cut->count;
    }
    return &cut->share[cut->slot[domain] - 1].list;
}

/* Appends the part of *rest in `range` to the share of that domain: all whole blocks at once, or
 * the head of a block that the border cuts. *rest becomes the remainder, with count 0 when it is
 * empty. */
static int cut_at_range(cutter *cut, const domain_range *range, access_run *rest)
{
    access_run part = *rest;
    access_list *list = share_of(cut, range->domain);
    if (list == NULL)
        return -ENOMEM;
    int64_t space = range->hi - rest->offset - rest->length;
    if (space >= 0) {
        if (rest->count > 1 && space / rest->stride + 1 < rest->count)
            part.count = space / rest->stride + 1;
        rest->count -= part.count;
        if (rest->count > 0) {
            rest->offset += part.count * part.stride;
            rest->stream += part.count * part.length;
        }
    } else {
        part.count = 1;
        part.length = range->hi - rest->offset;
    }
    if (part.count == 1)
        part.stride = 0;
    part.offset = range->position + (part.offset - range->lo);
    return access_append_run(list, &part);
}

/* Cuts a run, range by range. A block that a border cuts is completed before the next blocks. */
static int cut_run(cutter *cut, const access_run *run)
{
    access_run rest = *run;
    while (rest.count > 0) {
        domain_range at = domains_range_at(cut->domains, rest.offset, &cut->near);
        int whole = rest.length <= at.hi - rest.offset, rc;
        if (whole) {
            rc = cut_at_range(cut, &at, &rest);
        } else {
            access_run block = {rest.offset, rest.length, 0, 1, rest.stream};
            while ((rc = cut_at_range(cut, &at, &block)) == 0 && block.count > 0) {
                int64_t done = at.hi - block.offset;
                block.offset += done;
                block.stream += done;
                block.length -= done;
                at = domains_range_at(cut->domains, block.offset, &cut->near);
            }
            if (--rest.count > 0) {
                rest.offset += rest.stride;
                rest.stream += rest.length;
            }
        }
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int compare_domains(const void *a, const void *b)
{
    const domain_share *x = a, *y = b;
    return (x->domain > y->domain) - (x->domain < y->domain);
}

static int lies_inside(const file_domains *domains, const access_list *list)
{
    return list->count == 0 ||
           (access_lower(list) >= domains->lo && access_upper(list) <= domains->hi);
}

int domains_cut(const file_domains *domains, const access_list *list, domain_share **shares,
                size_t *count)
{
    cutter cut = {.domains = domains};
    int rc = 0;

    if (!lies_inside(domains, list))
        return -EINVAL;
    cut.slot = calloc(domains->count + 1, sizeof *cut.slot);
    if (cut.slot == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < list->count && rc == 0; i++)
        rc = cut_run(&cut, &list->run[i]);
    free(cut.slot);
    if (rc != 0) {
        domains_free_shares(cut.share, cut.count);
        return rc;
    }
    if (cut.count > 1)
        qsort(cut.share, cut.count, sizeof *cut.share, compare_domains);
    *shares = cut.share;
    *count = cut.count;
    return 0;
}

void domains_free_shares(domain_share *shares, size_t count)
{
    for (size_t i = 0; i < count; i++)
        access_release(&shares[i].list);
    free(shares);
}
