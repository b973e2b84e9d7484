/* SPDX-License-Identifier: BSD-3-Clause */
/* Access patterns of parallel programs, by name. */
#include "views.h"
#include "tally.h"

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

/* ---- files ---- */

static const char *make_array(const struct pattern *p, int64_t element, decomposition *d)
{
    array_grid grid = {.dims = (int)p->ndims, .element = element};
    if (p->ndims > DECOMPOSITION_DIMS)
        return "an array has up to four dimensions";
    for (size_t k = 0; k < p->ndims; k++) {
        grid.cells[k] = (int64_t)p->dims[k];
        grid.size[k] = (int64_t)(p->dims[k] * p->count[k]);
    }
    return decomposition_grid(d, &grid);
}

/* Cell (z, y, x) of a diagonal multipartition. */
static size_t owner_of_cell(size_t q, size_t z, size_t y, size_t x)
{
    return (y + q - x) % q * q + (z + q - x) % q;
}

static const char *make_bt(const struct pattern *p, int64_t element, decomposition *d)
{
    size_t q = p->dims[0];
    int64_t cells = (int64_t)q, n = (int64_t)p->dims[1];
    const array_grid grid = {
        .dims = 3, .size = {n, n, n}, .cells = {cells, cells, cells}, .element = element};
    const char *wrong = decomposition_grid(d, &grid);
    if (wrong != NULL)
        return wrong;
    for (size_t c = 0; c < q * q * q; c++)
        d->owner[c] = owner_of_cell(q, c / q / q, c / q % q, c % q);
    d->ranks = q * q;
    return NULL;
}

/* Contiguous blocks of 1 to 100 records, in an order that has nothing to do with the ranks. */
static const char *make_blocks(const struct pattern *p, int64_t element, decomposition *d)
{
    int64_t *records = allocate(p->ranks, sizeof *records);
    for (size_t k = 0; k < p->ranks; k++) {
        uint64_t state = k;
        records[k] = pick(&state, 1, 100);
    }
    const char *wrong = decomposition_unequal(d, records, p->ranks, 1, element);
    for (size_t k = 0; wrong == NULL && k < p->ranks; k++)
        d->owner[k] = (k * 7919 + 3) % p->ranks;
    free(records);
    return wrong;
}

static const struct {
    const char *kind;
    const char *(*make)(const struct pattern *p, int64_t element, decomposition *d);
} files[] = {{"array", make_array}, {"bt", make_bt}, {"blocks", make_blocks}};

/* False where the pattern is none of a file. */
static bool make_file(const struct pattern *p, int64_t element, decomposition *d)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(p->kind, files[i].kind) != 0)
            continue;
        const char *wrong = files[i].make(p, element, d);
        if (wrong != NULL)
            fail("views", wrong);
        if (decomposition_renumber(d, p->number) != 0)
            fail("views", "out of memory");
        return true;
    }
    return false;
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

static void add_noise(struct view_maker *m)
{
    size_t p = m->pattern->ranks;
    uint64_t state = 17 + p;
    for (size_t k = 0; k < 4 * p; k++)
        bind(m, (size_t)pick(&state, 0, (int64_t)p - 1), (size_t)pick(&state, 0, (int64_t)p - 1),
             pick(&state, 1, 5));
}

static bool make_by_file(struct view_maker *m)
{
    decomposition d;
    matrix view;
    if (!make_file(m->pattern, 1, &d))
        return false;
    if (decomposition_view(&d, &view) != 0 || matrix_builder_add_matrix(&m->builder, &view, 1) != 0)
        fail("views", "out of memory");
    matrix_release(&view);
    decomposition_release(&d);
    return true;
}

void pattern_view(const char *name, matrix *view)
{
    struct pattern p = parse(name);
    struct view_maker m = {&p, {.rows = p.ranks, .cols = p.ranks}, SIZE_MAX};
    if (strcmp(p.kind, "mesh") == 0)
        make_mesh(&m, false);
    else if (strcmp(p.kind, "torus") == 0)
        make_mesh(&m, true);
    else if (strcmp(p.kind, "random") == 0)
        make_random(&m, false);
    else if (strcmp(p.kind, "clusters") == 0)
        make_random(&m, true);
    else if (strcmp(p.kind, "uneven") == 0)
        make_uneven(&m);
    else if (!make_by_file(&m))
        fail("not a pattern", name);
    if (p.noisy)
        add_noise(&m);
    if (matrix_builder_finish(&m.builder, view) != 0)
        fail("views", "out of memory");
    matrix_builder_clear(&m.builder);
    free(p.number);
}

void pattern_profile(const char *name, size_t element, size_t unit, matrix *profile)
{
    struct pattern p = parse(name);
    decomposition d;
    if (!make_file(&p, (int64_t)element, &d))
        fail("no profile for this pattern", name);
    matrix_builder bytes = {.rows = p.ranks, .cols = units_of(d.bytes, (int64_t)unit)};
    if (add_units(&d, 0, (int64_t)unit, &bytes) != 0 || matrix_builder_finish(&bytes, profile) != 0)
        fail("views", "out of memory");
    matrix_builder_clear(&bytes);
    decomposition_release(&d);
    free(p.number);
}
