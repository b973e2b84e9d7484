/* SPDX-License-Identifier: BSD-3-Clause */
/* The workloads: layouts and steps by kind. All ranks draw the same random numbers. */
#include "workload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/seeded.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* ---- layouts and steps ---- */

static void reserve_steps(workload *w, int64_t layouts, int64_t steps)
{
    w->layouts = take_memory((size_t)layouts, sizeof *w->layouts);
    w->steps = take_memory((size_t)steps, sizeof *w->steps);
}

static layout *add_layout(workload *w)
{
    layout *l = &w->layouts[w->layout_count++];
    l->view = MPI_DATATYPE_NULL;
    return l;
}

static void append_run(layout *l, access_run run)
{
    run.stream = l->extents.bytes;
    if (access_append_run(&l->extents, &run) != 0)
        fail("memory", strerror(ENOMEM));
}

static void append_extent(layout *l, int64_t offset, int64_t length)
{
    if (length > 0)
        append_run(l, (access_run){offset, length, 0, 1, 0});
}

static layout *add_block(workload *w, int64_t offset, int64_t length)
{
    layout *l = add_layout(w);
    append_extent(l, offset, length);
    return l;
}

static void add_part(workload *w, step_kind kind, const layout *l, int64_t base, int64_t within,
                     int64_t bytes)
{
    if (bytes > INT_MAX)
        fail("--megabytes", "a rank's bytes of one call exceed an int");
    w->steps[w->step_count++] = (step){kind, l, base, within, bytes, w->bytes};
    w->bytes += bytes;
}

static void add_step(workload *w, step_kind kind, const layout *l, int64_t base)
{
    add_part(w, kind, l, base, 0, l->extents.bytes);
}

void workload_name(char name[WORKLOAD_NAME], size_t variable)
{
    snprintf(name, WORKLOAD_NAME, "variable%zu", variable);
}

static int64_t wanted_bytes(const workload *w)
{
    return w->megabytes * MIB;
}

static int64_t at_least_one(int64_t number)
{
    return number > 1 ? number : 1;
}

/* ---- an array ---- */

static void make_array(workload *w)
{
    part_make(&w->own, w->shape);
    reserve_steps(w, 1, 1);
    layout *l = add_layout(w);
    l->extents = access_borrow(&w->own.file);
    w->steps[w->step_count++] = (step){STEP_ARRAY, l, 0, 0, w->own.bytes, 0};
    w->bytes = w->own.bytes;
}

/* ---- contiguous, without a view ---- */

/* A block of each rank in turn, again and again: a call for each block. At most 3,200 blocks. */
static void make_segments(workload *w)
{
    int64_t length = w->kind->parameter, ranks = world_size;
    int64_t count = wanted_bytes(w) * 5 / 2 / (ranks * length);
    count = at_least_one(count < 3200 / ranks ? count : 3200 / ranks);
    reserve_steps(w, 1, count);
    const layout *l = add_block(w, world_rank * length, length);
    for (int64_t s = 0; s < count; s++)
        add_step(w, STEP_AT, l, s * ranks * length);
}

static void make_transfers(workload *w, step_kind kind, int64_t block)
{
    int64_t transfer = w->kind->parameter < block ? w->kind->parameter : block;
    int64_t segments = at_least_one(wanted_bytes(w) / (world_size * block));
    reserve_steps(w, 1, segments * (block / transfer));
    const layout *l = add_block(w, world_rank * block, transfer);
    for (int64_t s = 0; s < segments; s++)
        for (int64_t at = 0; at + transfer <= block; at += transfer)
            add_step(w, kind, l, s * world_size * block + at);
}

/* Blocks of 1 MiB in turn, each by several calls. */
static void make_transfers_at(workload *w)
{
    make_transfers(w, STEP_AT, MIB);
}

/* One block a rank, by several calls with the individual file pointer. */
static void make_transfers_pointer(workload *w)
{
    make_transfers(w, STEP_POINTER, at_least_one(wanted_bytes(w) / world_size));
}

