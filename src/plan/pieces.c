/* SPDX-License-Identifier: BSD-3-Clause */
/* The units of fitted file domains. */
#include "plan/pieces.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

void pieces_release(pieces *p)
{
    free(p->domain);
    *p = (pieces){0};
}

/* Where the unit that holds the first byte begins. */
static int64_t first_border(const pieces *p)
{
    return p->base + (p->lo - p->base) / p->unit * p->unit;
}

/* Bytes; without stripes. */
#define DEFAULT_UNIT (64 << 10)
#define MOST_UNITS (1 << 20)

static int64_t unit_of(int64_t stripe, int64_t from, int64_t to)
{
    int64_t unit = stripe > 0 ? stripe : DEFAULT_UNIT;
    while ((to - 1) / unit - from / unit >= MOST_UNITS)
        unit *= 2;
    return unit;
}

pieces pieces_of(const division_settings *settings, size_t domains, int64_t lo, int64_t hi)
{
    if (division_is_striped(settings)) {
        size_t targets = (size_t)settings->targets;
        return (pieces){.lo = lo,
                        .hi = hi,
                        .columns = true,
                        .unit = settings->stripe,
                        .count = domains > targets ? domains : targets};
    }
    pieces p = {.lo = lo, .hi = hi, .base = settings->stripe > 0 ? 0 : lo};
    p.unit = unit_of(settings->stripe, lo - p.base, hi - p.base);
    p.count = (size_t)units_to(first_border(&p), hi, p.unit);
    return p;
}

int pieces_divide(const pieces *p, const division_settings *settings, size_t domains,
                  division *result)
{
    const domain_units units = {p->lo, p->hi, p->base, p->unit};
    if (p->columns) {
        result->period = p->unit;
        return domains_striped(&result->domains, &units, p->domain, p->count, domains);
    }
    result->period = settings->stripe > 0 ? p->unit : 1;
    return domains_from_units(&result->domains, &units, p->domain, domains);
}

/* ---- bytes ---- */

/* Adds units that are stripes up to columns of stripes. */
static int fold_into_columns(const pieces *p, unit_counts *counts)
{
    int64_t first = p->lo / p->unit, columns = (int64_t)p->count;
    int64_t *bytes = calloc(p->count, sizeof *bytes);
    if (bytes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < counts->count; i++) {
        const unit_step *step = &counts->step[i];
        for (int64_t u = 0; u < step->count; u++)
            bytes[(first + step->first + u) % columns] += step->bytes;
    }
    unit_counts folded;
    int rc = units_from_array(bytes, p->count, &folded);
    free(bytes);
    if (rc == 0) {
        free(counts->step);
        *counts = folded;
    }
    return rc;
}

int pieces_count(const pieces *p, const access_list *list, unit_counts *counts)
{
    unit_counts made;
    int rc = units_count(list, first_border(p), p->unit, &made);
    if (rc != 0)
        return rc;
    if (p->columns)
        rc = fold_into_columns(p, &made);
    if (rc == 0)
        *counts = made;
    else
        free(made.step);
    return rc;
}

/* Nodes of a unit; entries of a node that do no harm. */
enum { MANY_NODES = 32, FEW_ENTRIES = 128 };

size_t pieces_most_of_node(const pieces *p, size_t nodes)
{
    if (nodes <= MANY_NODES)
        return p->count;
    size_t most = MANY_NODES * p->count / nodes;
    return most > FEW_ENTRIES ? most : FEW_ENTRIES;
}

int pieces_add_bytes(pieces_bytes *all, size_t node, const unit_step *step, size_t steps)
{
    size_t end = all->count;
    for (size_t i = 0; i < steps && !all->too_many; i++) {
        all->too_many = (uint64_t)step[i].count > PIECES_MOST_ENTRIES - end; /* -1, too */
        end += all->too_many ? 0 : (size_t)step[i].count;
    }
    if (all->too_many)
        return 0;
    int rc = base_reserve(&all->entry, &all->capacity, end, sizeof *all->entry);
    for (size_t i = 0; i < steps && rc == 0; i++) {
        for (int64_t u = 0; u < step[i].count; u++)
            all->entry[all->count++] =
                (matrix_entry){(size_t)(step[i].first + u), node, step[i].bytes};
    }
    return rc;
}

/* ---- broadcast ---- */

enum { DOMAIN_BITS = 32 };

int64_t pieces_put_run(const pieces *p, size_t first)
{
    size_t end = first + 1;
    while (end < p->count && p->domain[end] == p->domain[first])
        end++;
    assert(end - first <= INT32_MAX && p->domain[first] <= UINT32_MAX);
    return (int64_t)((end - first) << DOMAIN_BITS | p->domain[first]);
}

pieces_run pieces_take_run(const pieces *p, size_t first, int64_t element, size_t domains)
{
    pieces_run run = {first, (size_t)element >> DOMAIN_BITS, (uint32_t)element};
    if (run.domain >= domains || run.count > p->count - first)
        run.count = 0;
    return run;
}

int pieces_begin(const pieces *p, const division_settings *settings, size_t domains,
                 division *result)
{
    result->period = settings->stripe > 0 ? p->unit : 1;
    return domains_begin(&result->domains, &(domain_units){p->lo, p->hi, p->base, p->unit},
                         domains);
}

void pieces_bounds(const pieces *p, const pieces_run *run, int64_t *lo, int64_t *hi)
{
    int64_t first = first_border(p);
    size_t end = run->first + run->count;
    *lo = run->first > 0 ? first + (int64_t)run->first * p->unit : p->lo;
    *hi = end < p->count ? first + (int64_t)end * p->unit : p->hi;
}
