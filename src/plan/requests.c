/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- a message ---- */

/* Parts of a message; either in it, or to be released. */
typedef struct request_parts {
    int64_t *row;
    size_t row_count;
    unit_counts units;
} request_parts;

static void release_parts(request_parts *parts)
{
    free(parts->row);
    free(parts->units.step);
}

static void copy_elements(int64_t *to, const void *from, size_t count)
{
    if (count > 0)
        memcpy(to, from, count * sizeof *to);
}

static int join_parts(const request_parts *parts, int64_t **element, size_t *count)
{
    size_t steps = parts->units.count * UNIT_STEP_ELEMENTS, all = 1 + parts->row_count + steps;
    *count = 0;
    *element = NULL;
    if (all == 1)
        return 0;
    int64_t *made = base_alloc(all, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    made[0] = (int64_t)parts->row_count;
    copy_elements(made + 1, parts->row, parts->row_count);
    copy_elements(made + 1 + parts->row_count, parts->units.step, steps);
    *element = made;
    *count = all;
    return 0;
}

/* The message keeps the memory of the parts, which are only read. */
static int view_parts(const int64_t *element, size_t count, request_parts *parts)
{
    if (count == 0 || element[0] < 0 || (uint64_t)element[0] >= count)
        return -EINVAL;
    int64_t *row = (int64_t *)(uintptr_t)(element + 1);
    size_t row_count = (size_t)element[0], rest = count - 1 - row_count;
    *parts = (request_parts){
        .row = row,
        .row_count = row_count,
        .units = {.step = (unit_step *)(row + row_count), .count = rest / UNIT_STEP_ELEMENTS},
    };
    return rest % UNIT_STEP_ELEMENTS == 0 ? 0 : -EINVAL;
}

int requests_describe(const domain_share *share, size_t shares, const pieces *units,
                      const access_list *accesses, int64_t **element, size_t *count)
{
    request_parts parts = {0};
    int rc = rows_from_shares(share, shares, &parts.row, &parts.row_count);
    if (rc == 0 && units != NULL)
        rc = pieces_count(units, accesses, &parts.units);
    if (rc == 0)
        rc = join_parts(&parts, element, count);
    release_parts(&parts);
    return rc;
}

/* ---- sums ---- */

static int add_units(request_sums *sums, const unit_counts *units)
{
    if (sums->unit_bytes == NULL)
        sums->unit_bytes = calloc(sums->units, sizeof *sums->unit_bytes);
    if (sums->unit_bytes == NULL)
        return -ENOMEM;
    return units_add(units->step, units->count, sums->unit_bytes, sums->units);
}

int requests_add_rank(void *context, int rank, const int64_t *element, size_t count)
{
    request_sums *sums = context;
    request_parts from;
    if (count == 0)
        return 0;
    int rc = view_parts(element, count, &from);
    if (rc == 0)
        rc = rows_node_add(&sums->node, rank, from.row, from.row_count);
    return rc == 0 && from.units.count > 0 ? add_units(sums, &from.units) : rc;
}

/* Of a node that accesses too many: that. */
static void limit_units(unit_counts *units, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < units->count; i++)
        count += (size_t)units->step[i].count;
    if (count > most) {
        units->step[0] = (unit_step){.count = -1};
        units->count = 1;
    }
}

int requests_sum_node(void *context, int64_t **element, size_t *count)
{
    request_sums *sums = context;
    request_parts parts = {0};
    int rc = rows_node_sum(&sums->node, &parts.row, &parts.row_count);
    if (rc == 0 && sums->unit_bytes != NULL)
        rc = units_from_array(sums->unit_bytes, sums->units, &parts.units);
    limit_units(&parts.units, sums->most_units);
    if (rc == 0)
        rc = join_parts(&parts, element, count);
    release_parts(&parts);
    return rc;
}

int requests_add_node(void *context, int leader, const int64_t *element, size_t count)
{
    request_sums *sums = context;
    request_parts from;
    size_t node = sums->node_of_rank[leader];
    int rc = view_parts(element, count, &from);
    if (rc == 0)
        rc = rows_builder_add(&sums->all, node, from.row, from.row_count);
    if (rc == 0 && from.units.count > 0)
        rc = pieces_add_bytes(sums->all_units, node, from.units.step, from.units.count);
    return rc;
}

void requests_release(request_sums *sums)
{
    free(sums->unit_bytes);
    rows_node_release(&sums->node);
    rows_builder_release(&sums->all);
}
