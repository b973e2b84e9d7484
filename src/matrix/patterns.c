/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of a view file: equivalence, sums, and limits on their number and size. */
#include "matrix/view_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- bins ---- */

/* Appends the entries of row r in bins of 2^doublings the size, from entry *at on. */
static int coarsen_row(const matrix *m, size_t r, unsigned doublings, matrix *coarse, size_t *at)
{
    size_t first = *at;
    for (size_t i = m->row_start[r]; i < m->row_start[r + 1]; i++) {
        size_t bin = m->col[i] >> doublings;
        if (*at == first || coarse->col[*at - 1] != bin) {
            coarse->col[*at] = bin;
            coarse->value[(*at)++] = m->value[i];
        } else if (__builtin_add_overflow(coarse->value[*at - 1], m->value[i],
                                          &coarse->value[*at - 1])) {
            return -ERANGE;
        }
    }
    coarse->row_start[r + 1] = *at;
    return 0;
}

int view_file_coarsen(const matrix *bytes, unsigned doublings, matrix *coarse)
{
    matrix made;
    size_t at = 0, bins = ((bytes->cols - 1) >> doublings) + 1;
    int rc = matrix_allocate(&made, bytes->rows, bytes->cols > 0 ? bins : 0, matrix_entries(bytes));
    if (rc != 0)
        return rc;
    for (size_t r = 0; r < bytes->rows && rc == 0; r++)
        rc = coarsen_row(bytes, r, doublings, &made, &at);
    if (rc != 0)
        matrix_release(&made);
    else
        *coarse = made;
    return rc;
}

static unsigned doublings_between(int64_t small, int64_t large)
{
    unsigned n = 0;
    while (small < large) {
        small *= 2;
        n++;
    }
    return n;
}

/* Enlarges the bins of a pattern to `unit`. */
static int enlarge_bins(access_pattern *pattern, matrix *bytes, int64_t unit)
{
    matrix coarse;
    if (pattern->unit == unit)
        return 0;
    int rc = view_file_coarsen(bytes, doublings_between(pattern->unit, unit), &coarse);
    if (rc != 0)
        return rc;
    matrix_release(bytes);
    *bytes = coarse;
    pattern->unit = unit;
    return 0;
}

/* ---- sums ---- */

static int copy_times(const matrix *m, int64_t times, matrix *copy)
{
    int rc = view_file_coarsen(m, 0, copy);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < matrix_entries(copy) && rc == 0; i++)
        rc = __builtin_mul_overflow(copy->value[i], times, &copy->value[i]) ? -ERANGE : 0;
    if (rc != 0)
        matrix_release(copy);
    return rc;
}

