/* SPDX-License-Identifier: BSD-3-Clause */
#include "generate.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/seeded.h"

#define MAX_BLOCKS 8
#define LARGE 2048 /* bytes of extent from which a filetype is not nested further */

uint64_t rng_next(struct rng *r)
{
    return next_random(&r->state);
}

uint64_t rng_mix(uint64_t a, uint64_t b)
{
    struct rng r = {a};
    r.state = rng_next(&r) ^ b;
    return rng_next(&r);
}

int rng_below(struct rng *r, int n)
{
    return (int)(rng_next(r) % (uint64_t)n);
}

int rng_between(struct rng *r, int low, int high)
{
    return low + rng_below(r, high - low + 1);
}

bool rng_chance(struct rng *r, int percent)
{
    return rng_below(r, 100) < percent;
}

void view_free(struct view *v)
{
    layout_free(&v->file);
    layout_free(&v->etype);
}

/* Gives back `next` and releases what it was made from. */
static struct layout replace(struct layout *old, struct layout next)
{
    layout_free(old);
    return next;
}

static struct layout basic(int kind)
{
    switch (kind) {
    case 0: return layout_basic(MPI_BYTE, 1);
    case 1: return layout_basic(MPI_SHORT, 2);
    case 2: return layout_basic(MPI_INT, 4);
    default: return layout_basic(MPI_DOUBLE, 8);
    }
}

static struct layout generate_etype(struct rng *r)
{
    struct layout l = basic(rng_below(r, 4));
    switch (rng_below(r, 8)) {
    case 0: return replace(&l, layout_contiguous(rng_between(r, 2, 5), &l));
    case 1: return replace(&l, layout_vector(2, 1, 2, &l));
    case 2: return replace(&l, layout_resized(0, l.extent * 3, &l));
    default: return l;
    }
}

/* Blocks in ascending order, with gaps between some of them. */
static int ascending_blocks(struct rng *r, int *length, int *displacement)
{
    int count = rng_between(r, 1, MAX_BLOCKS), at = rng_below(r, 3);
    for (int i = 0; i < count; i++) {
        length[i] = rng_between(r, 1, 3);
        displacement[i] = at;
        at += length[i] + rng_below(r, 4);
    }
    return count;
}

static struct layout indexed(struct rng *r, const struct layout *old)
{
    int length[MAX_BLOCKS], displacement[MAX_BLOCKS];
    int count = ascending_blocks(r, length, displacement);
    return layout_indexed(count, length, displacement, old);
}

/* Displacements in odd numbers of bytes, which only a struct or an hindexed can have. */
static struct layout structure(struct rng *r, const struct layout *old)
{
    int length[MAX_BLOCKS], unit[MAX_BLOCKS];
    MPI_Aint displacement[MAX_BLOCKS];
    int count = ascending_blocks(r, length, unit), shift = 0;
    for (int i = 0; i < count; i++) {
        displacement[i] = unit[i] * old->extent + shift;
        shift += rng_below(r, 4);
    }
    return layout_struct(count, length, displacement, old);
}

static struct layout subarray(struct rng *r, const struct layout *old)
{
    int dims = rng_between(r, 1, 3), size[3], subsize[3], start[3];
    for (int d = 0; d < dims; d++) {
        size[d] = rng_between(r, 1, 5);
        subsize[d] = rng_between(r, 1, size[d]);
        start[d] = rng_below(r, size[d] - subsize[d] + 1);
    }
    return layout_subarray(dims, size, subsize, start,
                           rng_chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old);
}

/* A type over `old` that is right in a filetype: no negative displacement, offsets ascend. */
static struct layout ascending_type(struct rng *r, const struct layout *old)
{
    int block = rng_between(r, 1, 3);
    switch (rng_below(r, 6)) {
    case 0: return layout_contiguous(rng_between(r, 1, 6), old);
    case 1: return layout_vector(rng_between(r, 1, 6), block, block + rng_below(r, 4), old);
    case 2: return indexed(r, old);
    case 3: return structure(r, old);
    case 4: return subarray(r, old);
    default: return layout_resized(0, old->lb + old->extent + rng_below(r, 3) * old->extent, old);
    }
}

static struct layout nested_type(struct rng *r, const struct layout *etype)
{
    struct layout l = ascending_type(r, etype);
    for (int depth = rng_below(r, 3); depth > 0 && l.extent < LARGE; depth--)
        l = replace(&l, ascending_type(r, &l));
    return l;
}

