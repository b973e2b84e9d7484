/* SPDX-License-Identifier: BSD-3-Clause */
/* Access patterns of parallel programs, by name. */
#include "views.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/seeded.h"

enum { MOST_DIMS = 8 };

struct pattern {
    char kind[16];
    size_t ndims;
    size_t dims[MOST_DIMS];
    size_t count[MOST_DIMS]; /* the numbers behind the second colon */
    bool shuffled, reversed, noisy;
    size_t ranks;
    size_t *number; /* of the rank at each place */
};

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", what, name);
    exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count | 1, size);
    if (memory == NULL)
        fail("views", "out of memory");
    return memory;
}

/* ---- names ---- */

static bool take_prefix(const char **text, const char *prefix)
{
    size_t length = strlen(prefix);
    bool found = strncmp(*text, prefix, length) == 0;
    if (found)
        *text += length;
    return found;
}

static size_t read_numbers(const char **text, size_t *number)
{
    size_t count = 0;
    for (char *end; count < MOST_DIMS; *text = end + 1) {
        number[count] = strtoull(*text, &end, 10);
        if (end == *text || number[count++] == 0)
            return 0;
        if (*end != 'x') {
            *text = end;
            break;
        }
    }
    return count;
}

static void number_ranks(struct pattern *p)
{
    uint64_t state = 20261120 + p->ranks;
    p->number = allocate(p->ranks, sizeof *p->number);
    for (size_t place = 0; place < p->ranks; place++) {
        size_t rest = place, number = 0, extent = 1;
        for (size_t d = p->ndims; p->reversed && d-- > 0; rest /= p->dims[d])
            extent *= p->dims[d];
        rest = place;
        for (size_t d = p->ndims; p->reversed && d-- > 0; rest /= p->dims[d]) {
            extent /= p->dims[d];
            number += rest % p->dims[d] * extent;
        }
        p->number[place] = p->reversed ? number : place;
    }
    for (size_t k = p->ranks; p->shuffled && k > 1; k--) {
        size_t other = (size_t)pick(&state, 0, (int64_t)k - 1), kept = p->number[k - 1];
        p->number[k - 1] = p->number[other];
        p->number[other] = kept;
    }
}

static bool is_grid(const struct pattern *p)
{
    return strcmp(p->kind, "array") == 0 || strcmp(p->kind, "mesh") == 0 ||
           strcmp(p->kind, "torus") == 0;
}

static struct pattern parse(const char *name)
{
    struct pattern p = {.ranks = 1};
    const char *text = name;
    p.noisy = take_prefix(&text, "noisy-");
    p.shuffled = take_prefix(&text, "shuffled-");
    p.reversed = take_prefix(&text, "reversed-");
    size_t length = strcspn(text, ":");
    if (length >= sizeof p.kind || text[length] == '\0')
        fail("not a pattern", name);
    memcpy(p.kind, text, length);
    text += length + 1;
    p.ndims = read_numbers(&text, p.dims);
    if (p.ndims == 0)
        fail("not a pattern", name);
    if (is_grid(&p) && (*text++ != ':' || read_numbers(&text, p.count) != p.ndims))
        fail("not a pattern", name);
    if (*text != '\0')
        fail("not a pattern", name);
    for (size_t d = 0; is_grid(&p) && d < p.ndims; d++)
        p.ranks *= p.dims[d];
    if (!is_grid(&p))
        p.ranks = strcmp(p.kind, "bt") == 0 ? p.dims[0] * p.dims[0] : p.dims[0];
    number_ranks(&p);
    return p;
}

/* ---- views ---- */

/* Sums neighbours. The order of access goes through `follow`. */
struct view_maker {
    const struct pattern *pattern;
    matrix_builder builder;
    size_t last;
};

static void bind(struct view_maker *m, size_t a, size_t b, int64_t value)
{
    a = m->pattern->number[a];
    b = m->pattern->number[b];
    if (a == b)
        return;
    if (matrix_builder_add(&m->builder, a, b, value) != 0 ||
        matrix_builder_add(&m->builder, b, a, value) != 0)
        fail("views", "out of memory");
}

static void follow(struct view_maker *m, size_t place)
{
    if (m->last != SIZE_MAX)
        bind(m, m->last, place, 1);
    m->last = place;
}

/* The place of the block that holds a row of an array, without the last dimension. */
static size_t block_of_row(const struct pattern *p, size_t row)
{
    size_t place = 0, stride = 1;
    for (size_t d = p->ndims - 1; d-- > 0;) {
        size_t extent = p->dims[d] * p->count[d];
        place += row % extent / p->count[d] * stride;
        row /= extent;
        stride *= p->dims[d];
    }
    return place;
}

