/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting the accessed range into file domains, and cutting accesses at their borders. */
#include "access/domain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void domains_release(file_domains *domains)
{
    free(domains->size);
    free(domains->range);
    free(domains->first);
    free(domains->by_domain);
    memset(domains, 0, sizeof *domains);
}

static int allocate(file_domains *domains, size_t count, size_t ranges)
{
    memset(domains, 0, sizeof *domains);
    domains->size = calloc(count, sizeof *domains->size);
    domains->range = calloc(ranges + 1, sizeof *domains->range);
    domains->first = calloc(count + 1, sizeof *domains->first);
    domains->by_domain = calloc(ranges + 1, sizeof *domains->by_domain);
    if (domains->size == NULL || domains->range == NULL || domains->first == NULL ||
        domains->by_domain == NULL) {
        domains_release(domains);
        return -ENOMEM;
    }
    domains->count = count;
    domains->ranges = ranges;
    return 0;
}

/* Positions, sizes and the index by domain, from the lo, hi and domain of each range. */
static void index_ranges(file_domains *domains)
{
    for (size_t r = 0; r < domains->ranges; r++) {
        domain_range *range = &domains->range[r];
        range->position = domains->size[range->domain];
        domains->size[range->domain] += range->hi - range->lo;
        domains->first[range->domain + 1]++;
    }
    for (size_t j = 0; j < domains->count; j++)
        domains->first[j + 1] += domains->first[j];
    for (size_t r = domains->ranges; r-- > 0;)
        domains->by_domain[--domains->first[domains->range[r].domain + 1]] = r;
    /* the loop above turned each end into its begin: move them back in place */
    for (size_t j = 0; j < domains->count; j++)
        domains->first[j] = domains->first[j + 1];
    domains->first[domains->count] = domains->ranges;
}

static int64_t round_down(int64_t value, int64_t align)
{
    return value - value % align;
}

int domains_even(file_domains *domains, int64_t lo, int64_t hi, size_t count, int64_t align)
{
    if (lo < 0 || lo > hi || count == 0 || count > INT64_MAX || align < 1)
        return -EINVAL;
    file_domains result;
    int rc = allocate(&result, count, count);
    if (rc != 0)
        return rc;
    int64_t base = round_down(lo, align), n = (int64_t)count;
    int64_t step = (hi - base) / n + ((hi - base) % n != 0);
    if (step % align != 0 && __builtin_add_overflow(step, align - step % align, &step))
        step = hi - base;
    int64_t begin = lo;
    for (size_t j = 0; j < count; j++) {
        int64_t end;
        if (__builtin_mul_overflow(step, (int64_t)j + 1, &end) ||
            __builtin_add_overflow(base, end, &end) || end > hi)
            end = hi;
        if (end < begin)
            end = begin;
        result.range[j] = (domain_range){begin, end, 0, j};
        begin = end;
    }
    index_ranges(&result);
    *domains = result;
    return 0;
}

/* Ranges that the units make, and whether all their domains exist. */
static int count_ranges(const size_t *of, size_t units, size_t count, size_t *ranges)
{
    *ranges = 0;
    for (size_t u = 0; u < units; u++) {
        if (of[u] >= count)
            return -EINVAL;
        *ranges += u == 0 || of[u] != of[u - 1];
    }
    return 0;
}

int domains_from_units(file_domains *domains, int64_t lo, int64_t hi, int64_t unit,
                       const size_t *of, size_t count)
{
    file_domains result;
    size_t ranges;
    if (lo < 0 || lo > hi || count == 0 || unit < 1)
        return -EINVAL;
    size_t units = (size_t)((hi - lo) / unit + ((hi - lo) % unit != 0));
    int rc = count_ranges(of, units, count, &ranges);
    if (rc == 0)
        rc = allocate(&result, count, ranges);
    if (rc != 0)
        return rc;
    size_t r = 0;
    for (size_t u = 0; u < units; u++) {
        int64_t begin = lo + (int64_t)u * unit, end = hi - begin > unit ? begin + unit : hi;
        if (u == 0 || of[u] != of[u - 1])
            result.range[r++] = (domain_range){begin, end, 0, of[u]};
        result.range[r - 1].hi = end;
    }
    index_ranges(&result);
    *domains = result;
    return 0;
}

