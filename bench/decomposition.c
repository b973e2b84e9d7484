/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays cut into cells. */
#include "decomposition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/units.h"

static const char too_large[] = "the array is too large";
static const char no_memory[] = "out of memory";

/* ---- making ---- */

static int64_t count_cells(const decomposition *d)
{
    int64_t cells = 1;
    for (int k = 0; k < d->dims; k++)
        cells *= d->cells[k];
    return cells;
}

static const char *check(decomposition *d)
{
    int64_t cells = 1;
    if (d->dims < 1 || d->dims > DECOMPOSITION_DIMS || d->element < 1)
        return "an array has one to four dimensions and elements of at least a byte";
    d->bytes = d->element;
    for (int k = 0; k < d->dims; k++) {
        if (d->cells[k] < 1 || d->size[k] < d->cells[k])
            return "fewer elements than cells in a dimension";
        if (__builtin_mul_overflow(d->bytes, d->size[k], &d->bytes) ||
            __builtin_mul_overflow(cells, d->cells[k], &cells) || cells > INT32_MAX)
            return too_large;
    }
    return NULL;
}

static void cut_equally(decomposition *d, int k)
{
    int64_t n = d->size[k], cells = d->cells[k];
    for (int64_t i = 0; i <= cells; i++)
        d->cut[k][i] = n / cells * i + n % cells * i / cells;
}

/* As NAS does it: the first cells are those that have one element more. */
static void cut_first_larger(decomposition *d, int k)
{
    int64_t n = d->size[k], cells = d->cells[k];
    for (int64_t i = 0; i <= cells; i++)
        d->cut[k][i] = n / cells * i + (i < n % cells ? i : n % cells);
}

/* Cells by owner: counting sort. */
static int index_cells(decomposition *d)
{
    size_t cells = (size_t)count_cells(d);
    size_t *first = calloc(d->ranks + 2, sizeof *first), *cell = calloc(cells, sizeof *cell);
    if (first == NULL || cell == NULL) {
        free(first);
        free(cell);
        return -ENOMEM;
    }
    for (size_t c = 0; c < cells; c++)
        first[d->owner[c] + 2]++;
    for (size_t r = 0; r < d->ranks; r++)
        first[r + 2] += first[r + 1];
    for (size_t c = 0; c < cells; c++)
        cell[first[d->owner[c] + 1]++] = c;
    free(d->first);
    free(d->cell);
    d->first = first;
    d->cell = cell;
    return 0;
}

static bool take_arrays(decomposition *d)
{
    bool taken = (d->owner = calloc((size_t)count_cells(d), sizeof *d->owner)) != NULL;
    for (int k = 0; k < d->dims; k++)
        taken = (d->cut[k] = calloc((size_t)d->cells[k] + 1, sizeof **d->cut)) != NULL && taken;
    return taken;
}

/* Checks the shape and takes memory; cuts and owners are to be filled in. */
static const char *begin(decomposition *d, size_t ranks)
{
    const char *wrong = check(d);
    d->ranks = ranks;
    if (wrong == NULL && !take_arrays(d)) {
        decomposition_release(d);
        return no_memory;
    }
    return wrong;
}

static const char *finish(decomposition *d)
{
    if (index_cells(d) == 0)
        return NULL;
    decomposition_release(d);
    return no_memory;
}

const char *decomposition_grid(decomposition *d)
{
    const char *wrong = begin(d, 0);
    if (wrong != NULL)
        return wrong;
    d->ranks = (size_t)count_cells(d);
    for (int k = 0; k < d->dims; k++)
        cut_equally(d, k);
    for (size_t c = 0; c < d->ranks; c++)
        d->owner[c] = c;
    return finish(d);
}