/* One call for so many bytes of all ranks. */
static void make_small(workload *w)
{
    int64_t length = at_least_one(w->kind->parameter / world_size);
    reserve_steps(w, 1, 1);
    add_step(w, STEP_AT, add_block(w, world_rank * length, length), 0);
}

/* ---- with views ---- */

/* A record of each rank in turn; the view is set once, and accessed by four calls. */
static void make_records(workload *w)
{
    enum { CALLS = 4 };
    int64_t length = w->kind->parameter, stride = length * world_size;
    int64_t count = at_least_one(wanted_bytes(w) / stride / CALLS);
    reserve_steps(w, 1, CALLS);
    layout *l = add_layout(w);
    append_run(l, (access_run){world_rank * length, length, stride, count * CALLS, 0});
    for (int64_t i = 0; i < CALLS; i++)
        add_part(w, i == 0 ? STEP_VIEW : STEP_SAME_VIEW, l, 0, i * count * length, count * length);
}

/* Land cells, of 4 bytes, in runs of 1 to 16 dealt out at random; between stretches of land there
 * is sea, which is never written. */
static void lay_land(layout *l, int64_t cells, uint64_t seed)
{
    const int64_t cell = 4;
    uint64_t state = seed;
    for (int64_t at = 0; at < cells; at += pick(&state, 1, 360)) {
        int64_t runs = pick(&state, 1, 64);
        for (int64_t r = 0; r < runs && at < cells; r++) {
            int64_t count = pick(&state, 1, 16);
            count = count < cells - at ? count : cells - at;
            if (pick(&state, 0, world_size - 1) == world_rank)
                append_extent(l, at * cell, count * cell);
            at += count;
        }
    }
}

/* Columns of 8 bytes in runs of 1 to 5, all of them written. A band of the array belongs to a
 * quarter of the ranks, and one run of eight to any rank. */
static void lay_columns(layout *l, int64_t columns, uint64_t seed)
{
    const int64_t column = 8, bands = 32;
    int64_t few = world_size < 8 ? world_size : world_size / 4;
    uint64_t state = seed;
    for (int64_t at = 0; at < columns;) {
        int64_t count = pick(&state, 1, 5), band = at * bands / columns;
        int64_t owner = pick(&state, 0, few - 1) * (world_size / few) + band % (world_size / few);
        if (pick(&state, 0, 7) == 0)
            owner = pick(&state, 0, world_size - 1);
        count = count < columns - at ? count : columns - at;
        if (owner == world_rank)
            append_extent(l, at * column, count * column);
        at += count;
    }
}

/* Variables in two decompositions that alternate, each with its view. */
static void make_unstructured(workload *w, int64_t variables, int64_t elements, int64_t element,
                              void (*lay)(layout *, int64_t, uint64_t), uint64_t seed)
{
    reserve_steps(w, 2, variables);
    lay(add_layout(w), elements, seed);
    lay(add_layout(w), elements, seed + 1);
    for (int64_t v = 0; v < variables; v++)
        add_step(w, STEP_VIEW, &w->layouts[v % 2], v * elements * element);
}

/* Nearly six of ten cells are land. */
static void make_unstructured_holes(workload *w)
{
    enum { VARIABLES = 16 };
    int64_t cells = at_least_one(wanted_bytes(w) / VARIABLES / 4 * 10 / 6);
    make_unstructured(w, VARIABLES, cells, 4, lay_land, 1);
}

static void make_unstructured_runs(workload *w)
{
    enum { VARIABLES = 8 };
    int64_t columns = at_least_one(wanted_bytes(w) / VARIABLES / 8);
    make_unstructured(w, VARIABLES, columns, 8, lay_columns, 3);
}

/* The rank's block of an array cut over a grid, which this releases; all bytes of the array. */
static int64_t lay_box(layout *l, decomposition *d, array_box *box)
{
    const char *wrong = decomposition_grid(d);
    if (wrong != NULL)
        fail("--megabytes", wrong);
    if (decomposition_runs(d, (size_t)world_rank, &l->extents) != 0)
        fail("memory", strerror(ENOMEM));
    *box = decomposition_box(d, d->cell[d->first[world_rank]]);
    int64_t bytes = d->bytes;
    decomposition_release(d);
    return bytes;
}