/* m += more; the number of columns becomes the larger one. */
static int add_to_matrix(matrix *m, const matrix *more)
{
    matrix sum;
    size_t cols = m->cols > more->cols ? m->cols : more->cols, used = 0;
    matrix_entry *entry = calloc(matrix_entries(m) + matrix_entries(more) + 1, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    for (size_t r = 0; r < m->rows; r++) {
        size_t i = m->row_start[r], k = more->row_start[r];
        while (i < m->row_start[r + 1] || k < more->row_start[r + 1]) {
            bool first = k == more->row_start[r + 1] ||
                         (i < m->row_start[r + 1] && m->col[i] <= more->col[k]);
            const matrix *from = first ? m : more;
            size_t at = first ? i++ : k++;
            entry[used++] = (matrix_entry){r, from->col[at], from->value[at]};
        }
    }
    int rc = matrix_from_entries(&sum, m->rows, cols, entry, used);
    free(entry);
    if (rc != 0)
        return rc;
    matrix_release(m);
    *m = sum;
    return 0;
}

/* Adds the calls of another pattern, whose bins may be enlarged, to pattern k. */
static int add_to_pattern(view_file *f, size_t k, access_pattern *pattern, matrix *bytes)
{
    access_pattern *p = &f->pattern[k];
    int64_t unit = p->unit > pattern->unit ? p->unit : pattern->unit, calls;
    if (__builtin_add_overflow(p->calls, pattern->calls, &calls))
        return -ERANGE;
    int rc = enlarge_bins(p, &f->bytes[k], unit);
    if (rc == 0)
        rc = enlarge_bins(pattern, bytes, unit);
    if (rc == 0)
        rc = add_to_matrix(&f->bytes[k], bytes);
    if (rc == 0)
        p->calls = calls;
    return rc;
}

/* ---- equivalence ---- */

static bool same_division(const access_pattern *p, const access_pattern *q)
{
    return memcmp(&p->division, &q->division, sizeof p->division) == 0;
}

/* Whether each call of one has the bytes of a call of the other. */
static int same_shape(const access_pattern *p, const matrix *a, const access_pattern *q,
                      const matrix *b)
{
    size_t nnz = matrix_entries(a);
    if (p->unit != q->unit || a->cols != b->cols || nnz != matrix_entries(b) ||
        memcmp(a->row_start, b->row_start, (a->rows + 1) * sizeof *a->row_start) != 0 ||
        memcmp(a->col, b->col, nnz * sizeof *a->col) != 0)
        return 0;
    for (size_t i = 0; i < nnz; i++)
        if ((__int128)a->value[i] * q->calls != (__int128)b->value[i] * p->calls)
            return 0;
    return 1;
}

/* As same_shape, but bins may have been enlarged to save space. */
static int is_equivalent(const access_pattern *p, const matrix *a, const access_pattern *q,
                         const matrix *b)
{
    access_pattern coarse = *p;
    matrix made;
    if (p->unit == q->unit)
        return same_shape(p, a, q, b);
    if (p->unit > q->unit)
        return is_equivalent(q, b, p, a);
    if (view_file_coarsen(a, doublings_between(p->unit, q->unit), &made) != 0)
        return 0;
    coarse.unit = q->unit;
    int alike = same_shape(&coarse, &made, q, b);
    matrix_release(&made);
    return alike;
}

/* ---- limits ---- */

/* Adds pattern `from` to pattern `to`, and removes it. */
static int merge_patterns(view_file *f, size_t to, size_t from)
{
    int rc = add_to_pattern(f, to, &f->pattern[from], &f->bytes[from]);
    if (rc != 0)
        return rc;
    free(f->pattern[from].file);
    matrix_release(&f->bytes[from]);
    f->patterns--;
    memmove(&f->pattern[from], &f->pattern[from + 1], (f->patterns - from) * sizeof *f->pattern);
    memmove(&f->bytes[from], &f->bytes[from + 1], (f->patterns - from) * sizeof *f->bytes);
    return 0;
}

/* Merges two equivalent patterns, or else the last two of a file, or else the last two. */
static int merge_some_patterns(view_file *f)
{
    for (size_t k = 1; k < f->patterns; k++)
        for (size_t i = 0; i < k; i++)
            if (same_division(&f->pattern[i], &f->pattern[k]) &&
                is_equivalent(&f->pattern[i], &f->bytes[i], &f->pattern[k], &f->bytes[k]))
                return merge_patterns(f, i, k);
    for (size_t k = f->patterns; k-- > 1;)
        for (size_t i = k; i-- > 0;)
            if (strcmp(f->pattern[i].file, f->pattern[k].file) == 0)
                return merge_patterns(f, i, k);
    return merge_patterns(f, f->patterns - 2, f->patterns - 1);
}

static size_t largest_pattern(const view_file *f)
{
    size_t most = 0;
    for (size_t k = 1; k < f->patterns; k++)
        if (matrix_entries(&f->bytes[k]) > matrix_entries(&f->bytes[most]))
            most = k;
    return most;
}

static size_t entries_in_all(const view_file *f)
{
    size_t sum = 0;
    for (size_t k = 0; k < f->patterns; k++)
        sum += matrix_entries(&f->bytes[k]);
    return sum;
}

/* Larger bins save little where most ranks have a single entry. */
static int reduce_entries(view_file *f)
{
    size_t k = largest_pattern(f);
    matrix *m = &f->bytes[k];
    if (m->cols > 1 && (f->patterns == 1 || matrix_entries(m) > 2 * m->rows))
        return enlarge_bins(&f->pattern[k], m, 2 * f->pattern[k].unit);
    return merge_some_patterns(f);
}

static int apply_limits(view_file *f)
{
    int rc = 0;
    while (rc == 0 && f->patterns > VIEW_FILE_MOST_PATTERNS)
        rc = merge_some_patterns(f);
    while (rc == 0 && entries_in_all(f) > VIEW_FILE_ENTRIES &&
           (f->patterns > 1 || f->bytes[0].cols > 1))
        rc = reduce_entries(f);
    return rc;
}

/* ---- adding ---- */

/* Takes ownership of pattern and bytes, or leaves them to the caller. */
static int add_pattern(view_file *f, access_pattern *pattern, matrix *bytes)
{
    for (size_t k = 0; k < f->patterns; k++)
        if (strcmp(f->pattern[k].file, pattern->file) == 0 &&
            same_division(&f->pattern[k], pattern) &&
            is_equivalent(&f->pattern[k], &f->bytes[k], pattern, bytes))
            return add_to_pattern(f, k, pattern, bytes);
    int rc = view_file_append(f, pattern, bytes);
    return rc == 0 ? apply_limits(f) : rc;
}

/* Adds a copy of the pattern with `times` the bytes. */
static int add_pattern_copy(view_file *f, const access_pattern *pattern, const matrix *bytes,
                            int64_t times)
{
    access_pattern added = *pattern;
    matrix copy;
    if (f->patterns > 0 && f->bytes[0].rows != bytes->rows)
        return -EINVAL;
    int rc = copy_times(bytes, times, &copy);
    if (rc != 0)
        return rc;
    added.file = strdup(pattern->file);
    rc = added.file == NULL ? -ENOMEM : add_pattern(f, &added, &copy);
    free(added.file);
    matrix_release(&copy);
    return rc;
}

int view_file_add_calls(view_file *f, const access_pattern *pattern, const matrix *bytes,
                        int64_t times)
{
    access_pattern added = *pattern;
    added.calls = times;
    return times < 1 ? -EINVAL : add_pattern_copy(f, &added, bytes, times);
}

static int add_view(view_file *f, const matrix *view)
{
    matrix copy;
    if (f->view.rows == 0) {
        int rc = copy_times(view, 1, &copy);
        if (rc != 0)
            return rc;
        matrix_release(&f->view);
        f->view = copy;
        return 0;
    }
    return f->view.rows == view->rows ? add_to_matrix(&f->view, view) : -EINVAL;
}

int view_file_add(view_file *f, const view_file *more)
{
    int rc = more->view.rows > 0 ? add_view(f, &more->view) : 0;
    for (size_t k = 0; k < more->patterns && rc == 0; k++)
        rc = add_pattern_copy(f, &more->pattern[k], &more->bytes[k], 1);
    return rc == 0 ? view_file_set_order(f, more->order, f->view.rows) : rc;
}

int view_file_set_order(view_file *f, const size_t *order, size_t ranks)
{
    if (f->order != NULL || order == NULL)
        return 0;
    f->order = base_alloc(ranks, sizeof *f->order);
    if (f->order != NULL)
        memcpy(f->order, order, ranks * sizeof *order);
    return f->order != NULL ? 0 : -ENOMEM;
}