static size_t rows_of(const struct pattern *p)
{
    size_t rows = 1;
    for (size_t d = 0; d + 1 < p->ndims; d++)
        rows *= p->dims[d] * p->count[d];
    return rows;
}

static void make_array(struct view_maker *m)
{
    const struct pattern *p = m->pattern;
    size_t last = p->dims[p->ndims - 1];
    for (size_t row = 0, rows = rows_of(p); row < rows; row++)
        for (size_t i = 0; i < last; i++)
            follow(m, block_of_row(p, row) * last + i);
}

/* Cell (z, y, x) of the diagonal multipartition. */
static size_t owner_of_cell(size_t q, size_t z, size_t y, size_t x)
{
    return (y + q - x) % q * q + (z + q - x) % q;
}

/* Where cell c of q begins in an extent of n. */
static size_t cell_begin(size_t q, size_t n, size_t c)
{
    return c * n / q;
}

static size_t cell_of(size_t q, size_t n, size_t i)
{
    size_t c = i * q / n;
    while (c + 1 < q && cell_begin(q, n, c + 1) <= i)
        c++;
    return c;
}

static void make_bt(struct view_maker *m)
{
    size_t q = m->pattern->dims[0], n = m->pattern->dims[1];
    for (size_t z = 0; z < n; z++)
        for (size_t y = 0; y < n; y++)
            for (size_t x = 0; x < q; x++)
                follow(m, owner_of_cell(q, cell_of(q, n, z), cell_of(q, n, y), x));
}

static void make_mesh(struct view_maker *m, bool closed)
{
    const struct pattern *p = m->pattern;
    for (size_t place = 0; place < p->ranks; place++) {
        size_t stride = 1;
        for (size_t d = p->ndims; d-- > 0; stride *= p->dims[d]) {
            size_t at = place / stride % p->dims[d];
            if (at + 1 < p->dims[d])
                bind(m, place, place + stride, (int64_t)p->count[d]);
            else if (closed && p->dims[d] > 2)
                bind(m, place, place - at * stride, (int64_t)p->count[d]);
        }
    }
}

static void make_random(struct view_maker *m, bool near)
{
    const struct pattern *p = m->pattern;
    uint64_t state = 7 + p->ranks;
    for (size_t a = 0; a < p->ranks; a++) {
        for (size_t k = 0; k < p->dims[1]; k++) {
            size_t reach = near && k % 4 != 3 ? 8 + a % 29 : p->ranks - 1;
            size_t b = (a + (size_t)pick(&state, 1, (int64_t)reach)) % p->ranks;
            bind(m, a, b, pick(&state, 1, 1000));
        }
    }
}

/* Calls in which three ranks of four write, some of them in another quarter of the file. */
static void make_uneven(struct view_maker *m)
{
    size_t p = m->pattern->ranks;
    uint64_t state = 11 + p;
    for (size_t call = 0; call < 4; call++) {
        m->last = SIZE_MAX;
        for (size_t k = 0; k < p; k++)
            if (pick(&state, 0, 3) > 0)
                follow(m, (k + (size_t)pick(&state, 0, 3) * (p / 4)) % p);
    }
}

/* Contiguous blocks of 1 to 100 records, in an order that has nothing to do with the ranks. */
static size_t block_at(const struct pattern *p, size_t k)
{
    return (k * 7919 + 3) % p->ranks;
}

static size_t records_at(size_t k)
{
    uint64_t state = k;
    return (size_t)pick(&state, 1, 100);
}

static void make_blocks(struct view_maker *m)
{
    for (size_t k = 0; k < m->pattern->ranks; k++)
        follow(m, block_at(m->pattern, k));
}

static void add_noise(struct view_maker *m)
{
    size_t p = m->pattern->ranks;
    uint64_t state = 17 + p;
    for (size_t k = 0; k < 4 * p; k++)
        bind(m, (size_t)pick(&state, 0, (int64_t)p - 1), (size_t)pick(&state, 0, (int64_t)p - 1),
             pick(&state, 1, 5));
}

