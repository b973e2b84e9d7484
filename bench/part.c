/* SPDX-License-Identifier: BSD-3-Clause */
/* What one rank accesses, as runs, MPI types and bytes. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "part.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parallel.h"

#define CHECK_PIECE ((int64_t)1 << 20) /* bytes compared at a time */

/* ---- runs ---- */

/* With a halo, rows of the innermost dimension are all that is contiguous in memory. */
static const char *list_memory(part *p)
{
    const decomposition *a = &p->array;
    p->inside = decomposition_box(a, a->cell[a->first[world_rank]]);
    p->memory_bytes = a->element;
    for (int d = 0; d < a->dims; d++) {
        p->inside.start[d] = p->shape->halo;
        if (__builtin_add_overflow(p->inside.count[d], 2 * p->shape->halo, &p->held[d]) ||
            __builtin_mul_overflow(p->memory_bytes, p->held[d], &p->memory_bytes))
            return "a rank's block is too large";
    }
    return array_box_runs(a, p->held, &p->inside, &p->memory) == 0 ? NULL : "out of memory";
}

static const char *list_part(part *p)
{
    const decomposition *a = &p->array;
    size_t rank = (size_t)world_rank;
    if (p->shape->tiled && (a->dims < 2 || a->cells[0] != 1))
        return "a tiled array needs two dimensions, the first of them not cut";
    if (p->shape->halo > 0 && a->first[rank + 1] - a->first[rank] != 1)
        return "a halo is for ranks of one cell";
    if (decomposition_runs(a, rank, &p->file) != 0)
        return "out of memory";
    p->bytes = p->memory_bytes = p->file.bytes;
    p->elements = p->bytes / a->element;
    if (p->elements > INT_MAX || a->element > INT_MAX)
        return "a rank's part has more elements than an int counts";
    return p->shape->halo > 0 ? list_memory(p) : NULL;
}

/* ---- MPI types ---- */