/* Time steps of six variables of three shapes (levels, levels and one more, a surface), cut into
 * columns, of 4 bytes an element. */
static void make_variables(workload *w)
{
    enum { TIMES = 3, VARIABLES = 6, LEVELS = 32, SHAPES = 3 };
    static const int shape_of[VARIABLES] = {0, 1, 0, 2, 1, 0};
    static const int64_t levels[SHAPES] = {LEVELS, LEVELS + 1, 1};
    int64_t variable_bytes[SHAPES], cells[2], base = 0, side = 1;
    array_box box;
    balanced_grid((size_t)world_size, 2, cells);
    while ((side + 1) * (side + 1) * 4 * (5 * LEVELS + 3) * TIMES <= wanted_bytes(w))
        side++;
    side = side > cells[0] ? side : cells[0];
    reserve_steps(w, SHAPES, TIMES * VARIABLES);
    for (int s = 0; s < SHAPES; s++) {
        decomposition grid = {3, {levels[s], side, side}, {1, cells[0], cells[1]}, .element = 4};
        variable_bytes[s] = lay_box(add_layout(w), &grid, &box);
    }
    for (int i = 0; i < TIMES * VARIABLES; i++) {
        int which = shape_of[i % VARIABLES];
        add_step(w, STEP_VIEW, &w->layouts[which], base);
        base += variable_bytes[which];
    }
}

/* ---- particles ---- */

/* Dumps of text: a header of rank 0, then the lines of each rank, whose number differs by up to a
 * fifth, and by a hundredth from dump to dump. */
static void make_dumps(workload *w)
{
    enum { DUMPS = 8, HEADER = 256 };
    int64_t mean = at_least_one(wanted_bytes(w) / DUMPS / world_size), base = 0;
    reserve_steps(w, 2 * DUMPS, 2 * DUMPS);
    for (int d = 0; d < DUMPS; d++) {
        uint64_t sizes = 5, change = 6 + (uint64_t)d;
        int64_t end = HEADER;
        add_step(w, STEP_ALONE, add_block(w, 0, world_rank == 0 ? HEADER : 0), base);
        for (int r = 0; r < world_size; r++) {
            int64_t length = mean + pick(&sizes, -mean / 5, mean / 5);
            length += pick(&change, -length / 100, length / 100);
            if (r == world_rank)
                add_step(w, STEP_AT, add_block(w, end, length), base);
            end += length;
        }
        base += end;
    }
}

/* ---- HDF5, PnetCDF ---- */

static void add_variables(workload *w, int variables, int time_steps, int64_t variable_bytes)
{
    w->variables = variables;
    w->times = time_steps;
    for (int i = 0; i < variables * time_steps; i++)
        add_step(w, STEP_VIEW, &w->layouts[0], i * variable_bytes);
}

/* In one dimension: `count` blocks of a rank, dealt out in turn. */
static void make_line(workload *w, int variables, int64_t block, int64_t count)
{
    int64_t stride = block * world_size;
    reserve_steps(w, 1, variables);
    append_run(add_layout(w), (access_run){world_rank * block * 8, block * 8,
                                           count > 1 ? stride * 8 : 0, count, 0});
    w->selection =
        (hyperslab){1, {stride * count}, {world_rank * block}, {stride}, {count}, {block}};
    add_variables(w, variables, 1, stride * count * 8);
}

static void make_line_blocks(workload *w)
{
    enum { VARIABLES = 8 };
    make_line(w, VARIABLES, at_least_one(wanted_bytes(w) / VARIABLES / 8 / world_size), 1);
}

static void make_line_interleaved(workload *w)
{
    enum { VARIABLES = 4, BLOCK = 16 };
    make_line(w, VARIABLES, BLOCK,
              at_least_one(wanted_bytes(w) / VARIABLES / 8 / BLOCK / world_size));
}

