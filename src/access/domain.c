/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitions of the accessed range into file domains; file offsets from and to positions. */
#include "access/domain.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

void domains_release(file_domains *domains)
{
    free(domains->size);
    free(domains->column);
    free(domains->skipped);
    free(domains->range);
    free(domains->first);
    free(domains->by_domain);
    memset(domains, 0, sizeof *domains);
}

static size_t domain_of(const file_domains *domains, size_t item)
{
    return domains->stripe > 0 ? domains->column[item].domain : domains->range[item].domain;
}

/* The index by domain of the ranges or columns. */
static int index_items(file_domains *domains, size_t items)
{
    int rc = 0;
    size_t *first = domains->first = base_zeroed(domains->count + 1, sizeof *first, &rc);
    domains->by_domain = base_zeroed(items, sizeof *domains->by_domain, &rc);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < items; i++)
        first[domain_of(domains, i)]++;
    for (size_t j = 0; j < domains->count; j++)
        first[j + 1] += first[j];
    for (size_t i = items; i-- > 0;)
        domains->by_domain[--first[domain_of(domains, i)]] = i;
    return 0;
}

/* ---- tables ---- */

int domains_begin(file_domains *domains, const domain_units *units, size_t count)
{
    int64_t lo = units->lo, hi = units->hi, base = units->base;
    int rc = 0;
    if (base < 0 || base > lo || lo > hi || count == 0 || count > INT64_MAX || units->unit < 1)
        return -EINVAL;
    file_domains result = {.lo = lo, .hi = hi, .head = (lo - base) % units->unit, .count = count};
    result.size = base_zeroed(count, sizeof *result.size, &rc);
    if (rc == 0)
        *domains = result;
    return rc;
}

int domains_append(file_domains *domains, int64_t lo, int64_t hi, size_t domain, bool stored)
{
    int64_t *size = &domains->size[domain];
    domain_range *last = domains->ranges > 0 ? &domains->range[domains->ranges - 1] : NULL;
    int rc = 0;
    assert(lo < hi && domain < domains->count && (last == NULL || last->hi <= lo));
    if (lo == domains->lo)
        *size = domains->head;
    if (stored && last != NULL && last->domain == domain && last->hi == lo) {
        last->hi = hi;
    } else if (stored) {
        rc = base_reserve(&domains->range, &domains->capacity, domains->ranges + 1, sizeof *last);
        if (rc == 0)
            domains->range[domains->ranges++] = (domain_range){lo, hi, *size, domain};
    }
    *size += hi - lo;
    return rc;
}

void domains_keep(file_domains *domains, size_t j)
{
    size_t kept = 0;
    if (domains->stripe > 0)
        return;
    for (size_t r = 0; r < domains->ranges; r++)
        if (domains->range[r].domain == j)
            domains->range[kept++] = domains->range[r];
    domains->ranges = kept;
    free(domains->first);
    free(domains->by_domain);
    domains->first = domains->by_domain = NULL;
    if (kept == 0) {
        free(domains->range);
        domains->range = NULL;
        domains->capacity = 0;
    } else if (kept < domains->capacity) {
        domain_range *range = realloc(domains->range, kept * sizeof *range);
        domains->range = range != NULL ? range : domains->range;
        domains->capacity = range != NULL ? kept : domains->capacity;
    }
}

/* rc: of the appended ranges. */
static int finish_table(file_domains *made, int rc, file_domains *domains)
{
    if (rc == 0)
        rc = index_items(made, made->ranges);
    if (rc == 0)
        *domains = *made;
    else
        domains_release(made);
    return rc;
}

/* The end of the first j of `count` even domains of [base, hi) in units of `align` bytes, the
 * longer domains first. */
static int64_t even_border(int64_t base, int64_t hi, int64_t j, int64_t count, int64_t align)
{
    int64_t units = (hi - base) / align + ((hi - base) % align != 0), rest = units % count;
    int64_t before = units / count * j + (j < rest ? j : rest);
    return before == units ? hi : base + before * align;
}

