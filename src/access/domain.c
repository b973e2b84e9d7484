/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting the accessed range into file domains, and the way between file and domain. */
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

static int allocate(file_domains *domains, int64_t lo, int64_t hi, size_t count, size_t ranges)
{
    *domains = (file_domains){.lo = lo, .hi = hi};
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

/* Positions, sizes and the index by domain, from the lo, hi and domain of each range; size[j] is
 * the position at which domain j begins. */
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

/* The end of the first j of `count` domains of [base, hi): units of `align` bytes as evenly as they
 * go, the longer domains first. */
static int64_t even_border(int64_t base, int64_t hi, int64_t j, int64_t count, int64_t align)
{
    int64_t units = (hi - base) / align + ((hi - base) % align != 0), rest = units % count;
    int64_t before = units / count * j + (j < rest ? j : rest);
    return before == units ? hi : base + before * align;
}

int domains_even(file_domains *domains, int64_t lo, int64_t hi, size_t count, int64_t align)
{
    if (lo < 0 || lo > hi || count == 0 || count > INT64_MAX || align < 1)
        return -EINVAL;
    file_domains result;
    int rc = allocate(&result, lo, hi, count, count);
    if (rc != 0)
        return rc;
    int64_t base = round_down(lo, align), begin = lo;
    for (size_t j = 0; j < count; j++) {
        int64_t end = even_border(base, hi, (int64_t)j + 1, (int64_t)count, align);
        result.range[j] = (domain_range){begin, end, 0, j};
        begin = end;
    }
    result.size[0] = hi > lo ? lo - base : 0;
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
        rc = allocate(&result, lo, hi, count, ranges);
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

/* ---- striped domains: domain j has the stripes s of the file with s % count == j ---- */

/* Stripes from the one that holds `lo` to the first of domain j. */
static int64_t stripes_before(const file_domains *domains, size_t j)
{
    int64_t count = (int64_t)domains->count, from = domains->lo / domains->stripe % count;
    return (int64_t)j >= from ? (int64_t)j - from : (int64_t)j - from + count;
}

/* One past the last position of domain j, or 0 when it has no stripe. */
static int64_t striped_size(const file_domains *domains, size_t j)
{
    int64_t stripe = domains->stripe, before = stripes_before(domains, j);
    if (domains->lo == domains->hi)
        return 0;
    int64_t first = domains->lo / stripe, last = (domains->hi - 1) / stripe;
    if (last - first < before)
        return 0;
    int64_t rows = (last - first - before) / (int64_t)domains->count;
    int64_t begin = (first + before + rows * (int64_t)domains->count) * stripe;
    int64_t rest = domains->hi - begin;
    return rows * stripe + (rest < stripe ? rest : stripe);
}

int domains_striped(file_domains *domains, int64_t lo, int64_t hi, int64_t stripe, size_t count)
{
    if (lo < 0 || lo > hi || count == 0 || count > INT64_MAX || stripe < 1)
        return -EINVAL;
    file_domains result = {.count = count, .lo = lo, .hi = hi, .stripe = stripe};
    result.size = calloc(count, sizeof *result.size);
    if (result.size == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < count; j++)
        result.size[j] = striped_size(&result, j);
    *domains = result;
    return 0;
}

/* The end of the range of a striped domain that holds `offset`: all is one when there is no other
 * domain. */
static int64_t striped_end(const file_domains *domains, int64_t offset)
{
    int64_t begin = round_down(offset, domains->stripe);
    return domains->count > 1 && domains->hi - begin > domains->stripe ? begin + domains->stripe
                                                                       : domains->hi;
}

static domain_range striped_range(const file_domains *domains, int64_t offset)
{
    int64_t stripe = domains->stripe, count = (int64_t)domains->count;
    int64_t first = domains->lo / stripe, at = offset / stripe;
    int64_t begin = domains->count > 1 ? at * stripe : domains->lo;
    domain_range range = {begin > domains->lo ? begin : domains->lo, striped_end(domains, offset),
                          0, (size_t)(at % count)};
    range.position = (at - first) / count * stripe + offset % stripe - (offset - range.lo);
    return range;
}

static int64_t striped_to_file(const file_domains *domains, size_t j, int64_t position)
{
    int64_t stripe = domains->stripe, row = position / stripe;
    int64_t at = domains->lo / stripe + stripes_before(domains, j) + row * (int64_t)domains->count;
    return at * stripe + position % stripe;
}

/* ---- between file and domain ---- */

/* The range of the table that holds file offset `offset`, from `from` on by doubling steps:
 * accesses ascend, so that the next range is mostly near. */
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

domain_range domains_range_at(const file_domains *domains, int64_t offset, size_t *near)
{
    if (domains->stripe > 0)
        return striped_range(domains, offset);
    *near = find_range(domains, *near, offset);
    return domains->range[*near];
}

/* The range of the table that holds position `position` of domain j. */
static const domain_range *range_of_position(const file_domains *domains, size_t j,
                                             int64_t position)
{
    size_t low = domains->first[j], high = domains->first[j + 1];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (domains->range[domains->by_domain[middle]].position <= position)
            low = middle;
        else
            high = middle;
    }
    return &domains->range[domains->by_domain[low]];
}

int64_t domains_position_to_file(const file_domains *domains, size_t j, int64_t position,
                                 int64_t *contiguous)
{
    if (domains->stripe > 0) {
        int64_t striped = striped_to_file(domains, j, position);
        *contiguous = striped_end(domains, striped) - striped;
        return striped;
    }
    const domain_range *range = range_of_position(domains, j, position);
    int64_t offset = range->lo + (position - range->position);
    *contiguous = range->hi - offset;
    return offset;
}