/* In three dimensions: one box a rank. */
static void make_boxes(workload *w, decomposition *grid, int variables, int time_steps)
{
    array_box box;
    reserve_steps(w, 1, variables * time_steps);
    memcpy(w->selection.size, grid->size, sizeof w->selection.size);
    int64_t bytes = lay_box(add_layout(w), grid, &box);
    w->selection.dims = 3;
    for (int d = 0; d < 3; d++) {
        w->selection.start[d] = box.start[d];
        w->selection.count[d] = box.count[d];
        w->selection.stride[d] = w->selection.block[d] = 1;
    }
    add_variables(w, variables, time_steps, bytes);
}

/* Cut along the first dimension only, so that a rank's part is contiguous. The parameter is the
 * number of variables. */
static void make_slabs(workload *w)
{
    enum { SIDE = 32 };
    int64_t variables = w->kind->parameter, ranks = world_size;
    int64_t rows = at_least_one(wanted_bytes(w) / variables / 8 / SIDE / SIDE / ranks) * ranks;
    decomposition grid = {3, {rows, SIDE, SIDE}, {ranks, 1, 1}, .element = 8};
    make_boxes(w, &grid, (int)variables, 1);
}

/* A cube cut in all dimensions, in time steps of `parameter` variables. */
static void make_cubes(workload *w, int time_steps)
{
    int64_t side = 1, arrays = w->kind->parameter * time_steps;
    decomposition grid = {.dims = 3, .element = 8};
    while ((side + 1) * (side + 1) * (side + 1) * 8 * arrays <= wanted_bytes(w))
        side++;
    balanced_grid((size_t)world_size, 3, grid.cells);
    for (int d = 0; d < 3; d++)
        grid.size[d] = side > grid.cells[d] ? side : grid.cells[d];
    make_boxes(w, &grid, (int)w->kind->parameter, time_steps);
}

static void make_cubes_once(workload *w)
{
    make_cubes(w, 1);
}

static void make_cubes_in_time(workload *w)
{
    make_cubes(w, 3);
}

/* ---- MPI types ---- */

/* Records in turn are a type that repeats; anything else is indexed. */
static void make_view(layout *l)
{
    const access_list *list = &l->extents;
    if (list->count == 0) {
        MPI_Type_dup(MPI_BYTE, &l->view);
    } else if (list->count == 1) {
        MPI_Datatype block;
        MPI_Type_contiguous((int)list->run->length, MPI_BYTE, &block);
        MPI_Type_create_resized(
            block, 0, list->run->count > 1 ? list->run->stride : list->run->length, &l->view);
        MPI_Type_free(&block);
        l->displacement = list->run->offset;
    } else {
        int64_t blocks = access_blocks(list);
        int *lengths = take_memory((size_t)blocks, sizeof *lengths), count = 0;
        MPI_Aint *at = take_memory((size_t)blocks, sizeof *at);
        access_cursor cursor;
        access_piece piece;
        access_cursor_init(&cursor, list);
        while (access_take_piece(&cursor, ACCESS_END, &piece)) {
            lengths[count] = (int)piece.length;
            at[count++] = piece.offset;
        }
        MPI_Type_create_hindexed(count, lengths, at, MPI_BYTE, &l->view);
        free(lengths);
        free(at);
    }
    MPI_Type_commit(&l->view);
}

/* ---- all ---- */

static int64_t end_of_steps(const workload *w)
{
    int64_t end = 0;
    for (size_t i = 0; i < w->step_count; i++) {
        const step *s = &w->steps[i];
        int64_t upper = s->bytes == 0 ? 0 : s->base + access_upper(&s->layout->extents);
        end = upper > end ? upper : end;
    }
    return end;
}

