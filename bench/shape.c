/* SPDX-License-Identifier: BSD-3-Clause */
/* Access patterns by kind and size. */
#include "shape.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/seeded.h"

static const char no_memory[] = "out of memory";

/* ---- kinds ---- */

/* Cells in each dimension as given or balanced. */
static const char *take_grid(const shape *s, size_t ranks, decomposition *d)
{
    int64_t cells = 1;
    memcpy(d->cells, s->grid, sizeof d->cells);
    if (s->grid_dims == 0)
        balanced_grid(ranks, d->dims, d->cells);
    else if (s->grid_dims != d->dims)
        return "--grid has another number of dimensions than the array";
    for (int k = 0; k < d->dims; k++)
        if (__builtin_mul_overflow(cells, d->cells[k], &cells))
            return "--grid is too large";
    return (size_t)cells == ranks ? NULL : "the product of --grid is not the number of ranks";
}

/* One number stands for all dimensions. Tiles have the size of a cell. */
static const char *make_blocks(const shape *s, size_t ranks, decomposition *d)
{
    int dims = s->kind->usual.dims > 0 ? s->kind->usual.dims : s->size_dims;
    *d = (decomposition){.dims = dims, .element = s->element};
    if (s->size_dims != dims && s->size_dims != 1)
        return "--size has another number of dimensions than the array";
    const char *wrong = take_grid(s, ranks, d);
    for (int k = 0; wrong == NULL && k < dims; k++)
        if (__builtin_mul_overflow(s->size[s->size_dims == 1 ? 0 : k],
                                   s->kind->usual.tiles ? d->cells[k] : 1, &d->size[k]))
            return "the tiles are too large";
    return wrong == NULL ? decomposition_grid(d) : wrong;
}

static const char *make_btio(const shape *s, size_t ranks, decomposition *d)
{
    if (s->size_dims != 1 || s->grid_dims != 0)
        return "a multipartition has one --size and no --grid";
    return decomposition_multipartition(d, s->size[0], ranks, s->element);
}

/* Half to one and a half times --size particles a rank. */
static const char *make_dump(const shape *s, size_t ranks, decomposition *d)
{
    uint64_t state = 20130915;
    int64_t *count = calloc(ranks | 1, sizeof *count);
    if (count == NULL)
        return no_memory;
    for (size_t r = 0; r < ranks; r++)
        count[r] = pick(&state, s->size[0] - s->size[0] / 2, s->size[0] + s->size[0] / 2);
    const char *wrong =
        s->size_dims != 1 || s->grid_dims != 0
            ? "a dump has one --size, the mean number of particles of a rank, and no --grid"
            : decomposition_unequal(d, count, ranks, s->variables, s->element);
    free(count);
    return wrong;
}

static const shape_kind kinds[] = {
    {"cube",
     "a 3-D array: --size elements in each dimension (256), cut over --grid ranks",
     {.dims = 3, .size_dims = 1, .size = {256}, .element = 8},
     make_blocks},
    {"btio",
     "NAS BT-IO: a cube of --size points in each dimension (64, as class A), each of 5 doubles",
     {.size_dims = 1, .size = {64}, .element = 40},
     make_btio},
    {"tile",
     "a 2-D array of --grid tiles, each of --size elements (768x800 of 1 KiB)",
     {.dims = 2, .tiles = true, .size_dims = 2, .size = {768, 800}, .element = 1024},
     make_blocks},
    {"lattice",
     "a 4-D lattice: --size sites in each dimension (32), cut over --grid ranks; a site is 288 "
     "bytes",
     {.dims = 4, .size_dims = 1, .size = {32}, .element = 288},
     make_blocks},
    {"dump",
     "particles: --size of them a rank on average (100000), each of 7 doubles, one variable after "
     "the other",
     {.size_dims = 1, .size = {100000}, .element = 8, .variables = 7},
     make_dump},
    {"array",
     "an array of as many dimensions as --size has numbers (256x256x256), cut over --grid ranks",
     {.size_dims = 3, .size = {256, 256, 256}, .element = 8},
     make_blocks},
};