int64_t domains_position_to_file(const file_domains *domains, size_t j, int64_t position,
                                 int64_t *contiguous)
{
    size_t low = domains->first[j], high = domains->first[j + 1];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (domains->range[domains->by_domain[middle]].position <= position)
            low = middle;
        else
            high = middle;
    }
    const domain_range *range = &domains->range[domains->by_domain[low]];
    int64_t offset = range->lo + (position - range->position);
    *contiguous = range->hi - offset;
    return offset;
}

/* The range that holds file offset `offset`, from `from` on by doubling steps: accesses ascend,
 * so the next range is mostly near. */
static size_t find_range(const file_domains *domains, size_t from, int64_t offset)
{
    size_t low = from, step = 1, high;
    while (low + step < domains->ranges && domains->range[low + step].lo <= offset) {
        low += step;
        step *= 2;
    }
    high = low + step < domains->ranges ? low + step : domains->ranges;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (domains->range[middle].lo <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

typedef struct cutter {
    const file_domains *domains;
    size_t *slot; /* slot[j]: 1 + index of domain j's share, 0: none yet */
    domain_share *share;
    size_t count, capacity;
} cutter;

static access_list *share_of(cutter *cut, size_t domain)
{
    if (cut->slot[domain] == 0) {
        if (cut->count == cut->capacity) {
            size_t capacity = cut->capacity ? cut->capacity * 2 : 4;
            domain_share *grown = realloc(cut->share, capacity * sizeof *grown);
            if (grown == NULL)
                return NULL;
            cut->share = grown;
            cut->capacity = capacity;
        }
        memset(&cut->share[cut->count], 0, sizeof *cut->share);
        cut->share[cut->count].domain = domain;
        cut->slot[domain] = ++cut->count;
    }
    return &cut->share[cut->slot[domain] - 1].list;
}

/* As much of *rest as lies in `range` goes to that domain's share: whole blocks at once, or the
 * head of a block that the border cuts; *rest becomes what is left (count 0: nothing). */
static int cut_at_range(cutter *cut, const domain_range *range, access_run *rest)
{
    access_run part = *rest;
    access_list *list = share_of(cut, range->domain);
    if (list == NULL)
        return -ENOMEM;
    int64_t room = range->hi - rest->offset - rest->length;
    if (room >= 0) {
        if (rest->count > 1 && room / rest->stride + 1 < rest->count)
            part.count = room / rest->stride + 1;
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

/* One run, range by range. A block that a border cuts is finished before the blocks behind it. */
static int cut_run(cutter *cut, const access_run *run, size_t *range)
{
    access_run rest = *run;
    while (rest.count > 0) {
        *range = find_range(cut->domains, *range, rest.offset);
        const domain_range *at = &cut->domains->range[*range];
        int whole = rest.length <= at->hi - rest.offset, rc;
        if (whole) {
            rc = cut_at_range(cut, at, &rest);
        } else {
            access_run block = {rest.offset, rest.length, 0, 1, rest.stream};
            while ((rc = cut_at_range(cut, at, &block)) == 0 && block.count > 0) {
                int64_t done = at->hi - block.offset;
                block.offset += done;
                block.stream += done;
                block.length -= done;
                *range = find_range(cut->domains, *range, block.offset);
                at = &cut->domains->range[*range];
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

static int by_domain(const void *a, const void *b)
{
    const domain_share *x = a, *y = b;
    return (x->domain > y->domain) - (x->domain < y->domain);
}

static int lies_inside(const file_domains *domains, const access_list *list)
{
    return list->count == 0 ||
           (domains->ranges > 0 && access_lower(list) >= domains->range[0].lo &&
            access_upper(list) <= domains->range[domains->ranges - 1].hi);
}

int domains_cut(const file_domains *domains, const access_list *list,
                domain_share **shares, size_t *count)
{
    cutter cut = {domains, NULL, NULL, 0, 0};
    size_t range = 0;
    int rc = 0;

    if (!lies_inside(domains, list))
        return -EINVAL;
    cut.slot = calloc(domains->count + 1, sizeof *cut.slot);
    if (cut.slot == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < list->count && rc == 0; i++)
        rc = cut_run(&cut, &list->run[i], &range);
    free(cut.slot);
    if (rc != 0) {
        domains_free_shares(cut.share, cut.count);
        return rc;
    }
    if (cut.count > 1)
        qsort(cut.share, cut.count, sizeof *cut.share, by_domain);
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
