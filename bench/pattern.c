/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of an array as runs, as MPI types, and as bytes. */
#include "pattern.h"

#include <limits.h>
#include <string.h>

const char *pattern_complete(pattern *p, int ranks)
{
    int64_t cells = 1;
    p->bytes = p->element;
    for (int d = 0; d < p->dims; d++) {
        if (p->grid[d] > p->size[d])
            return "fewer elements than ranks in a dimension";
        if (__builtin_mul_overflow(cells, p->grid[d], &cells) ||
            __builtin_mul_overflow(p->bytes, p->size[d], &p->bytes))
            return "the array is too large";
    }
    if (cells != ranks)
        return "the product of the grid is not the number of ranks";
    if (p->tiled && (p->dims < 2 || p->grid[0] != 1))
        return "a tiled array needs two dimensions, the first of them not cut";
    return NULL;
}

/* With a halo, rows of the innermost dimension are all that is contiguous in memory. */
static int inner_dimension(const pattern *p, const block *b)
{
    int d = p->dims - 1;
    while (p->halo == 0 && d > 0 && b->count[d] == p->size[d])
        d--;
    return d;
}

const char *pattern_block(const pattern *p, int rank, block *b)
{
    int64_t rest = rank;
    b->elements = 1;
    b->memory_bytes = p->element;
    for (int d = p->dims - 1; d >= 0; d--) {
        int64_t at = rest % p->grid[d], with_halo;
        rest /= p->grid[d];
        b->start[d] = p->size[d] / p->grid[d] * at + p->size[d] % p->grid[d] * at / p->grid[d];
        b->count[d] = p->size[d] / p->grid[d] * (at + 1) +
                      p->size[d] % p->grid[d] * (at + 1) / p->grid[d] - b->start[d];
        b->elements *= b->count[d];
        if (__builtin_add_overflow(b->count[d], 2 * p->halo, &with_halo) ||
            __builtin_mul_overflow(b->memory_bytes, with_halo, &b->memory_bytes))
            return "a rank's block is too large";
    }
    if (b->elements > INT_MAX)
        return "a rank's block has more elements than an int counts";
    b->bytes = b->elements * p->element;
    b->inner = inner_dimension(p, b);
    b->runs = 1;
    for (int d = 0; d < b->inner; d++)
        b->runs *= b->count[d];
    b->run_bytes = b->bytes / b->runs;
    return NULL;
}

/* Element number, in the file or in memory, at which run `i` begins. */
static int64_t run_element(const pattern *p, const block *b, int64_t i, bool in_file)
{
    int64_t at = 0, stride = 1;
    for (int d = p->dims - 1; d >= 0; d--) {
        int64_t index = 0;
        if (d < b->inner) {
            index = i % b->count[d];
            i /= b->count[d];
        }
        at += (index + (in_file ? b->start[d] : p->halo)) * stride;
        stride *= in_file ? p->size[d] : b->count[d] + 2 * p->halo;
    }
    return at;
}

int64_t block_file_offset(const pattern *p, const block *b, int64_t i)
{
    return run_element(p, b, i, true) * p->element;
}

int64_t block_memory_offset(const pattern *p, const block *b, int64_t i)
{
    return run_element(p, b, i, false) * p->element;
}

int64_t block_first_run(const pattern *p, const block *b, int64_t offset)
{
    int64_t low = 0, high = b->runs;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (block_file_offset(p, b, middle) + b->run_bytes > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static MPI_Datatype element_type(const pattern *p)
{
    MPI_Datatype type;
    if (p->element == (int64_t)sizeof(double))
        MPI_Type_dup(MPI_DOUBLE, &type);
    else
        MPI_Type_contiguous((int)p->element, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

void pattern_types(const pattern *p, const block *b, MPI_Datatype *element, MPI_Datatype *view,
                   MPI_Datatype *memory, int *count)
{
    int size[PATTERN_DIMS], part[PATTERN_DIMS], start[PATTERN_DIMS], held[PATTERN_DIMS],
        first[PATTERN_DIMS];
    for (int d = 0; d < p->dims; d++) {
        size[d] = (int)p->size[d];
        part[d] = (int)b->count[d];
        start[d] = (int)b->start[d];
        held[d] = (int)(b->count[d] + 2 * p->halo);
        first[d] = (int)p->halo;
    }
    int tiled = p->tiled ? 1 : 0;
    *element = element_type(p);
    MPI_Type_create_subarray(p->dims - tiled, size + tiled, part + tiled, start + tiled,
                             MPI_ORDER_C, *element, view);
    MPI_Type_commit(view);
    if (p->halo == 0)
        MPI_Type_dup(*element, memory);
    else
        MPI_Type_create_subarray(p->dims, held, part, first, MPI_ORDER_C, *element, memory);
    MPI_Type_commit(memory);
    *count = p->halo == 0 ? (int)b->elements : 1;
}

/* Odd multipliers: words of one file differ, and words of two fillings at one place. */
static uint64_t word_at(int64_t number, uint64_t filling)
{
    return ((uint64_t)number + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ filling * UINT64_C(0xd1342543de82ef95);
}

void fill_bytes(char *to, int64_t offset, int64_t bytes, uint64_t filling)
{
    const int64_t width = (int64_t)sizeof(uint64_t);
    while (bytes > 0) {
        uint64_t word = word_at(offset / width, filling);
        int64_t skip = offset % width;
        int64_t part = width - skip < bytes ? width - skip : bytes;
        memcpy(to, (const char *)&word + skip, (size_t)part);
        to += part;
        offset += part;
        bytes -= part;
    }
}

void fill_block(const pattern *p, const block *b, char *memory, uint64_t filling)
{
    for (int64_t i = 0; i < b->runs; i++)
        fill_bytes(memory + block_memory_offset(p, b, i), block_file_offset(p, b, i), b->run_bytes,
                   filling);
}
