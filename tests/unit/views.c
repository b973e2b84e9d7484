/* SPDX-License-Identifier: BSD-3-Clause */
/* Access patterns by name. */
#include "views.h"

#include "../../bench/decomposition.h"
#include "seeded.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
    bool mesh, shuffled, reversed;
    size_t ndims;
    size_t dims[DECOMPOSITION_DIMS], count[DECOMPOSITION_DIMS]; /* behind the two colons */
    size_t ranks;
    size_t *number; /* of the rank at each place */
};

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "views: %s\n", what);
        exit(EXIT_FAILURE);
    }
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
    char *end;
    do {
        need(count < DECOMPOSITION_DIMS, *text);
        number[count++] = strtoull(*text, &end, 10);
        need(end > *text && number[count - 1] > 0, *text);
        *text = end + (*end != '\0');
    } while (*end == 'x');
    return count;
}

/* With the first dimension running fastest. */
static size_t reversed_number(const struct pattern *p, size_t place)
{
    size_t number = 0, extent = p->ranks;
    for (size_t d = p->ndims; d-- > 0; place /= p->dims[d]) {
        extent /= p->dims[d];
        number += place % p->dims[d] * extent;
    }
    return number;
}

static void number_ranks(struct pattern *p)
{
    uint64_t state = 20261120 + p->ranks;
    p->number = calloc(p->ranks, sizeof *p->number);
    need(p->number != NULL, "out of memory");
    for (size_t place = 0; place < p->ranks; place++)
        p->number[place] = p->reversed ? reversed_number(p, place) : place;
    for (size_t k = p->ranks; p->shuffled && k > 1; k--) {
        size_t other = (size_t)pick(&state, 0, (int64_t)k - 1), kept = p->number[k - 1];
        p->number[k - 1] = p->number[other];
        p->number[other] = kept;
    }
}

static struct pattern parse(const char *text)
{
    struct pattern p = {.ranks = 1};
    p.shuffled = take_prefix(&text, "shuffled-");
    p.reversed = take_prefix(&text, "reversed-");
    p.mesh = take_prefix(&text, "mesh:");
    need(p.mesh || take_prefix(&text, "array:"), text);
    p.ndims = read_numbers(&text, p.dims);
    need(read_numbers(&text, p.count) == p.ndims && *text == '\0', text);
    for (size_t d = 0; d < p.ndims; d++)
        p.ranks *= p.dims[d];
    number_ranks(&p);
    return p;
}

/* ---- patterns ---- */

static void make_file(const struct pattern *p, size_t element, decomposition *d)
{
    *d = (decomposition){.dims = (int)p->ndims, .element = (int64_t)element};
    for (size_t k = 0; k < p->ndims; k++) {
        d->cells[k] = (int64_t)p->dims[k];
        d->size[k] = (int64_t)(p->dims[k] * p->count[k]);
    }
    const char *wrong = decomposition_grid(d);
    need(wrong == NULL, wrong);
    need(decomposition_renumber(d, p->number) == 0, "out of memory");
}

static void bind(const struct pattern *p, matrix_builder *b, size_t at, size_t next, size_t value)
{
    size_t from = p->number[at], to = p->number[next];
    need(matrix_builder_add(b, from, to, (int64_t)value) == 0 &&
             matrix_builder_add(b, to, from, (int64_t)value) == 0,
         "out of memory");
}

static void make_mesh(const struct pattern *p, matrix *view)
{
    matrix_builder b = {.rows = p->ranks, .cols = p->ranks};
    for (size_t place = 0; place < p->ranks; place++) {
        size_t stride = 1;
        for (size_t d = p->ndims; d-- > 0; stride *= p->dims[d])
            if (place / stride % p->dims[d] + 1 < p->dims[d])
                bind(p, &b, place, place + stride, p->count[d]);
    }
    need(matrix_builder_finish(&b, view) == 0, "out of memory");
    matrix_builder_clear(&b);
}

void pattern_view(const char *name, matrix *view)
{
    struct pattern p = parse(name);
    decomposition d;
    if (p.mesh) {
        make_mesh(&p, view);
    } else {
        make_file(&p, 1, &d);
        need(decomposition_view(&d, view) == 0, "out of memory");
        decomposition_release(&d);
    }
    free(p.number);
}

void pattern_profile(const char *name, size_t element, size_t unit, matrix *profile)
{
    struct pattern p = parse(name);
    decomposition d;
    make_file(&p, element, &d);
    need(decomposition_profile(&d, (int64_t)unit, profile) == 0, "out of memory");
    decomposition_release(&d);
    free(p.number);
}
