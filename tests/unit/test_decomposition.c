/* SPDX-License-Identifier: BSD-3-Clause */
/* The access patterns of the benchmarks: each covers its file exactly once and gives every byte to
 * the rank that a model of its own says, and what is counted by arithmetic is what counting finds.
 */
#include "../../bench/shape.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

typedef size_t (*owner_fn)(const shape *s, size_t ranks, const int64_t *size, const int64_t *at);

/* ---- models: the owner of an element, from the description of the pattern alone ---- */

/* The block number along a dimension, by search among equal parts. */
static int64_t part_of(int64_t n, int64_t parts, int64_t at)
{
    int64_t i = 0;
    while (n * (i + 1) / parts <= at)
        i++;
    return i;
}

static size_t owner_in_grid(const shape *s, size_t ranks, const int64_t *size, const int64_t *at)
{
    size_t rank = 0;
    (void)ranks;
    for (int d = 0; d < s->grid_dims; d++)
        rank = rank * (size_t)s->grid[d] + (size_t)part_of(size[d], s->grid[d], at[d]);
    return rank;
}

static size_t owner_of_tile(const shape *s, size_t ranks, const int64_t *size, const int64_t *at)
{
    (void)ranks;
    (void)size;
    return (size_t)(at[0] / s->size[0] * s->grid[1] + at[1] / s->size[1]);
}

/* NAS: each rank walks its own diagonal, beginning at row rank / q and column rank % q of slice 0;
 * the first n % q parts of a dimension are longer by one. */
static int64_t nas_part(int64_t n, int64_t q, int64_t at)
{
    int64_t i = 0, end = n / q + (n % q > 0);
    while (at >= end)
        end += n / q + (++i < n % q);
    return i;
}

static size_t owner_in_btio(const shape *s, size_t ranks, const int64_t *size, const int64_t *at)
{
    int64_t q = 1;
    (void)s;
    while ((size_t)(q * q) < ranks)
        q++;
    for (int64_t rank = 0; rank < q * q; rank++) {
        int64_t row = rank / q, column = rank % q;
        for (int64_t slice = 0; slice < q; slice++) {
            if (nas_part(size[0], q, at[0]) == slice && nas_part(size[1], q, at[1]) == row &&
                nas_part(size[2], q, at[2]) == column)
                return (size_t)rank;
            row = row == 0 ? q - 1 : row - 1;
            column = column == q - 1 ? 0 : column + 1;
        }
    }
    return SIZE_MAX;
}

/* ---- patterns ---- */

/* What is missing is the kind's default. */
typedef struct request {
    const char *kind;
    size_t ranks;
    const char *size, *grid;
    int64_t element, variables;
    bool reorder;
} request;

static const struct {
    request request;
    owner_fn owner; /* NULL: there is none that does not repeat the generator's random numbers */
} patterns[] = {
    {{"cube", 8, .size = "8", .grid = "2x2x2"}, owner_in_grid},
    {{"cube", 24, .size = "9x7x11", .grid = "4x3x2"}, owner_in_grid},
    {{"cube", 5, .size = "10", .grid = "1x1x5"}, owner_in_grid},
    {{"cube", 6, .size = "6", .grid = "6x1x1"}, owner_in_grid},
    {{"lattice", 16, .size = "4", .element = 6, .grid = "2x2x2x2"}, owner_in_grid},
    {{"lattice", 12, .size = "3x5x4x3", .grid = "1x3x2x2"}, owner_in_grid},
    {{"btio", 9, .size = "12"}, owner_in_btio},
    {{"btio", 16, .size = "13", .element = 3}, owner_in_btio},
    {{"btio", 1, .size = "3"}, owner_in_btio},
    {{"btio", 25, .size = "5"}, owner_in_btio},
    {{"tile", 6, .size = "4x5", .element = 7, .grid = "2x3"}, owner_of_tile},
    {{"tile", 8, .size = "3x1", .element = 16, .grid = "8x1"}, owner_of_tile},
    {{"tile", 12, .size = "4x5", .element = 2, .reorder = true}, NULL},
    {{"dump", 7, .size = "20", .variables = 3}, NULL},
    {{"dump", 4, .size = "9", .variables = 1, .reorder = true}, NULL},
    {{"array", 4, .size = "10", .grid = "4"}, owner_in_grid},
    {{"array", 6, .size = "9x9", .grid = "1x6"}, owner_in_grid},
};

/* NULL or what is wrong. */
static const char *make(const request *r, shape *s, decomposition *d)
{
    *s = (shape){.kind = shape_find(r->kind),
                 .element = r->element,
                 .variables = r->variables,
                 .reorder = r->reorder};
    ck_assert_ptr_nonnull(s->kind);
    s->size_dims = r->size != NULL ? shape_parse_dims(r->size, s->size) : 0;
    s->grid_dims = r->grid != NULL ? shape_parse_dims(r->grid, s->grid) : 0;
    ck_assert((r->size == NULL || s->size_dims > 0) && (r->grid == NULL || s->grid_dims > 0));
    return shape_make(s, r->ranks, d);
}