/* Elements owner[i] == rank of a tile of `length` etypes, as an indexed type or a struct. */
static struct layout owned_elements(const int *owner, int length, int rank, bool as_struct,
                                    const struct layout *etype)
{
    int *block = checked_alloc((size_t)length, sizeof *block);
    int *at = checked_alloc((size_t)length, sizeof *at);
    MPI_Aint *bytes = checked_alloc((size_t)length, sizeof *bytes);
    int count = 0;
    for (int i = 0; i < length; i++) {
        if (owner[i] != rank)
            continue;
        if (count > 0 && at[count - 1] + block[count - 1] == i) {
            block[count - 1]++;
            continue;
        }
        at[count] = i;
        bytes[count] = i * etype->extent;
        block[count++] = 1;
    }
    struct layout l = count == 0  ? layout_contiguous(0, etype)
                      : as_struct ? layout_struct(count, block, bytes, etype)
                                  : layout_indexed(count, block, at, etype);
    free(bytes);
    free(at);
    free(block);
    return l;
}

/* Resizes to the whole tile; a type without data stays as it is. */
static struct layout fit_tile(struct layout *l, int64_t extent)
{
    return l->size == 0 ? *l : replace(l, layout_resized(0, extent, l));
}

static void tile_random(struct rng *r, int ranks, struct view *view)
{
    int length = rng_between(r, 1, 12 * ranks),
        *owner = checked_alloc((size_t)length, sizeof *owner);
    bool as_struct = rng_chance(r, 50);
    for (int i = 0; i < length; i++)
        owner[i] = i > 0 && rng_chance(r, 50) ? owner[i - 1] : rng_below(r, ranks + 1) - 1;
    for (int i = 0; i < ranks; i++) {
        view[i].file = owned_elements(owner, length, i, as_struct, &view[i].etype);
        view[i].file = fit_tile(&view[i].file, length * view[i].etype.extent);
    }
    free(owner);
}

/* Each rank its own displacement and the same vector. */
static void tile_cyclic(struct rng *r, int ranks, struct view *view)
{
    int count = rng_between(r, 1, 5), block = rng_between(r, 1, 4), gap = rng_below(r, 3);
    int stride = ranks * block + gap;
    for (int i = 0; i < ranks; i++) {
        view[i].file = layout_vector(count, block, stride, &view[i].etype);
        view[i].file = fit_tile(&view[i].file, (int64_t)count * stride * view[i].etype.extent);
        view[i].disp += (int64_t)i * block * view[i].etype.extent;
    }
}