static MPI_Datatype element_type(int64_t bytes)
{
    MPI_Datatype type;
    if (bytes == (int64_t)sizeof(double))
        MPI_Type_dup(MPI_DOUBLE, &type);
    else
        MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* A box of an array of that size, both without their first dimensions. */
static MPI_Datatype box_type(const part *p, const int64_t *whole, const array_box *box, int without,
                             MPI_Datatype element)
{
    int size[DECOMPOSITION_DIMS], count[DECOMPOSITION_DIMS], start[DECOMPOSITION_DIMS];
    int dims = p->array.dims - without;
    MPI_Datatype type;
    for (int d = 0; d < dims; d++) {
        size[d] = (int)whole[d + without];
        count[d] = (int)box->count[d + without];
        start[d] = (int)box->start[d + without];
    }
    MPI_Type_create_subarray(dims, size, count, start, MPI_ORDER_C, element, &type);
    return type;
}

/* All cells of the rank: each type has the extent of the whole array, so that they lie at 0. */
static MPI_Datatype view_type(const part *p, MPI_Datatype element)
{
    size_t first = p->array.first[world_rank], cells = p->array.first[world_rank + 1] - first;
    MPI_Datatype *types = take_memory(cells, sizeof(MPI_Datatype)), view;
    MPI_Aint *at = take_memory(cells, sizeof(MPI_Aint));
    int *ones = take_memory(cells, sizeof(int));
    for (size_t i = 0; i < cells; i++) {
        array_box box = decomposition_box(&p->array, p->array.cell[first + i]);
        types[i] = box_type(p, p->array.size, &box, p->shape->tiled, element);
        ones[i] = 1;
    }
    if (cells == 1)
        MPI_Type_dup(types[0], &view);
    else
        MPI_Type_create_struct((int)cells, ones, at, types, &view);
    for (size_t i = 0; i < cells; i++)
        MPI_Type_free(&types[i]);
    free(ones);
    free(at);
    free(types);
    return view;
}

static void make_types(part *p)
{
    part_types *t = &p->types;
    t->element = element_type(p->array.element);
    t->view = view_type(p, t->element);
    t->count = p->shape->halo > 0 ? 1 : (int)p->elements;
    if (p->shape->halo > 0)
        t->memory = box_type(p, p->held, &p->inside, 0, t->element);
    else
        MPI_Type_dup(t->element, &t->memory);
    MPI_Type_commit(&t->view);
    MPI_Type_commit(&t->memory);
}

void part_make(part *p, const shape *s)
{
    *p = (part){.shape = s};
    const char *wrong = shape_make(s, (size_t)world_size, &p->array);
    if (wrong != NULL)
        refuse("--size, --grid", wrong);
    wrong = list_part(p);
    if (wrong != NULL)
        fail("--size, --grid", wrong);
    make_types(p);
}

void part_release(part *p)
{
    MPI_Type_free(&p->types.element);
    MPI_Type_free(&p->types.view);
    MPI_Type_free(&p->types.memory);
    access_release(&p->file);
    access_release(&p->memory);
    decomposition_release(&p->array);
}

/* ---- bytes ---- */

/* Odd multipliers: words of one file differ, and words of two fillings at one place. */
static uint64_t word_at(int64_t number, uint64_t filling)
{
    return ((uint64_t)number + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
           filling * UINT64_C(0xd1342543de82ef95);
}

void fill_bytes(char *to, int64_t offset, int64_t bytes, uint64_t filling)
{
    const int64_t width = (int64_t)sizeof(uint64_t);
    while (bytes > 0) {
        uint64_t word = word_at(offset / width, filling);
        int64_t skip = offset % width;
        int64_t some = width - skip < bytes ? width - skip : bytes;
        memcpy(to, (const char *)&word + skip, (size_t)some);
        to += some;
        offset += some;
        bytes -= some;
    }
}

void fill_list(const access_list *list, char *stream, int64_t base, uint64_t filling)
{
    access_cursor cursor;
    access_piece piece;
    access_cursor_init(&cursor, list);
    while (access_take_piece(&cursor, ACCESS_END, &piece))
        fill_bytes(stream + piece.stream, base + piece.offset, piece.length, filling);
}

/* ---- checking ---- */

bool check_bytes(const char *who, const char *where, const char *got, const char *wanted,
                 int64_t bytes, int64_t offset)
{
    int64_t i = 0;
    if (memcmp(got, wanted, (size_t)bytes) == 0)
        return true;
    while (got[i] == wanted[i])
        i++;
    fprintf(stderr, "%s: %s: rank %d: wrong byte in the %s at offset %" PRId64 "\n",
            program_invocation_short_name, who, world_rank, where, offset + i);
    return false;
}

int64_t slab_start(int64_t bytes, int rank, int ranks)
{
    return bytes / ranks * rank + bytes % ranks * rank / ranks;
}

bool check_file(const char *path, const char *who, int64_t bytes, uint64_t filling, int model)
{
    char *got = take_memory((size_t)CHECK_PIECE, 1), *wanted = take_memory((size_t)CHECK_PIECE, 1);
    int fd = file_open(path, O_RDONLY);
    struct stat status;
    bool right = fstat(fd, &status) == 0 && status.st_size == (off_t)bytes;
    if (!right)
        fprintf(stderr, "%s: %s: rank %d: the file has the wrong size\n",
                program_invocation_short_name, who, world_rank);
    int64_t end = slab_start(bytes, world_rank + 1, world_size);
    for (int64_t at = slab_start(bytes, world_rank, world_size); right && at < end;
         at += CHECK_PIECE) {
        int64_t some = end - at < CHECK_PIECE ? end - at : CHECK_PIECE;
        file_read(fd, got, (size_t)some, at);
        if (model >= 0)
            file_read(model, wanted, (size_t)some, at);
        else
            fill_bytes(wanted, at, some, filling);
        right = check_bytes(who, "file", got, wanted, some, at);
    }
    close(fd);
    free(got);
    free(wanted);
    return right;
}
