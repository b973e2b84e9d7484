/* SPDX-License-Identifier: BSD-3-Clause */
/* Cutting accesses at the borders of file domains. */
#include "access/cut.h"
#include "access/cursor.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

static access_list *share_of(domain_cutter *cut, size_t domain)
{
    if (cut->slot[domain] == 0) {
        if (base_reserve(&cut->share, &cut->capacity, cut->count + 1, sizeof *cut->share) != 0)
            return NULL;
        cut->share[cut->count] = (domain_share){.domain = domain};
        cut->slot[domain] = ++cut->count;
    }
    return &cut->share[cut->slot[domain] - 1].list;
}

/* A wide share has whole stripes, in place. */
static domain_range range_at(domain_cutter *cut, int64_t offset)
{
    domain_range range = domains_range_at(cut->domains, offset, &cut->near);
    if (cut->is_wide) {
        range.lo = range.position = offset - offset % cut->domains->stripe;
        range.hi = range.lo + cut->domains->stripe;
    }
    return range;
}

/* Appends a part that lies in the range to the share of its domain; a wide one also to that of the
 * next stripe's. */
static int cutter_append(domain_cutter *cut, const domain_range *range, access_run part)
{
    part.offset = range->position + (part.offset - range->lo);
    if (cut->part != NULL)
        return range->domain == cut->domain ? access_append_run(cut->part, &part) : 0;
    access_list *list = share_of(cut, range->domain);
    size_t next = range->domain;
    int rc = list != NULL ? access_append_run(list, &part) : -ENOMEM;
    if (cut->is_wide)
        next = domains_range_at(cut->domains, range->hi, &cut->near).domain;
    if (rc != 0 || next == range->domain)
        return rc;
    list = share_of(cut, next);
    if (list == NULL)
        return -ENOMEM;
    cut->share[cut->slot[next] - 1].margin += part.length * part.count;
    return access_append_run(list, &part);
}

static void skip_blocks(access_run *run, int64_t count)
{
    run->count -= count;
    if (run->count > 0) {
        run->offset += count * run->stride;
        run->stream += count * run->length;
    }
}

/* What begins in the range that holds the first byte of the run. A block that its end cuts comes
 * before the blocks behind it. */
static int cut_first(domain_cutter *cut, access_run *run)
{
    domain_range at = range_at(cut, run->offset);
    access_cursor begin = {.run = run, .end = run + 1};
    access_run part = *run;
    part.count = access_whole_blocks(&begin, at.hi);
    if (part.count > 0) {
        skip_blocks(run, part.count);
        return cutter_append(cut, &at, part);
    }
    part.count = 1;
    if (run->count > 1) {
        skip_blocks(run, 1);
        cut->block = part;
        return 0;
    }
    part.length = at.hi - part.offset;
    part.stride = 0;
    run->offset += part.length;
    run->stream += part.length;
    run->length -= part.length;
    return cutter_append(cut, &at, part);
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

int domains_cut_begin(domain_cutter *cut, const file_domains *domains, const access_list *list)
{
    if (!lies_inside(domains, list))
        return -EINVAL;
    *cut = (domain_cutter){.domains = domains, .list = list};
    cut->slot = calloc(domains->count + 1, sizeof *cut->slot);
    return cut->slot == NULL ? -ENOMEM : 0;
}

int domains_cut_more(domain_cutter *cut)
{
    const file_domains *domains = cut->domains;
    bool is_table = domains->stripe == 0;
    int64_t end =
        is_table && domains->ranges > 0 ? domains->range[domains->ranges - 1].hi : domains->hi;
    int rc = 0;
    cut->near = 0;
    while (rc == 0) {
        access_run *run = cut->block.count > 0 ? &cut->block : &cut->rest;
        if (run->count > 0 && run->offset >= end)
            break;
        if (run->count == 0 && cut->next == cut->list->count)
            break;
        if (run->count == 0) {
            cut->rest = cut->list->run[cut->next++];
            cut->rest.offset += cut->distance;
        } else {
            rc = cut_first(cut, run);
        }
    }
    return rc;
}

int domains_cut_end(domain_cutter *cut, int rc, domain_share **shares, size_t *count)
{
    free(cut->slot);
    if (rc != 0) {
        domains_free_shares(cut->share, cut->count);
        return rc;
    }
    if (cut->count > 1)
        qsort(cut->share, cut->count, sizeof *cut->share, compare_domains);
    *shares = cut->share;
    *count = cut->count;
    return 0;
}

int domains_cut(const file_domains *domains, const access_list *list, bool is_wide,
                domain_share **shares, size_t *count)
{
    domain_cutter cut;
    int rc = domains_cut_begin(&cut, domains, list);
    cut.is_wide = is_wide;
    if (rc == 0)
        rc = domains_cut_end(&cut, domains_cut_more(&cut), shares, count);
    return rc;
}

int domains_cut_part(const file_domains *domains, const access_list *list, int64_t distance,
                     size_t domain, access_list *part)
{
    domain_cutter cut = {domains, list, .distance = distance, .part = part, .domain = domain};
    access_clear(part);
    return domains_cut_more(&cut);
}

void domains_free_shares(domain_share *shares, size_t count)
{
    for (size_t i = 0; i < count; i++)
        access_release(&shares[i].list);
    free(shares);
}
