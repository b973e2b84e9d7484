/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of a view file: equivalence, sums, and limits on their number and size. */
#include "matrix/view_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- bins and sums ---- */

/* A matrix in bins of 2^doublings the size, so many times. */
struct term {
    const matrix *m;
    unsigned doublings;
    int64_t times;
};

/* Terms of one number of rows; the number of columns is the largest. */
static int sum_terms(const struct term *term, size_t terms, matrix *sum)
{
    size_t rows = term->m->rows, cols = 0, count = 0, used = 0;
    for (const struct term *t = term; t < term + terms; t++) {
        size_t bins = t->m->cols > 0 ? ((t->m->cols - 1) >> t->doublings) + 1 : 0;
        cols = bins > cols ? bins : cols;
        count += matrix_entries(t->m);
    }
    bool fits = true;
    matrix_entry *entry = base_alloc(count, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    for (size_t row = 0; row < rows; row++)
        for (const struct term *t = term; t < term + terms; t++)
            for (size_t i = t->m->row_start[row]; i < t->m->row_start[row + 1]; i++) {
                entry[used] = (matrix_entry){row, t->m->col[i] >> t->doublings, 0};
                fits &= !__builtin_mul_overflow(t->m->value[i], t->times, &entry[used++].value);
            }
    int rc = fits ? matrix_from_entries(sum, rows, cols, entry, used) : -ERANGE;
    free(entry);
    return rc;
}

int view_file_coarsen(const matrix *bytes, unsigned doublings, matrix *coarse)
{
    return sum_terms(&(struct term){bytes, doublings, 1}, 1, coarse);
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

/* The matrix may be one of the terms. */
static int replace_by_sum(matrix *m, const struct term *term, size_t terms)
{
    matrix sum;
    int rc = sum_terms(term, terms, &sum);
    if (rc != 0)
        return rc;
    matrix_release(m);
    *m = sum;
    return 0;
}

/* Adds so many times the calls of another pattern to pattern k. */
static int add_to_pattern(view_file *f, size_t k, const access_pattern *pattern,
                          const matrix *bytes, int64_t times)
{
    access_pattern *p = &f->pattern[k];
    int64_t unit = p->unit > pattern->unit ? p->unit : pattern->unit, calls;
    const struct term term[] = {{&f->bytes[k], doublings_between(p->unit, unit), 1},
                                {bytes, doublings_between(pattern->unit, unit), times}};
    if (__builtin_add_overflow(p->calls, pattern->calls * times, &calls))
        return -ERANGE;
    int rc = replace_by_sum(&f->bytes[k], term, 2);
    if (rc == 0) {
        p->unit = unit;
        p->calls = calls;
    }
    return rc;
}

/* ---- equivalence ---- */

static bool same_division(const access_pattern *p, const access_pattern *q)
{
    return memcmp(&p->division, &q->division, sizeof p->division) == 0;
}

/* Whether each call of one has the bytes of a call of the other. Bins may have been enlarged to
 * save space. */
static bool is_equivalent(const access_pattern *p, const matrix *a, const access_pattern *q,
                          const matrix *b)
{
    matrix coarse = {0};
    if (p->unit > q->unit)
        return is_equivalent(q, b, p, a);
    if (p->unit < q->unit &&
        view_file_coarsen(a, doublings_between(p->unit, q->unit), &coarse) != 0)
        return false;
    bool alike = matrix_equals(p->unit < q->unit ? &coarse : a, q->calls, b, p->calls);
    matrix_release(&coarse);
    return alike;
}

/* ---- limits ---- */

/* Adds pattern `from` to pattern `to`, and removes it. */
static int merge_patterns(view_file *f, size_t to, size_t from)
{
    int rc = add_to_pattern(f, to, &f->pattern[from], &f->bytes[from], 1);
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
    if (m->cols <= 1 || (f->patterns > 1 && matrix_entries(m) <= 2 * m->rows))
        return merge_some_patterns(f);
    int rc = replace_by_sum(m, &(struct term){m, 1, 1}, 1);
    if (rc == 0)
        f->pattern[k].unit *= 2;
    return rc;
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

static int append_copy(view_file *f, const access_pattern *pattern, const matrix *bytes,
                       int64_t times)
{
    access_pattern added = *pattern;
    matrix copy;
    int rc = sum_terms(&(struct term){bytes, 0, times}, 1, &copy);
    if (rc != 0)
        return rc;
    added.calls *= times;
    added.file = strdup(pattern->file);
    rc = added.file == NULL ? -ENOMEM : view_file_append(f, &added, &copy);
    free(added.file);
    matrix_release(&copy);
    return rc == 0 ? apply_limits(f) : rc;
}

/* Adds its calls `times` times: they are those of one call, or `times` is 1. */
static int add_pattern(view_file *f, const access_pattern *pattern, const matrix *bytes,
                       int64_t times)
{
    if (f->patterns > 0 && f->bytes[0].rows != bytes->rows)
        return -EINVAL;
    for (size_t k = 0; k < f->patterns; k++)
        if (strcmp(f->pattern[k].file, pattern->file) == 0 &&
            same_division(&f->pattern[k], pattern) &&
            is_equivalent(&f->pattern[k], &f->bytes[k], pattern, bytes))
            return add_to_pattern(f, k, pattern, bytes, times);
    return append_copy(f, pattern, bytes, times);
}

int view_file_add_calls(view_file *f, const access_pattern *pattern, const matrix *bytes,
                        int64_t times)
{
    access_pattern one = *pattern;
    one.calls = 1;
    return times < 1 ? -EINVAL : add_pattern(f, &one, bytes, times);
}

static int add_view(view_file *f, const matrix *view)
{
    const struct term term[] = {{view, 0, 1}, {&f->view, 0, 1}};
    if (f->view.rows > 0 && f->view.rows != view->rows)
        return -EINVAL;
    return replace_by_sum(&f->view, term, f->view.rows > 0 ? 2 : 1);
}

int view_file_add(view_file *f, const view_file *more)
{
    int rc = more->view.rows > 0 ? add_view(f, &more->view) : 0;
    for (size_t k = 0; k < more->patterns && rc == 0; k++)
        rc = add_pattern(f, &more->pattern[k], &more->bytes[k], 1);
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