void workload_make(workload *w)
{
    w->kind->make(w);
    for (size_t i = 0; w->kind->library->plain && i < w->step_count; i++)
        if (w->steps[i].kind == STEP_VIEW && w->steps[i].layout->view == MPI_DATATYPE_NULL)
            make_view(&w->layouts[w->steps[i].layout - w->layouts]);
    w->data_bytes = w->own.memory_bytes > w->bytes ? w->own.memory_bytes : w->bytes;
    w->data = take_memory((size_t)w->data_bytes, 1);
    w->end = end_of_steps(w);
    MPI_Allreduce(&w->bytes, &w->all_bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &w->end, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

void workload_release(workload *w)
{
    for (size_t i = 0; i < w->layout_count; i++) {
        if (w->layouts[i].view != MPI_DATATYPE_NULL)
            MPI_Type_free(&w->layouts[i].view);
        if (w->own.array.ranks == 0)
            access_release(&w->layouts[i].extents);
    }
    if (w->own.array.ranks > 0)
        part_release(&w->own);
    free(w->layouts);
    free(w->steps);
    free(w->data);
}

const workload_kind workload_kinds[] = {
    {"array", "an array, as --kind and what is below it say", &workload_array, make_array, 0, 1},
    {"segments-4096", "a block of 4,096 bytes of each rank in turn, a call a block, no view",
     &workload_mpiio, make_segments, 4096, 1},
    {"segments-47008", "the same with blocks of 47,008 bytes (ior-hard)", &workload_mpiio,
     make_segments, 47008, 1},
    {"segments-65536", "the same with blocks of 64 KiB", &workload_mpiio, make_segments, 65536, 1},
    {"transfers-64k", "blocks of 1 MiB of each rank in turn, 16 calls a block, no view (IOR)",
     &workload_mpiio, make_transfers_at, 64 * KIB, 1},
    {"transfers-1m", "one block a rank, calls of 1 MiB with the individual file pointer (IOR)",
     &workload_mpiio, make_transfers_pointer, MIB, 1},
    {"records-64", "records of 64 bytes of each rank in turn, one view, 4 calls", &workload_mpiio,
     make_records, 64, 1},
    {"records-1024", "the same with records of 1,024 bytes", &workload_mpiio, make_records, 1024,
     1},
    {"unstructured-holes", "16 variables, small pieces and holes, a view each (E3SM-IO, I case)",
     &workload_mpiio, make_unstructured_holes, 0, 1},
    {"unstructured-runs", "8 variables, small runs without holes, a view each (E3SM-IO, F case)",
     &workload_mpiio, make_unstructured_runs, 0, 1},
    {"variables", "3 time steps of 6 variables of 3 shapes, a view each (WRF-IO)", &workload_mpiio,
     make_variables, 0, 1},
    {"particles", "8 dumps, different bytes of each rank, explicit offsets (LAMMPS custom/mpiio)",
     &workload_mpiio, make_dumps, 0, 1},
    {"small-64", "64 bytes of all ranks, one call", &workload_mpiio, make_small, 64, 5},
    {"small-1k", "1 KiB of all ranks, one call", &workload_mpiio, make_small, KIB, 5},
    {"small-16k", "16 KiB of all ranks, one call", &workload_mpiio, make_small, 16 * KIB, 5},
    {"small-256k", "256 KiB of all ranks, one call", &workload_mpiio, make_small, 256 * KIB, 5},
    {"small-1m", "1 MiB of all ranks, one call", &workload_mpiio, make_small, MIB, 5},
    {"small-4m", "4 MiB of all ranks, one call", &workload_mpiio, make_small, 4 * MIB, 5},
#ifdef HAVE_HDF5
    {"hdf5-1d", "8 datasets, a contiguous part of each rank (h5bench)", &workload_hdf5,
     make_line_blocks, 0, 1},
    {"hdf5-1d-interleaved", "4 datasets, 16 elements of each rank in turn (h5bench)",
     &workload_hdf5, make_line_interleaved, 0, 1},
    {"hdf5-3d", "2 datasets in 3 dimensions, cut along the first (h5bench)", &workload_hdf5,
     make_slabs, 2, 1},
    {"hdf5-3d-blocks", "2 datasets in 3 dimensions, cut along all", &workload_hdf5, make_cubes_once,
     2, 1},
#endif
#ifdef HAVE_PNETCDF
    {"pnetcdf-slabs", "24 variables, contiguous parts, iput and one wait_all (FLASH-IO)",
     &workload_pnetcdf, make_slabs, 24, 1},
    {"pnetcdf-blocks", "3 time steps of 4 variables cut in 3 dimensions, iput and wait_all",
     &workload_pnetcdf, make_cubes_in_time, 4, 1},
#endif
    {NULL, NULL, NULL, NULL, 0, 0},
};