const char *decomposition_multipartition(decomposition *d, int64_t n, size_t ranks, int64_t element)
{
    int64_t q = 1;
    while ((size_t)(q * q) < ranks)
        q++;
    if ((size_t)(q * q) != ranks)
        return "a block-tridiagonal multipartition wants a square number of ranks";
    *d = (decomposition){.dims = 3, .size = {n, n, n}, .cells = {q, q, q}, .element = element};
    const char *wrong = begin(d, ranks);
    if (wrong != NULL)
        return wrong;
    for (int k = 0; k < d->dims; k++)
        cut_first_larger(d, k);
    /* From slice to slice a rank's cell moves one row up and one column to the right. */
    for (int64_t cell = 0; cell < q * q * q; cell++) {
        int64_t z = cell / q / q, y = cell / q % q, x = cell % q;
        d->owner[cell] = (size_t)((y + z) % q * q + (x - z + q) % q);
    }
    return finish(d);
}

const char *decomposition_unequal(decomposition *d, const int64_t *count, size_t ranks,
                                  int64_t variables, int64_t element)
{
    *d = (decomposition){
        .dims = 2, .cells = {1, (int64_t)ranks}, .size = {variables}, .element = element};
    for (size_t r = 0; r < ranks; r++)
        if (count[r] < 0 || __builtin_add_overflow(d->size[1], count[r], &d->size[1]))
            return too_large;
    const char *wrong = begin(d, ranks);
    if (wrong != NULL)
        return wrong;
    d->cut[0][1] = variables;
    for (size_t r = 0; r < ranks; r++) {
        d->cut[1][r + 1] = d->cut[1][r] + count[r];
        d->owner[r] = r;
    }
    return finish(d);
}

int decomposition_renumber(decomposition *d, const size_t *to)
{
    for (int64_t c = 0; c < count_cells(d); c++)
        d->owner[c] = to[d->owner[c]];
    return index_cells(d);
}

void decomposition_release(decomposition *d)
{
    for (int k = 0; k < d->dims; k++)
        free(d->cut[k]);
    free(d->owner);
    free(d->first);
    free(d->cell);
    *d = (decomposition){0};
}

void balanced_grid(size_t ranks, int dims, int64_t *grid)
{
    int64_t rest = (int64_t)ranks, factor[64];
    int factors = 0;
    for (int64_t f = 2; f * f <= rest; f++)
        for (; rest % f == 0; rest /= f)
            factor[factors++] = f;
    if (rest > 1)
        factor[factors++] = rest;
    for (int d = 0; d < dims; d++)
        grid[d] = 1;
    while (factors-- > 0) {
        int least = 0;
        for (int d = 1; d < dims; d++)
            least = grid[d] < grid[least] ? d : least;
        grid[least] *= factor[factors];
    }
    for (int i = 1; i < dims; i++)
        for (int d = i; d > 0 && grid[d] > grid[d - 1]; d--) {
            int64_t larger = grid[d];
            grid[d] = grid[d - 1];
            grid[d - 1] = larger;
        }
}

/* ---- runs ---- */

array_box decomposition_box(const decomposition *d, size_t cell)
{
    array_box box = {{0}, {0}};
    for (int k = d->dims - 1; k >= 0; k--) {
        size_t cells = (size_t)d->cells[k], at = cell % cells;
        cell /= cells;
        box.start[k] = d->cut[k][at];
        box.count[k] = d->cut[k][at + 1] - d->cut[k][at];
    }
    return box;
}

/* The last dimension that does not run through: what is behind it is contiguous. */
static int cut_dimension(int dims, const int64_t *size, const array_box *box)
{
    int k = dims - 1;
    while (k > 0 && box->count[k] == size[k])
        k--;
    return k;
}

