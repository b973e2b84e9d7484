/* SPDX-License-Identifier: BSD-3-Clause */
/* layout: MPI datatypes built together with a list of the bytes that they stand for. */
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds while a type grows: the union of the blocks placed so far; without any, zeros. */
struct bounds {
    int64_t low, high;
    bool set;
};

void *checked_alloc(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        fprintf(stderr, "out of memory (%zu x %zu bytes)\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

static void append(struct layout *l, int64_t offset, int64_t length)
{
    if (length == 0)
        return;
    l->size += length;
    if (l->pieces > 0 &&
        l->piece[l->pieces - 1].offset + l->piece[l->pieces - 1].length == offset) {
        l->piece[l->pieces - 1].length += length;
        return;
    }
    if (l->pieces == l->room) {
        struct piece *old = l->piece;
        l->room = 2 * l->room + 16;
        l->piece = checked_alloc(l->room, sizeof *l->piece);
        if (old != NULL)
            memcpy(l->piece, old, l->pieces * sizeof *old);
        free(old);
    }
    l->piece[l->pieces++] = (struct piece){offset, length};
}

/* `count` elements of `old`, one extent apart, the first at `displacement`. */
static void place(struct layout *l, struct bounds *b, const struct layout *old,
                  int64_t displacement, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t base = displacement + i * old->extent;
        for (size_t k = 0; k < old->pieces; k++)
            append(l, base + old->piece[k].offset, old->piece[k].length);
        int64_t low = base + old->lb, high = low + old->extent;
        b->low = !b->set || low < b->low ? low : b->low;
        b->high = !b->set || high > b->high ? high : b->high;
        b->set = true;
    }
}

/* The layout with its bounds and its type committed; MPI and the list must agree on them. */
static struct layout finished(struct layout l, struct bounds b)
{
    MPI_Aint lb, extent;
    int size;
    l.lb = b.low;
    l.extent = b.high - b.low;
    if (!l.predefined)
        MPI_Type_commit(&l.type);
    MPI_Type_size(l.type, &size);
    MPI_Type_get_extent(l.type, &lb, &extent);
    if (size != l.size || lb != l.lb || extent != l.extent) {
        fprintf(stderr, "generator: MPI sees size %d lb %ld extent %ld, expected %ld %ld %ld\n",
                size, (long)lb, (long)extent, (long)l.size, (long)l.lb, (long)l.extent);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return l;
}

struct layout layout_basic(MPI_Datatype predefined, int64_t size)
{
    struct layout l = {.type = predefined, .predefined = true};
    append(&l, 0, size);
    return finished(l, (struct bounds){0, size, true});
}

struct layout layout_contiguous(int count, const struct layout *old)
{
    struct layout l = {0};
    struct bounds b = {0};
    MPI_Type_contiguous(count, old->type, &l.type);
    place(&l, &b, old, 0, count);
    return finished(l, b);
}

struct layout layout_vector(int count, int blocklength, int stride, const struct layout *old)
{
    struct layout l = {0};
    struct bounds b = {0};
    MPI_Type_vector(count, blocklength, stride, old->type, &l.type);
    for (int i = 0; i < count; i++)
        place(&l, &b, old, (int64_t)i * stride * old->extent, blocklength);
    return finished(l, b);
}

struct layout layout_indexed(int count, const int *blocklength, const int *displacement,
                             const struct layout *old)
{
    struct layout l = {0};
    struct bounds b = {0};
    MPI_Type_indexed(count, blocklength, displacement, old->type, &l.type);
    for (int i = 0; i < count; i++)
        place(&l, &b, old, displacement[i] * old->extent, blocklength[i]);
    return finished(l, b);
}

struct layout layout_struct(int count, const int *blocklength, const MPI_Aint *displacement,
                            const struct layout *old)
{
    struct layout l = {0};
    struct bounds b = {0};
    MPI_Datatype padded, *types = checked_alloc((size_t)count, sizeof *types);
    for (int i = 0; i < count; i++) {
        types[i] = old->type;
        place(&l, &b, old, displacement[i], blocklength[i]);
    }
    MPI_Type_create_struct(count, blocklength, displacement, types, &padded);
    MPI_Type_create_resized(padded, b.low, b.high - b.low, &l.type);
    MPI_Type_free(&padded);
    free(types);
    return finished(l, b);
}

/* Dimension order[0] is the slowest. */
static void place_box(struct layout *l, struct bounds *b, int dims, const int *size,
                      const int *subsize, const int *start, const int *order, int64_t base,
                      const struct layout *old)
{
    int d = order[0];
    int64_t below = 1;
    for (int i = 1; i < dims; i++)
        below *= size[order[i]];
    if (dims == 1) {
        place(l, b, old, (base + start[d]) * old->extent, subsize[d]);
        return;
    }
    for (int i = 0; i < subsize[d]; i++)
        place_box(l, b, dims - 1, size, subsize, start, order + 1, base + (start[d] + i) * below,
                  old);
}

struct layout layout_subarray(int dims, const int *size, const int *subsize, const int *start,
                              int order, const struct layout *old)
{
    struct layout l = {0};
    struct bounds inner = {0};
    int slowest_first[8];
    int64_t all = 1;
    for (int d = 0; d < dims; d++) {
        slowest_first[d] = order == MPI_ORDER_C ? d : dims - 1 - d;
        all *= size[d];
    }
    MPI_Type_create_subarray(dims, size, subsize, start, order, old->type, &l.type);
    place_box(&l, &inner, dims, size, subsize, start, slowest_first, 0, old);
    return finished(l, (struct bounds){0, all * old->extent, true});
}

struct layout layout_resized(int64_t lb, int64_t extent, const struct layout *old)
{
    struct layout l = {0};
    struct bounds inner = {0};
    MPI_Type_create_resized(old->type, lb, extent, &l.type);
    place(&l, &inner, old, 0, 1);
    return finished(l, (struct bounds){lb, lb + extent, true});
}

void layout_free(struct layout *l)
{
    if (!l->predefined)
        MPI_Type_free(&l->type);
    free(l->piece);
    *l = (struct layout){0};
}

void layout_hull(const struct layout *l, int64_t count, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    if (l->pieces == 0 || count == 0)
        return;
    int64_t least = INT64_MAX, most = INT64_MIN, last = (count - 1) * l->extent;
    for (size_t k = 0; k < l->pieces; k++) {
        int64_t end = l->piece[k].offset + l->piece[k].length;
        least = l->piece[k].offset < least ? l->piece[k].offset : least;
        most = end > most ? end : most;
    }
    *low = last < 0 ? least + last : least;
    *high = last > 0 ? most + last : most;
}

void layout_walk(const struct layout *l, int64_t from, int64_t length,
                 void (*visit)(void *context, int64_t offset, int64_t length), void *context)
{
    if (l->size == 0 || length == 0)
        return;
    int64_t base = from / l->size * l->extent, skip = from % l->size;
    for (; length > 0; base += l->extent)
        for (size_t k = 0; k < l->pieces && length > 0; k++) {
            int64_t here = l->piece[k].length - skip;
            if (here <= 0) {
                skip -= l->piece[k].length;
                continue;
            }
            here = here < length ? here : length;
            visit(context, base + l->piece[k].offset + skip, here);
            skip = 0;
            length -= here;
        }
}
