/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of recorded calls on storage servers. */
#include "predict/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "predict/overlap.h"

const predict_layout *predict_find_layout(const predict_servers *servers, const char *file)
{
    for (size_t k = 0; servers != NULL && k < servers->layouts; k++) {
        const predict_layout *on = &servers->layout[k];
        if (on->file == NULL || strcmp(on->file, file) == 0)
            return on;
    }
    return NULL;
}

int predict_spread(const predict_layout *on, const file_domains *domains, const matrix *node_bytes,
                   int64_t calls, size_t nodes, matrix *stored)
{
    matrix made = {0};
    int rc = 0;
    int64_t *accessed = base_zeroed(domains->count, sizeof *accessed, &rc);
    for (size_t k = 0; k < matrix_entries(node_bytes) && rc == 0; k++)
        accessed[node_bytes->col[k]] += node_bytes->value[k] / calls;
    if (rc == 0)
        rc = storage_spread(on->layout, domains, on->node_of_target, nodes, accessed, &made);
    for (size_t k = 0; k < matrix_entries(&made) && rc == 0; k++)
        if (__builtin_mul_overflow(made.value[k], calls, &made.value[k]))
            rc = -ERANGE;
    free(accessed);
    if (rc == 0)
        *stored = made;
    else
        matrix_release(&made);
    return rc;
}

/* ---- by rank ---- */

/* The part of each bin (row) on each node, and in the last column on none. `on_node`: those of bins
 * (columns) on nodes. */
static int complete_parts(const matrix *on_node, const file_domains *bins, matrix *parts)
{
    matrix_builder builder = {.rows = bins->count, .cols = on_node->rows + 1};
    int rc = 0;
    int64_t *left = base_zeroed(bins->count, sizeof *left, &rc);
    for (size_t b = 0; b < bins->count && rc == 0; b++)
        left[b] = bins->size[b];
    for (size_t n = 0; n < on_node->rows && rc == 0; n++)
        for (size_t k = on_node->row_start[n]; k < on_node->row_start[n + 1] && rc == 0; k++) {
            left[on_node->col[k]] -= on_node->value[k];
            rc = matrix_builder_add(&builder, on_node->col[k], n, on_node->value[k]);
        }
    for (size_t b = 0; b < bins->count && rc == 0; b++)
        if (left[b] > 0)
            rc = matrix_builder_add(&builder, b, on_node->rows, left[b]);
    if (rc == 0)
        rc = matrix_builder_finish(&builder, parts);
    matrix_builder_clear(&builder);
    free(left);
    return rc;
}

/* Each bin as a domain. */
static int divide_bins(const recorded_range *range, file_domains *bins)
{
    size_t *of = base_alloc(range->bins, sizeof *of);
    if (of == NULL)
        return -ENOMEM;
    for (size_t b = 0; b < range->bins; b++)
        of[b] = b;
    int rc =
        domains_from_units(bins, range->lo, range->hi, range->lo, range->unit, of, range->bins);
    free(of);
    return rc;
}

static int find_parts(const predict_layout *on, const recorded_range *range, size_t nodes,
                      matrix *parts)
{
    file_domains bins = {0};
    matrix on_node = {0};
    int rc = divide_bins(range, &bins);
    if (rc == 0)
        rc = storage_spread(on->layout, &bins, on->node_of_target, nodes, bins.size, &on_node);
    if (rc == 0)
        rc = complete_parts(&on_node, &bins, parts);
    matrix_release(&on_node);
    domains_release(&bins);
    return rc;
}

/* Adds the bytes of a pattern's ranks on nodes, and on none. */
static int add_pattern(const predict_layout *on, const access_pattern *pattern, const matrix *bytes,
                       matrix *sum)
{
    const recorded_range range = recorded_range_of(pattern, bytes);
    matrix parts = {0}, more = {0}, both = {0};
    int rc = find_parts(on, &range, sum->cols - 1, &parts);
    if (rc == 0)
        rc = overlap_spread(bytes, &parts, &more);
    if (rc == 0)
        rc = matrix_add(&both, sum, &more, 1);
    matrix_release(&parts);
    matrix_release(&more);
    if (rc == 0) {
        matrix_release(sum);
        *sum = both;
    }
    return rc;
}

static void drop_last_column(matrix *m)
{
    size_t kept = 0, begin = 0;
    m->cols--;
    for (size_t r = 0; r < m->rows; r++) {
        size_t end = m->row_start[r + 1];
        for (size_t k = begin; k < end; k++) {
            if (m->col[k] == m->cols)
                continue;
            m->col[kept] = m->col[k];
            m->value[kept++] = m->value[k];
        }
        begin = end;
        m->row_start[r + 1] = kept;
    }
}

int predict_stored(const predict_servers *servers, const view_file *file, size_t nodes,
                   matrix *stored)
{
    matrix sum = {0};
    int rc = matrix_allocate(&sum, file->view.rows, nodes + 1, 0);
    for (size_t k = 0; k < file->patterns && rc == 0; k++) {
        const predict_layout *on = predict_find_layout(servers, file->pattern[k].file);
        if (on != NULL && matrix_entries(&file->bytes[k]) > 0)
            rc = add_pattern(on, &file->pattern[k], &file->bytes[k], &sum);
    }
    if (rc != 0) {
        matrix_release(&sum);
        return rc;
    }
    drop_last_column(&sum);
    *stored = sum;
    return 0;
}