int64_t domains_alignment(int64_t bytes, size_t count, int64_t stripe)
{
    if (stripe > 0)
        return stripe;
    return bytes / DOMAIN_WORTHWHILE >= (int64_t)count ? PAGE : 1;
}

int domains_even(file_domains *domains, int64_t lo, int64_t hi, size_t count, int64_t align)
{
    file_domains made;
    int rc = domains_begin(&made, &(domain_units){lo, hi, 0, align}, count);
    if (rc != 0)
        return rc;
    int64_t begin = lo;
    for (size_t j = 0; j < count && begin < hi && rc == 0; j++) {
        int64_t end = even_border(lo - made.head, hi, (int64_t)j + 1, (int64_t)count, align);
        rc = domains_append(&made, begin, end, j, true);
        begin = end;
    }
    return finish_table(&made, rc, domains);
}

int domains_from_units(file_domains *domains, const domain_units *units, const size_t *of,
                       size_t count)
{
    file_domains made;
    int rc = domains_begin(&made, units, count);
    if (rc != 0)
        return rc;
    int64_t at = units->lo - made.head, hi = units->hi;
    int64_t begin = units->lo;
    for (size_t u = 0; begin < hi && rc == 0; u++) {
        int64_t end = hi - at > units->unit ? at + units->unit : hi;
        size_t domain = of != NULL ? of[u] : u;
        rc = domain < count ? domains_append(&made, begin, end, domain, true) : -EINVAL;
        at = begin = end;
    }
    return finish_table(&made, rc, domains);
}

/* ---- striped domains ---- */

/* Counts the adjacent columns of one domain; the first column follows the last one. */
static void find_neighbours(file_domains *domains)
{
    size_t columns = domains->columns;
    int64_t others = (int64_t)columns - 1;
    domain_column *column = domains->column;
    for (size_t i = 1; i < 2 * columns; i++) {
        domain_column *left = &column[(i - 1) % columns], *here = &column[i % columns];
        if (here->domain == left->domain)
            here->before = left->before < others ? left->before + 1 : others;
    }
    for (size_t i = 2 * columns - 1; i > 0; i--) {
        domain_column *here = &column[(i - 1) % columns], *right = &column[i % columns];
        if (here->domain == right->domain)
            here->after = right->after < others ? right->after + 1 : others;
    }
}

static size_t columns_of(const file_domains *domains, size_t j)
{
    return domains->first[j + 1] - domains->first[j];
}

/* Stripes below number `stripe` that belong to domain j. */
static int64_t stripes_below(const file_domains *domains, size_t j, int64_t stripe)
{
    int64_t columns = (int64_t)domains->columns;
    size_t low = domains->first[j], high = domains->first[j + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((int64_t)domains->by_domain[middle] < stripe % columns)
            low = middle + 1;
        else
            high = middle;
    }
    return stripe / columns * (int64_t)columns_of(domains, j) + (int64_t)(low - domains->first[j]);
}

/* The number in the file of stripe `k` of domain j, skipped ones included. */
static int64_t stripe_of_domain(const file_domains *domains, size_t j, int64_t k)
{
    int64_t of_domain = (int64_t)columns_of(domains, j);
    size_t column = domains->by_domain[domains->first[j] + (size_t)(k % of_domain)];
    return k / of_domain * (int64_t)domains->columns + (int64_t)column;
}

/* One past the last position of domain j, or 0 when it has no stripe. */
static int64_t striped_size(const file_domains *domains, size_t j)
{
    int64_t stripe = domains->stripe;
    if (domains->lo == domains->hi)
        return 0;
    int64_t end = stripes_below(domains, j, (domains->hi - 1) / stripe + 1);
    int64_t stripes = end - domains->skipped[j];
    if (stripes == 0)
        return 0;
    int64_t rest = domains->hi - stripe_of_domain(domains, j, end - 1) * stripe;
    return (stripes - 1) * stripe + (rest < stripe ? rest : stripe);
}

