/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/requests.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a message ---- */

/* rc: of what was done before. The first element is there for the number of those behind it; then
 * come the units, which are released. An empty message gets no element, nor does one that failed.
 */
static int finish_message(access_message *m, int rc, unit_counts *units, int64_t **element,
                          size_t *count)
{
    int64_t rows = (int64_t)m->count - 1;
    if (rc == 0)
        rc = access_message_append(m, (const int64_t *)units->step,
                                   units->count * UNIT_STEP_ELEMENTS);
    free(units->step);
    if (rc == 0 && m->count > 1) {
        m->element[0] = rows;
    } else {
        free(m->element);
        *m = (access_message){0};
    }
    *element = m->element;
    *count = m->count;
    return rc;
}

/* The number of elements of C, which begin with the second one; the message keeps the memory of the
 * units, which are only read. */
static int view_message(const int64_t *element, size_t count, size_t *rows, unit_counts *units)
{
    if (count == 0 || element[0] < 0 || (uint64_t)element[0] >= count)
        return -EINVAL;
    size_t rest = count - 1 - (size_t)element[0];
    *rows = (size_t)element[0];
    units->step = (unit_step *)(uintptr_t)(element + 1 + *rows);
    units->count = rest / UNIT_STEP_ELEMENTS;
    return rest % UNIT_STEP_ELEMENTS == 0 ? 0 : -EINVAL;
}

int requests_describe(const domain_share *share, size_t shares, const pieces *units,
                      const access_list *accesses, int64_t **element, size_t *count)
{
    access_message message = {0};
    unit_counts counts = {0};
    int rc = access_message_append(&message, &(int64_t){0}, 1);
    if (rc == 0)
        rc = rows_append_shares(share, shares, &message);
    if (rc == 0 && units != NULL)
        rc = pieces_count(units, accesses, &counts);
    return finish_message(&message, rc, &counts, element, count);
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
    unit_counts units;
    size_t rows;
    if (count == 0)
        return 0;
    int rc = view_message(element, count, &rows, &units);
    if (rc == 0)
        rc = rows_node_add(&sums->node, rank, element + 1, rows);
    return rc == 0 && units.count > 0 ? add_units(sums, &units) : rc;
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
    access_message message = {0};
    unit_counts units = {0};
    int rc = access_message_append(&message, &(int64_t){0}, 1);
    if (rc == 0)
        rc = rows_append_sums(&sums->node, &message);
    if (rc == 0 && sums->unit_bytes != NULL)
        rc = units_from_array(sums->unit_bytes, sums->units, &units);
    limit_units(&units, sums->most_units);
    return finish_message(&message, rc, &units, element, count);
}

int requests_add_node(void *context, int leader, const int64_t *element, size_t count)
{
    request_sums *sums = context;
    unit_counts units;
    size_t rows;
    if (leader < 0)
        return rows_builder_add_unlisted(&sums->all, element, count);
    size_t node = sums->node_of_rank[leader];
    int rc = view_message(element, count, &rows, &units);
    if (rc == 0)
        rc = rows_builder_add(&sums->all, node, element + 1, rows);
    if (rc == 0 && units.count > 0)
        rc = pieces_add_bytes(sums->all_units, node, units.step, units.count);
    return rc;
}

void requests_release(request_sums *sums)
{
    free(sums->unit_bytes);
    rows_node_release(&sums->node);
    rows_builder_release(&sums->all);
}