int array_box_runs(const decomposition *d, const int64_t *size, const array_box *box,
                   access_list *list)
{
    int64_t at[DECOMPOSITION_DIMS], stride[DECOMPOSITION_DIMS];
    int inner = cut_dimension(d->dims, size, box), rows = inner - 1, k, rc = 0;
    int64_t step = d->element;
    for (k = d->dims - 1; k >= 0; k--) {
        if (box->count[k] == 0)
            return 0;
        stride[k] = step;
        step *= size[k];
    }
    memcpy(at, box->start, sizeof at);
    do {
        access_run run = {.length = box->count[inner] * stride[inner], .count = 1};
        if (rows >= 0)
            run.count = box->count[rows];
        run.stride = run.count > 1 ? stride[rows] : 0;
        for (k = 0; k <= inner; k++)
            run.offset += at[k] * stride[k];
        run.stream = list->bytes;
        rc = access_append_run(list, &run);
        for (k = rows - 1; k >= 0 && ++at[k] == box->start[k] + box->count[k]; k--)
            at[k] = box->start[k];
    } while (rc == 0 && k >= 0);
    return rc;
}

int decomposition_runs(const decomposition *d, size_t rank, access_list *list)
{
    for (size_t i = d->first[rank]; i < d->first[rank + 1]; i++) {
        array_box box = decomposition_box(d, d->cell[i]);
        int rc = array_box_runs(d, d->size, &box, list);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int add_units(matrix_builder *bytes, size_t rank, const unit_counts *counts)
{
    int rc = 0;
    for (size_t i = 0; i < counts->count; i++) {
        const unit_step *step = &counts->step[i];
        for (int64_t u = step->first; u < step->first + step->count && rc == 0; u++)
            rc = matrix_builder_add(bytes, rank, (size_t)u, step->bytes);
    }
    return rc;
}

int decomposition_profile(const decomposition *d, int64_t unit, matrix *profile)
{
    matrix_builder bytes = {.rows = d->ranks, .cols = (size_t)units_to(0, d->bytes, unit)};
    access_list list = {0};
    int rc = 0;
    for (size_t rank = 0; rank < d->ranks && rc == 0; rank++) {
        unit_counts counts = {0};
        access_clear(&list);
        rc = decomposition_runs(d, rank, &list);
        if (rc == 0)
            rc = units_count(&list, 0, unit, &counts);
        if (rc == 0)
            rc = add_units(&bytes, rank, &counts);
        free(counts.step);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&bytes, profile);
    matrix_builder_clear(&bytes);
    access_release(&list);
    return rc;
}

/* ---- the view ---- */

struct view_maker {
    const decomposition *d;
    matrix_builder builder;
    int rc;
};

/* The ranks at both ends of a part of the file. */
struct ends {
    size_t first, last;
};

static void follow(struct view_maker *m, size_t a, size_t b, int64_t times)
{
    if (a == b || times == 0 || m->rc != 0)
        return;
    m->rc = matrix_builder_add(&m->builder, a, b, times);
    if (m->rc == 0)
        m->rc = matrix_builder_add(&m->builder, b, a, times);
}

/* The part of the array at one index of all dimensions before k, as it is `times` times in the
 * file. The recursion is as deep as the array has dimensions. */
static struct ends count_followers(struct view_maker *m, int k, size_t cell, int64_t times)
{
    const decomposition *d = m->d;
    struct ends all = {SIZE_MAX, SIZE_MAX};
    if (k == d->dims)
        return (struct ends){d->owner[cell], d->owner[cell]};
    for (int64_t i = 0; i < d->cells[k]; i++) {
        int64_t extent = d->cut[k][i + 1] - d->cut[k][i];
        if (extent == 0)
            continue;
        struct ends one =
            count_followers(m, k + 1, cell * (size_t)d->cells[k] + (size_t)i, times * extent);
        follow(m, one.last, one.first, times * (extent - 1));
        if (all.first == SIZE_MAX)
            all.first = one.first;
        else
            follow(m, all.last, one.first, times);
        all.last = one.last;
    }
    return all;
}

int decomposition_view(const decomposition *d, matrix *view)
{
    struct view_maker m = {.d = d, .builder = {.rows = d->ranks, .cols = d->ranks}};
    (void)count_followers(&m, 0, 0, 1);
    if (m.rc == 0)
        m.rc = matrix_builder_finish(&m.builder, view);
    matrix_builder_clear(&m.builder);
    return m.rc;
}