const shape_kind *shape_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* The communicator of the modified Tile I/O: an order that no placement by rank numbers meets. */
static const char *reorder_ranks(decomposition *d)
{
    uint64_t state = 17;
    size_t *to = calloc(d->ranks | 1, sizeof *to);
    if (to == NULL)
        return no_memory;
    for (size_t r = 0; r < d->ranks; r++)
        to[r] = r;
    for (size_t r = d->ranks; r > 1; r--) {
        size_t other = (size_t)pick(&state, 0, (int64_t)r - 1), kept = to[r - 1];
        to[r - 1] = to[other];
        to[other] = kept;
    }
    int rc = decomposition_renumber(d, to);
    free(to);
    return rc == 0 ? NULL : no_memory;
}

static shape completed(const shape *s)
{
    shape c = *s;
    const shape *usual = &s->kind->usual;
    if (c.size_dims == 0) {
        c.size_dims = usual->size_dims;
        memcpy(c.size, usual->size, sizeof c.size);
    }
    c.element = c.element == 0 ? usual->element : c.element;
    c.variables = c.variables == 0 ? usual->variables : c.variables;
    return c;
}

const char *shape_make(const shape *s, size_t ranks, decomposition *d)
{
    shape c = completed(s);
    const char *wrong = c.kind->make(&c, ranks, d);
    if (wrong == NULL && s->reorder && (wrong = reorder_ranks(d)) != NULL)
        decomposition_release(d);
    return wrong;
}

/* ---- options ---- */

int shape_parse_dims(const char *text, int64_t value[DECOMPOSITION_DIMS])
{
    for (int d = 0; d < DECOMPOSITION_DIMS; d++) {
        char *end;
        errno = 0;
        value[d] = strtoll(text, &end, 10);
        if (end == text || errno != 0 || value[d] <= 0 || value[d] > INT_MAX)
            return 0;
        if (*end == '\0')
            return d + 1;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
    return 0;
}

int64_t shape_parse_number(struct argp_state *state, const char *option, const char *text,
                           int64_t least)
{
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > INT_MAX)
        argp_error(state, "%s wants a number of at least %" PRId64 ", not '%s'", option, least,
                   text);
    return value;
}

const shape_kind *shape_parse_kind(struct argp_state *state, const char *text)
{
    const shape_kind *kind = shape_find(text);
    if (kind == NULL)
        argp_error(state, "--kind wants cube, btio, tile, lattice, dump or array, not '%s'", text);
    return kind;
}

void shape_print_dims(const int64_t *value, int dims, char text[SHAPE_DIMS_TEXT])
{
    size_t used = 0;
    for (int d = 0; d < dims; d++)
        used += (size_t)snprintf(text + used, SHAPE_DIMS_TEXT - used, "%s%" PRId64,
                                 d > 0 ? "x" : "", value[d]);
}

static void take_dims(struct argp_state *state, const char *option, const char *text, int *dims,
                      int64_t *value)
{
    *dims = shape_parse_dims(text, value);
    if (*dims == 0)
        argp_error(state, "%s wants up to %d numbers like 64x64x64, not '%s'", option,
                   DECOMPOSITION_DIMS, text);
}

enum { KEY_REORDER = 0x500 };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    shape *s = state->input;
    switch (key) {
    case 's': take_dims(state, "--size", text, &s->size_dims, s->size); break;
    case 'g': take_dims(state, "--grid", text, &s->grid_dims, s->grid); break;
    case 'e': s->element = shape_parse_number(state, "--element", text, 1); break;
    case KEY_REORDER: s->reorder = true; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option option_table[] = {
    {"size", 's', "AxBx...", 0, "Elements in each dimension, slowest first; one number is for all",
     0},
    {"grid", 'g', "AxBx...", 0, "Ranks in each dimension, in C order (as equal as they can be)", 0},
    {"element", 'e', "BYTES", 0, "Bytes of an element", 0},
    {"reorder", KEY_REORDER, NULL, 0,
     "Ranks in another order (at random, always the same): with tile, the modified Tile I/O", 0},
    {0},
};

const struct argp shape_argp = {.options = option_table, .parser = parse_option};
