/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of bytes of an access in each unit of the file. */
#include "access/units.h"
#include "access/cursor.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

int64_t units_to(int64_t base, int64_t hi, int64_t unit)
{
    return hi > base ? (hi - base - 1) / unit + 1 : 0;
}

/* Appends a unit, to the last step if it continues that. */
static int append_unit(unit_counts *counts, int64_t unit, int64_t bytes)
{
    unit_step *last = counts->count > 0 ? &counts->step[counts->count - 1] : NULL;
    if (last != NULL && last->bytes == bytes && last->first + last->count == unit) {
        last->count++;
        return 0;
    }
    int rc = base_reserve(&counts->step, &counts->capacity, counts->count + 1, sizeof *last);
    if (rc == 0)
        counts->step[counts->count++] = (unit_step){unit, 1, bytes};
    return rc;
}

int units_count(const access_list *list, int64_t base, int64_t unit, unit_counts *counts)
{
    unit_counts result = {0};
    access_cursor cursor;
    int rc = 0;
    if (unit < 1 || (list->count > 0 && access_lower(list) < base))
        return -EINVAL;
    access_cursor_init(&cursor, list);
    for (int64_t next; rc == 0 && (next = access_next(&cursor)) != ACCESS_END;) {
        int64_t at = (next - base) / unit, end;
        if (__builtin_mul_overflow(at + 1, unit, &end) || __builtin_add_overflow(end, base, &end))
            end = ACCESS_END;
        rc = append_unit(&result, at, access_skip(&cursor, end));
    }
    if (rc != 0) {
        free(result.step);
        return rc;
    }
    *counts = result;
    return 0;
}

bool units_lie_within(const unit_step *step, size_t steps, size_t units)
{
    for (size_t i = 0; i < steps; i++)
        if (step[i].first < 0 || step[i].count < 1 || step[i].bytes < 1 ||
            (uint64_t)step[i].first > units ||
            (uint64_t)step[i].count > units - (uint64_t)step[i].first)
            return false;
    return true;
}

int units_add(const unit_step *step, size_t steps, int64_t *bytes, size_t units)
{
    if (!units_lie_within(step, steps, units))
        return -EINVAL;
    for (size_t i = 0; i < steps; i++)
        for (int64_t u = 0; u < step[i].count; u++)
            bytes[step[i].first + u] += step[i].bytes;
    return 0;
}

int units_from_array(const int64_t *bytes, size_t units, unit_counts *counts)
{
    unit_counts result = {0};
    for (size_t u = 0; u < units; u++) {
        if (bytes[u] != 0 && append_unit(&result, (int64_t)u, bytes[u]) != 0) {
            free(result.step);
            return -ENOMEM;
        }
    }
    *counts = result;
    return 0;
}