/* Blocks of a process grid, within an array that may have a margin. */
static void tile_subarray(struct rng *r, int ranks, struct view *view)
{
    int dims = rng_between(r, 1, 3), grid[3] = {0}, side[3], margin[3], size[3], subsize[3],
        start[3];
    int order = rng_chance(r, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Dims_create(ranks, dims, grid);
    for (int d = 0; d < dims; d++) {
        side[d] = rng_between(r, 1, 4);
        margin[d] = rng_below(r, 3);
        size[d] = grid[d] * side[d] + margin[d] + rng_below(r, 2);
        subsize[d] = side[d];
    }
    for (int i = 0; i < ranks; i++) {
        for (int d = dims - 1, rest = i; d >= 0; rest /= grid[d], d--)
            start[d] = margin[d] + rest % grid[d] * side[d];
        view[i].file = layout_subarray(dims, size, subsize, start, order, &view[i].etype);
    }
}

/* Two-dimensional block-cyclic distribution: a vector of rows, each a vector. */
static void tile_block_cyclic(struct rng *r, int ranks, struct view *view)
{
    int grid[2] = {0}, block[2], times[2];
    MPI_Dims_create(ranks, 2, grid);
    for (int d = 0; d < 2; d++) {
        block[d] = rng_between(r, 1, 3);
        times[d] = rng_between(r, 1, 3);
    }
    int64_t row = (int64_t)times[1] * block[1] * grid[1],
            rows = (int64_t)times[0] * block[0] * grid[0];
    for (int i = 0; i < ranks; i++) {
        const struct layout *etype = &view[i].etype;
        struct layout l = layout_vector(times[1], block[1], block[1] * grid[1], etype);
        l = replace(&l, layout_resized(0, row * etype->extent, &l));
        l = replace(&l, layout_vector(times[0], block[0], block[0] * grid[0], &l));
        MPI_Aint from = (i / grid[1] * block[0] * row + i % grid[1] * block[1]) * etype->extent;
        l = replace(&l, layout_struct(1, (int[]){1}, &from, &l));
        view[i].file = replace(&l, layout_resized(0, rows * row * etype->extent, &l));
    }
}

/* Ranks without data: their part of the tile becomes a hole. */
static void empty_some(struct rng *r, int ranks, struct view *view)
{
    for (int i = 0; i < ranks; i++)
        if (rng_chance(r, 25)) {
            layout_free(&view[i].file);
            view[i].file = layout_contiguous(0, &view[i].etype);
        }
}

void generate_tiled(struct rng *r, int ranks, struct view *view)
{
    int64_t disp = rng_chance(r, 50) ? rng_below(r, 500) : 0;
    struct rng same = *r;
    for (int i = 0; i < ranks; i++) {
        *r = same;
        view[i].etype = generate_etype(r);
        view[i].disp = disp;
    }
    switch (rng_below(r, 4)) {
    case 0: tile_random(r, ranks, view); break;
    case 1: tile_cyclic(r, ranks, view); break;
    case 2: tile_subarray(r, ranks, view); break;
    default: tile_block_cyclic(r, ranks, view); break;
    }
    if (rng_chance(r, 15))
        empty_some(r, ranks, view);
}

static int64_t span(const struct view *v, int64_t etypes)
{
    int64_t low, high, elements = (etypes * v->etype.size + v->file.size - 1) / v->file.size;
    layout_hull(&v->file, elements, &low, &high);
    return high;
}

void generate_regions(struct rng *r, int ranks, int64_t etypes, struct view *view)
{
    int64_t disp = rng_chance(r, 50) ? rng_below(r, 500) : 0;
    for (int i = 0; i < ranks; i++) {
        view[i].etype = generate_etype(r);
        view[i].file = nested_type(r, &view[i].etype);
        view[i].disp = disp;
        disp += span(&view[i], etypes) + (rng_chance(r, 30) ? rng_below(r, 100) : 0);
    }
}

void generate_overlapping(struct rng *r, int ranks, struct view *view)
{
    for (int i = 0; i < ranks; i++) {
        view[i].etype = generate_etype(r);
        view[i].file = nested_type(r, &view[i].etype);
        view[i].disp = rng_below(r, 200);
    }
}

void generate_default(int ranks, struct view *view)
{
    for (int i = 0; i < ranks; i++)
        view[i] = (struct view){layout_basic(MPI_BYTE, 1), layout_basic(MPI_BYTE, 1), 0};
}

/* The etype's data without its holes: the same basic type where it is one, else bytes. */
static struct layout memory_unit(const struct layout *etype)
{
    struct layout byte = layout_basic(MPI_BYTE, 1);
    if (etype->predefined) {
        layout_free(&byte);
        return layout_basic(etype->type, etype->size);
    }
    return replace(&byte, layout_contiguous((int)etype->size, &byte));
}

/* Single elements in any order, some at negative displacements. */
static struct layout shuffled(struct rng *r, const struct layout *unit, int *etypes)
{
    int count = rng_between(r, 1, MAX_BLOCKS), length[MAX_BLOCKS], at[MAX_BLOCKS],
        below = rng_below(r, 10);
    *etypes = 0;
    for (int i = 0; i < count; i++) {
        length[i] = rng_between(r, 1, 3);
        at[i] = 4 * i - below;
        *etypes += length[i];
    }
    for (int i = count - 1; i > 0; i--) {
        int j = rng_below(r, i + 1), swap = at[i];
        at[i] = at[j];
        at[j] = swap;
    }
    return layout_indexed(count, length, at, unit);
}

/* A column of a row-major matrix, resized so that `columns` of them interleave. */
static struct layout column(struct rng *r, const struct layout *unit, int *etypes, int *most)
{
    *etypes = rng_between(r, 1, 8);
    *most = rng_between(r, 1, 8);
    struct layout l = layout_vector(*etypes, 1, *most, unit);
    return replace(&l, layout_resized(0, unit->extent, &l));
}

static struct layout widened(struct rng *r, const struct layout *unit, int *etypes)
{
    int64_t below = rng_below(r, 20);
    *etypes = rng_between(r, 1, 4);
    struct layout l = layout_contiguous(*etypes, unit);
    return replace(&l, layout_resized(-below, below + l.extent + rng_below(r, 20), &l));
}

static struct layout matrix_part(struct rng *r, const struct layout *unit, int *etypes)
{
    struct layout l = subarray(r, unit);
    *etypes = (int)(l.size / unit->size);
    return l;
}

/* Backwards never without a gap: Open MPI 4.1 takes a vector of single bytes with stride
 * -1 for contiguous ones, with lower bound 0 (MPI_Type_get_extent shows it). */
static struct layout vector_of_blocks(struct rng *r, const struct layout *unit, bool backwards,
                                      int *etypes)
{
    int count = rng_between(r, 1, 8), block = rng_between(r, 1, 3);
    int stride = block + rng_below(r, 4) + backwards;
    *etypes = count * block;
    return layout_vector(count, block, backwards ? -stride : stride, unit);
}

struct layout generate_memory(struct rng *r, const struct layout *etype, int *etypes, int *most)
{
    struct layout unit = memory_unit(etype);
    *most = INT_MAX;
    *etypes = 1;
    switch (rng_below(r, 9)) {
    case 0:
    case 1: return unit;
    case 2:
        *etypes = rng_between(r, 1, 50);
        return replace(&unit, layout_contiguous(*etypes, &unit));
    case 3: return replace(&unit, vector_of_blocks(r, &unit, false, etypes));
    case 4: return replace(&unit, vector_of_blocks(r, &unit, true, etypes));
    case 5: return replace(&unit, shuffled(r, &unit, etypes));
    case 6: return replace(&unit, column(r, &unit, etypes, most));
    case 7: return replace(&unit, widened(r, &unit, etypes));
    default: return replace(&unit, matrix_part(r, &unit, etypes));
    }
}

/* --- programs of random cases --- */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct cases *c = state->input;
    char *end = text;
    switch (key) {
    case ARGP_KEY_INIT: c->dir = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp"; return 0;
    case 's': c->seed = strtoull(text, &end, 0); break;
    case 'f': c->first = (int)strtol(text, &end, 10); break;
    case 'n': c->cases = (int)strtol(text, &end, 10); break;
    case 'l': c->large = (int)strtol(text, &end, 10); break;
    case 'k': c->forms = (int)strtol(text, &end, 10); break;
    case 'd': c->dir = text; return 0;
    case ARGP_KEY_ARG: argp_usage(state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (end == text || *end != '\0')
        argp_error(state, "'%s' is not a number", text);
    return 0;
}

static const struct argp_option options[] = {
    {"seed", 's', "S", 0, "Seed of all cases (1)", 0},
    {"first", 'f', "N", 0, "Number of the first case (0)", 0},
    {"cases", 'n', "N", 0, "How many cases (100)", 0},
    {"large", 'l', "P", 0, "Per cent of the cases that move megabytes", 0},
    {"forms", 'k', "N", 0,
     "1: blocking calls; 2: split ones, too; 3: non-blocking ones, too; 4: by several threads (1)",
     0},
    {"dir", 'd', "DIR", 0, "Where the files go ($TMPDIR or /tmp)", 0},
    {0},
};
static const struct argp parser = {.options = options, .parser = parse_option};
const struct argp_child cases_options[] = {{&parser, 0, NULL, 0}, {0}};

int cases_run(const struct cases *c,
              void (*run)(const struct cases *c, int number, char failure[FAILURE_ROOM]))
{
    const char *fcoll = getenv("OMPI_MCA_fcoll");
    int rank, ranks, first;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = c->first; i < c->first + c->cases; i++) {
        char failure[FAILURE_ROOM] = "";
        run(c, i, failure);
        int own = failure[0] != '\0' ? rank : ranks;
        MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (first == rank)
            printf("%s: seed %" PRIu64 " case %d rank %d: %s\nreplay: mpirun -np %d%s%s %s "
                   "--seed %" PRIu64 " --first %d --cases 1 --large %d --forms %d\n",
                   c->program, c->seed, i, rank, failure, ranks,
                   fcoll != NULL ? " --mca fcoll " : "", fcoll != NULL ? fcoll : "", c->command,
                   c->seed, i, c->large, c->forms);
        fflush(stdout);
        if (first < ranks)
            return 1;
    }
    if (rank == 0)
        printf("%s: %d cases right, seed %" PRIu64 ", %d ranks\n", c->program, c->cases, c->seed,
               ranks);
    return 0;
}

void set_number(MPI_Info info, const char *key, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    if (number > 0)
        MPI_Info_set(info, key, text);
}
