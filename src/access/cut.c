/* SPDX-License-Identifier: BSD-3-Clause */
/* Cutting accesses at the borders of file domains. */
#include "access/cursor.h"
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

/* Appends a part that lies in the range to the share of its domain. */
static int append_part(cutter *cut, const domain_range *range, access_run part)
{
    access_list *list = share_of(cut, range->domain);
    if (list == NULL)
        return -ENOMEM;
    part.offset = range->position + (part.offset - range->lo);
    return access_append_run(list, &part);
}

/* Cuts a run, range by range. A block that a border cuts is completed before the next blocks. */
static int cut_run(cutter *cut, access_run rest)
{
    int rc = 0;
    while (rest.count > 0 && rc == 0) {
        domain_range at = domains_range_at(cut->domains, rest.offset, &cut->near);
        access_cursor begin = {.run = &rest, .end = &rest + 1};
        access_run part = rest;
        part.count = access_whole_blocks(&begin, at.hi);
        if (part.count > 0) {
            rc = append_part(cut, &at, part);
        } else if (rest.count > 1) {
            part.count = 1;
            rc = cut_run(cut, part);
        } else {
            access_run head = {rest.offset, at.hi - rest.offset, 0, 1, rest.stream};
            rc = append_part(cut, &at, head);
            rest.offset += head.length;
            rest.stream += head.length;
            rest.length -= head.length;
        }
        rest.count -= part.count;
        if (rest.count > 0) {
            rest.offset += part.count * rest.stride;
            rest.stream += part.count * rest.length;
        }
    }
    return rc;
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
        rc = cut_run(&cut, list->run[i]);
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
