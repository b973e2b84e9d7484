/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of a view file: which of them look alike, their sums, and keeping them few and small. */
#include "matrix/view_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t entries_of(const matrix *m)
{
    return m->rows > 0 ? m->row_start[m->rows] : 0;
}

/* ---- bins ---- */

/* Entries of row r in bins of 2^doublings the size, added up; how many there are. */
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
    int rc = matrix_allocate(&made, bytes->rows, bytes->cols > 0 ? bins : 0, entries_of(bytes));
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

/* Brings a pattern to bins of that size, which is no less than its own. */
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
    size_t nnz = entries_of(m);
    int rc = matrix_allocate(copy, m->rows, m->cols, nnz);
    if (rc != 0)
        return rc;
    memcpy(copy->row_start, m->row_start, (m->rows + 1) * sizeof *m->row_start);
    memcpy(copy->col, m->col, nnz * sizeof *m->col);
    for (size_t i = 0; i < nnz && rc == 0; i++)
        rc = __builtin_mul_overflow(m->value[i], times, &copy->value[i]) ? -ERANGE : 0;
    if (rc != 0)
        matrix_release(copy);
    return rc;
}

/* m += more, whose bins are as large; the one with more bins says how many there are. */
static int add_matrix(matrix *m, const matrix *more)
{
    matrix sum;
    size_t cols = m->cols > more->cols ? m->cols : more->cols, used = 0;
    matrix_entry *entry = calloc(entries_of(m) + entries_of(more) + 1, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    for (size_t r = 0; r < m->rows; r++) {
        size_t i = m->row_start[r], k = more->row_start[r];
        while (i < m->row_start[r + 1] || k < more->row_start[r + 1]) {
            int ours = k == more->row_start[r + 1] ||
                       (i < m->row_start[r + 1] && m->col[i] <= more->col[k]);
            const matrix *from = ours ? m : more;
            size_t at = ours ? i++ : k++;
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

/* Pattern k takes over the calls of another one, which is the caller's and may get larger bins. */
static int join(view_file *f, size_t k, access_pattern *pattern, matrix *bytes)
{
    access_pattern *p = &f->pattern[k];
    int64_t unit = p->unit > pattern->unit ? p->unit : pattern->unit, calls;
    if (__builtin_add_overflow(p->calls, pattern->calls, &calls))
        return -ERANGE;
    int rc = enlarge_bins(p, &f->bytes[k], unit);
    if (rc == 0)
        rc = enlarge_bins(pattern, bytes, unit);
    if (rc == 0)
        rc = add_matrix(&f->bytes[k], bytes);
    if (rc == 0)
        p->calls = calls;
    return rc;
}

/* ---- which look alike ---- */

/* Whether a call of one has the bytes of a call of the other. */
static int same_shape(const access_pattern *p, const matrix *a, const access_pattern *q,
                      const matrix *b)
{
    size_t nnz = entries_of(a);
    if (p->unit != q->unit || a->cols != b->cols || nnz != entries_of(b) ||
        memcmp(a->row_start, b->row_start, (a->rows + 1) * sizeof *a->row_start) != 0 ||
        memcmp(a->col, b->col, nnz * sizeof *a->col) != 0)
        return 0;
    for (size_t i = 0; i < nnz; i++)
        if ((__int128)a->value[i] * q->calls != (__int128)b->value[i] * p->calls)
            return 0;
    return 1;
}

/* One of the two may have got larger bins to save room. */
static int looks_alike(const access_pattern *p, const matrix *a, const access_pattern *q,
                       const matrix *b)
{
    access_pattern fine = p->unit < q->unit ? *p : *q;
    const access_pattern *coarse = p->unit < q->unit ? q : p;
    const matrix *coarse_bytes = p->unit < q->unit ? b : a;
    matrix made;
    if (p->unit == q->unit)
        return same_shape(p, a, q, b);
    int rc = view_file_coarsen(p->unit < q->unit ? a : b,
                               doublings_between(fine.unit, coarse->unit), &made);
    if (rc != 0)
        return 0;
    fine.unit = coarse->unit;
    int alike = same_shape(&fine, &made, coarse, coarse_bytes);
    matrix_release(&made);
    return alike;
}

/* ---- few and small ---- */

/* Pattern `to` takes over pattern `from`, which goes. */
static int merge(view_file *f, size_t to, size_t from)
{
    int rc = join(f, to, &f->pattern[from], &f->bytes[from]);
    if (rc != 0)
        return rc;
    free(f->pattern[from].file);
    matrix_release(&f->bytes[from]);
    f->patterns--;
    memmove(&f->pattern[from], &f->pattern[from + 1], (f->patterns - from) * sizeof *f->pattern);
    memmove(&f->bytes[from], &f->bytes[from + 1], (f->patterns - from) * sizeof *f->bytes);
    return 0;
}

/* The two that lose least as one: of the same shape, or else the last two of a file, or the last
 * two. */
static int merge_two(view_file *f)
{
    for (size_t k = 1; k < f->patterns; k++)
        for (size_t i = 0; i < k; i++)
            if (looks_alike(&f->pattern[i], &f->bytes[i], &f->pattern[k], &f->bytes[k]))
                return merge(f, i, k);
    for (size_t k = f->patterns; k-- > 1;)
        for (size_t i = k; i-- > 0;)
            if (strcmp(f->pattern[i].file, f->pattern[k].file) == 0)
                return merge(f, i, k);
    return merge(f, f->patterns - 2, f->patterns - 1);
}

static size_t largest(const view_file *f)
{
    size_t most = 0;
    for (size_t k = 1; k < f->patterns; k++)
        if (entries_of(&f->bytes[k]) > entries_of(&f->bytes[most]))
            most = k;
    return most;
}

static size_t entries_in_all(const view_file *f)
{
    size_t sum = 0;
    for (size_t k = 0; k < f->patterns; k++)
        sum += entries_of(&f->bytes[k]);
    return sum;
}

/* Larger bins save little where most ranks have one entry anyway. */
static int keep_small(view_file *f)
{
    size_t k = largest(f);
    matrix *m = &f->bytes[k];
    if (m->cols > 1 && (f->patterns == 1 || entries_of(m) > 2 * m->rows))
        return enlarge_bins(&f->pattern[k], m, 2 * f->pattern[k].unit);
    return merge_two(f);
}

static int keep_limits(view_file *f)
{
    int rc = 0;
    while (rc == 0 && f->patterns > VIEW_FILE_MOST_PATTERNS)
        rc = merge_two(f);
    while (rc == 0 && entries_in_all(f) > VIEW_FILE_ENTRIES &&
           (f->patterns > 1 || f->bytes[0].cols > 1))
        rc = keep_small(f);
    return rc;
}

/* ---- adding ---- */

/* Takes pattern and bytes over, or leaves them to be freed. */
static int add_pattern(view_file *f, access_pattern *pattern, matrix *bytes)
{
    for (size_t k = 0; k < f->patterns; k++)
        if (strcmp(f->pattern[k].file, pattern->file) == 0 &&
            looks_alike(&f->pattern[k], &f->bytes[k], pattern, bytes))
            return join(f, k, pattern, bytes);
    int rc = view_file_append(f, pattern, bytes);
    return rc == 0 ? keep_limits(f) : rc;
}

/* The pattern as it is, but for bytes `times` as many. */
static int add_copy(view_file *f, const access_pattern *pattern, const matrix *bytes, int64_t times)
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
    return times < 1 ? -EINVAL : add_copy(f, &added, bytes, times);
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
    return f->view.rows == view->rows ? add_matrix(&f->view, view) : -EINVAL;
}

int view_file_add(view_file *f, const view_file *more)
{
    int rc = more->view.rows > 0 ? add_view(f, &more->view) : 0;
    for (size_t k = 0; k < more->patterns && rc == 0; k++)
        rc = add_copy(f, &more->pattern[k], &more->bytes[k], 1);
    return rc;
}