static void runs_of(const decomposition *d, size_t rank, access_list *list)
{
    *list = (access_list){0};
    ck_assert_int_eq(decomposition_runs(d, rank, list), 0);
    ck_assert_int_eq(access_is_ordered(list), 1);
}

/* owner[b] of every byte, SIZE_MAX where there is none; every byte at most once. */
static size_t *paint(const decomposition *d)
{
    size_t *owner = malloc((size_t)d->bytes * sizeof *owner);
    memset(owner, 0xff, (size_t)d->bytes * sizeof *owner);
    for (size_t rank = 0; rank < d->ranks; rank++) {
        access_list list;
        runs_of(d, rank, &list);
        for (size_t i = 0; i < list.count; i++)
            for (int64_t block = 0; block < list.run[i].count; block++)
                for (int64_t b = 0; b < list.run[i].length; b++) {
                    int64_t at = list.run[i].offset + block * list.run[i].stride + b;
                    if (at < 0 || at >= d->bytes || owner[at] != SIZE_MAX)
                        ck_abort_msg("byte %lld of rank %zu", (long long)at, rank);
                    owner[at] = rank;
                }
        access_release(&list);
    }
    return owner;
}

static void check_owners(const decomposition *d, const size_t *owner, const shape *s,
                         owner_fn model)
{
    for (int64_t e = 0; e < d->bytes / d->element; e++) {
        int64_t at[DECOMPOSITION_DIMS], rest = e;
        for (int k = d->dims - 1; k >= 0; rest /= d->size[k--])
            at[k] = rest % d->size[k];
        size_t wanted = model(s, d->ranks, d->size, at);
        for (int64_t b = 0; b < d->element; b++)
            if (owner[e * d->element + b] != wanted)
                ck_abort_msg("element %lld is not of rank %zu", (long long)e, wanted);
    }
}

/* The matrix by definition: the ranks of neighbouring bytes, where they differ. */
static void check_view(const decomposition *d, const size_t *owner)
{
    matrix view;
    int64_t *wanted = calloc(d->ranks * d->ranks, sizeof *wanted);
    for (int64_t b = 1; b < d->bytes; b++)
        if (owner[b] != owner[b - 1]) {
            wanted[owner[b] * d->ranks + owner[b - 1]]++;
            wanted[owner[b - 1] * d->ranks + owner[b]]++;
        }
    ck_assert_int_eq(decomposition_view(d, &view), 0);
    for (size_t k = 0; k < d->ranks * d->ranks; k++)
        ck_assert_int_eq(matrix_get(&view, k / d->ranks, k % d->ranks), wanted[k]);
    matrix_release(&view);
    free(wanted);
}

START_TEST(bytes_belong_to_ranks)
{
    const request *r = &patterns[_i].request;
    shape s;
    decomposition d;
    ck_assert_ptr_null(make(r, &s, &d));
    ck_assert_uint_eq(d.ranks, r->ranks);
    size_t *owner = paint(&d);
    for (int64_t b = 0; b < d.bytes; b++)
        if (owner[b] >= d.ranks)
            ck_abort_msg("byte %lld is nobody's", (long long)b);
    if (patterns[_i].owner != NULL)
        check_owners(&d, owner, &s, patterns[_i].owner);
    check_view(&d, owner);
    free(owner);
    decomposition_release(&d);
}
END_TEST

START_TEST(refusals)
{
    static const request bad[] = {
        {"btio", 8, .size = "12"},
        {"btio", 16, .size = "3"},
        {"btio", 4, .size = "12x12"},
        {"cube", 8, .size = "12x12"},
        {"cube", 8, .grid = "2x2x3"},
        {"cube", 8, .grid = "2x4"},
        {"cube", 27, .size = "2"},
        {"cube", 1, .size = "2147483647"},
        {"tile", 4, .size = "2x2x2"},
        {"dump", 4, .grid = "4"},
        {"lattice", 2, .grid = "2147483647x2147483647x2147483647x2"},
    };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        shape s;
        decomposition d;
        ck_assert_msg(make(&bad[i], &s, &d) != NULL, "case %zu, %s", i, bad[i].kind);
    }
}
END_TEST

START_TEST(grids_are_balanced)
{
    static const struct {
        size_t ranks;
        int dims;
        const char *text;
    } grids[] = {{64, 3, "4x4x4"},   {125, 3, "5x5x5"}, {128, 2, "16x8"},
                 {24, 3, "4x3x2"},   {1, 2, "1x1"},     {17, 2, "17x1"},
                 {16, 4, "2x2x2x2"}, {512, 3, "8x8x8"}, {16, 3, "4x2x2"}};
    for (size_t i = 0; i < LENGTH(grids); i++) {
        int64_t grid[DECOMPOSITION_DIMS];
        char text[SHAPE_DIMS_TEXT];
        balanced_grid(grids[i].ranks, grids[i].dims, grid);
        shape_print_dims(grid, grids[i].dims, text);
        ck_assert_str_eq(text, grids[i].text);
    }
}
END_TEST

int main(void)
{
    return run_tests("decomposition", TIMES(bytes_belong_to_ranks, LENGTH(patterns)),
                     ONCE(refusals), ONCE(grids_are_balanced));
}