void pattern_view(const char *name, matrix *view)
{
    struct pattern p = parse(name);
    struct view_maker m = {&p, {.rows = p.ranks, .cols = p.ranks}, SIZE_MAX};
    if (strcmp(p.kind, "array") == 0)
        make_array(&m);
    else if (strcmp(p.kind, "bt") == 0)
        make_bt(&m);
    else if (strcmp(p.kind, "mesh") == 0)
        make_mesh(&m, false);
    else if (strcmp(p.kind, "torus") == 0)
        make_mesh(&m, true);
    else if (strcmp(p.kind, "random") == 0)
        make_random(&m, false);
    else if (strcmp(p.kind, "clusters") == 0)
        make_random(&m, true);
    else if (strcmp(p.kind, "uneven") == 0)
        make_uneven(&m);
    else if (strcmp(p.kind, "blocks") == 0)
        make_blocks(&m);
    else
        fail("not a pattern", name);
    if (p.noisy)
        add_noise(&m);
    if (matrix_builder_finish(&m.builder, view) != 0)
        fail("views", "out of memory");
    matrix_builder_clear(&m.builder);
    free(p.number);
}

/* ---- profiles ---- */

/* Bytes come in file order; those of a unit are summed by rank before they are added. */
struct profile_maker {
    const struct pattern *pattern;
    matrix_builder builder;
    size_t unit, offset;
    int64_t *bytes;           /* by rank, in this unit */
    size_t *touched, touches; /* ranks with bytes */
};

static void end_unit(struct profile_maker *m, size_t unit)
{
    for (; m->touches > 0; m->touches--) {
        size_t rank = m->touched[m->touches - 1];
        if (matrix_builder_add(&m->builder, rank, unit, m->bytes[rank]) != 0)
            fail("views", "out of memory");
        m->bytes[rank] = 0;
    }
}

static void access_bytes(struct profile_maker *m, size_t place, size_t bytes)
{
    size_t rank = m->pattern->number[place];
    while (bytes > 0) {
        size_t room = m->unit - m->offset % m->unit, part = bytes < room ? bytes : room;
        if (m->bytes[rank] == 0)
            m->touched[m->touches++] = rank;
        m->bytes[rank] += (int64_t)part;
        m->offset += part;
        bytes -= part;
        if (part == room)
            end_unit(m, m->offset / m->unit - 1);
    }
}

static void access_array(struct profile_maker *m, size_t element)
{
    const struct pattern *p = m->pattern;
    size_t last = p->dims[p->ndims - 1], block = p->count[p->ndims - 1] * element;
    for (size_t row = 0, rows = rows_of(p); row < rows; row++)
        for (size_t i = 0; i < last; i++)
            access_bytes(m, block_of_row(p, row) * last + i, block);
}

static void access_bt(struct profile_maker *m, size_t element)
{
    size_t q = m->pattern->dims[0], n = m->pattern->dims[1];
    for (size_t z = 0; z < n; z++)
        for (size_t y = 0; y < n; y++)
            for (size_t x = 0; x < q; x++)
                access_bytes(m, owner_of_cell(q, cell_of(q, n, z), cell_of(q, n, y), x),
                             (cell_begin(q, n, x + 1) - cell_begin(q, n, x)) * element);
}

static void access_blocks(struct profile_maker *m, size_t element)
{
    for (size_t k = 0; k < m->pattern->ranks; k++)
        access_bytes(m, block_at(m->pattern, k), records_at(k) * element);
}

static size_t file_size(const struct pattern *p, size_t element)
{
    size_t n = p->dims[1], records = 0;
    for (size_t k = 0; k < p->ranks; k++)
        records += records_at(k);
    if (strcmp(p->kind, "blocks") == 0)
        return records * element;
    if (!is_grid(p))
        return n * n * n * element;
    return rows_of(p) * p->dims[p->ndims - 1] * p->count[p->ndims - 1] * element;
}

void pattern_profile(const char *name, size_t element, size_t unit, matrix *profile)
{
    struct pattern p = parse(name);
    size_t units = (file_size(&p, element) + unit - 1) / unit;
    struct profile_maker m = {.pattern = &p,
                              .builder = {.rows = p.ranks, .cols = units},
                              .unit = unit,
                              .bytes = allocate(p.ranks, sizeof *m.bytes),
                              .touched = allocate(p.ranks, sizeof *m.touched)};
    if (strcmp(p.kind, "array") == 0)
        access_array(&m, element);
    else if (strcmp(p.kind, "bt") == 0)
        access_bt(&m, element);
    else if (strcmp(p.kind, "blocks") == 0)
        access_blocks(&m, element);
    else
        fail("no profile for this pattern", name);
    end_unit(&m, units - 1);
    if (matrix_builder_finish(&m.builder, profile) != 0)
        fail("views", "out of memory");
    matrix_builder_clear(&m.builder);
    free(m.bytes);
    free(m.touched);
    free(p.number);
}