int domains_striped(file_domains *domains, const domain_units *stripes, const size_t *of,
                    size_t columns, size_t count)
{
    int64_t lo = stripes->lo, hi = stripes->hi, stripe = stripes->unit;
    if (of == NULL)
        columns = count;
    if (lo < 0 || lo > hi || count == 0 || columns == 0 || stripe < 1)
        return -EINVAL;
    for (size_t c = 0; of != NULL && c < columns; c++)
        if (of[c] >= count)
            return -EINVAL;
    file_domains result = {
        .lo = lo, .hi = hi, .stripe = stripe, .count = count, .columns = columns};
    int rc = 0;
    result.size = base_zeroed(count, sizeof *result.size, &rc);
    result.skipped = base_zeroed(count, sizeof *result.skipped, &rc);
    result.column = base_zeroed(columns, sizeof *result.column, &rc);
    for (size_t c = 0; c < columns && rc == 0; c++)
        result.column[c].domain = of != NULL ? of[c] : c;
    if (rc == 0)
        rc = index_items(&result, columns);
    if (rc != 0) {
        domains_release(&result);
        return rc;
    }
    find_neighbours(&result);
    for (size_t j = 0; j < count; j++) {
        result.skipped[j] = stripes_below(&result, j, lo / stripe);
        result.size[j] = striped_size(&result, j);
    }
    *domains = result;
    return 0;
}

static const domain_column *column_of(const file_domains *domains, int64_t stripe)
{
    return &domains->column[stripe % (int64_t)domains->columns];
}

/* All stripes form one range if there is only one domain. */
static int64_t striped_begin(const file_domains *domains, int64_t at)
{
    const domain_column *column = column_of(domains, at);
    bool whole = column->before + 1 == (int64_t)domains->columns;
    int64_t first = domains->lo / domains->stripe;
    if (whole || at - column->before <= first)
        return domains->lo;
    return (at - column->before) * domains->stripe;
}

static int64_t striped_end(const file_domains *domains, int64_t at)
{
    const domain_column *column = column_of(domains, at);
    bool whole = column->after + 1 == (int64_t)domains->columns;
    int64_t last = (domains->hi - 1) / domains->stripe;
    if (whole || at + column->after >= last)
        return domains->hi;
    return (at + column->after + 1) * domains->stripe;
}

static domain_range striped_range(const file_domains *domains, int64_t offset)
{
    int64_t stripe = domains->stripe, at = offset / stripe;
    size_t j = column_of(domains, at)->domain;
    domain_range range = {striped_begin(domains, at), striped_end(domains, at), 0, j};
    int64_t before = stripes_below(domains, j, at) - domains->skipped[j];
    range.position = before * stripe + offset % stripe - (offset - range.lo);
    return range;
}

static int64_t striped_to_file(const file_domains *domains, size_t j, int64_t position)
{
    int64_t stripe = domains->stripe, k = domains->skipped[j] + position / stripe;
    return stripe_of_domain(domains, j, k) * stripe + position % stripe;
}

/* ---- between file and domain ---- */

/* The range of the table that contains file offset `offset`, from range `from` on by galloping:
 * accesses ascend, so that the next range is usually near. */
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

/* Ranges of the table are counted by position. */
static const domain_range *range_of_domain(const file_domains *domains, size_t i)
{
    return &domains->range[domains->by_domain != NULL ? domains->by_domain[i] : i];
}

/* The range of the table that contains position `position` of domain j. */
static const domain_range *range_of_position(const file_domains *domains, size_t j,
                                             int64_t position)
{
    bool indexed = domains->by_domain != NULL;
    size_t low = indexed ? domains->first[j] : 0;
    size_t high = indexed ? domains->first[j + 1] : domains->ranges;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (range_of_domain(domains, middle)->position <= position)
            low = middle;
        else
            high = middle;
    }
    return range_of_domain(domains, low);
}

int64_t domains_position_to_file(const file_domains *domains, size_t j, int64_t position,
                                 int64_t *contiguous)
{
    if (domains->stripe > 0) {
        int64_t striped = striped_to_file(domains, j, position);
        *contiguous = striped_end(domains, striped / domains->stripe) - striped;
        return striped;
    }
    const domain_range *range = range_of_position(domains, j, position);
    int64_t offset = range->lo + (position - range->position);
    *contiguous = range->hi - offset;
    return offset;
}
