/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/datatype.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "access/tile.h"
#include "base/memory.h"

/* What a datatype was made of. */
typedef struct contents {
    int combiner;
    int integers, addresses, types;
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *type;
} contents;

static int combiner_of(MPI_Datatype type, contents *c)
{
    PMPI_Type_get_envelope(type, &c->integers, &c->addresses, &c->types, &c->combiner);
    return c->combiner;
}

/* Predefined datatypes have no contents. Fortran's parametrized ones have some, and are freed by
 * nobody. */
static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

void front_type_free(MPI_Datatype type)
{
    contents c;
    if (!is_predefined(combiner_of(type, &c)))
        PMPI_Type_free(&type);
}

static void release_contents(contents *c)
{
    for (int i = 0; c->type != NULL && i < c->types; i++)
        front_type_free(c->type[i]);
    free(c->integer);
    free(c->address);
    free(c->type);
}

static int get_contents(MPI_Datatype type, contents *c)
{
    *c = (contents){0};
    if (is_predefined(combiner_of(type, c)))
        return 0;
    c->integer = base_alloc((size_t)c->integers, sizeof *c->integer);
    c->address = base_alloc((size_t)c->addresses, sizeof *c->address);
    MPI_Datatype *types = base_alloc((size_t)c->types, sizeof *types);
    if (c->integer == NULL || c->address == NULL || types == NULL) {
        free(types);
        return -ENOMEM;
    }
    PMPI_Type_get_contents(type, c->integers, c->addresses, c->types, c->integer, c->address,
                           types);
    c->type = types;
    return 0;
}

front_type_size front_type_measure(MPI_Datatype type)
{
    MPI_Count bytes, bound, extent, low, true_extent;
    PMPI_Type_size_x(type, &bytes);
    PMPI_Type_get_extent_x(type, &bound, &extent);
    PMPI_Type_get_true_extent_x(type, &low, &true_extent);
    return (front_type_size){bytes, extent, bytes > 0 ? low : 0};
}

/* ---- elements ---- */

/* A datatype of which others are made. */
typedef struct element {
    access_list list; /* of one; offsets are from its first byte on */
    front_type_size size;
} element;

static int flatten(MPI_Datatype type, int64_t base, access_list *list);

static int make_element(MPI_Datatype type, element *e)
{
    *e = (element){.size = front_type_measure(type)};
    return flatten(type, -e->size.low, &e->list);
}

/* a + b * c, or INT64_MIN, which is no valid offset. */
static int64_t offset_of(int64_t a, int64_t b, int64_t c)
{
    int64_t product, sum;
    if (__builtin_mul_overflow(b, c, &product) || __builtin_add_overflow(a, product, &sum))
        return INT64_MIN;
    return sum;
}

/* `count` elements in a row, the first of which starts at `at`. */
static int append_elements(access_list *list, const element *e, int64_t at, int64_t count)
{
    int64_t bytes;
    if (e->list.bytes == 0 || count <= 0)
        return 0;
    if (__builtin_mul_overflow(count, e->list.bytes, &bytes))
        return -EINVAL;
    return access_append_tiled(list, &e->list, offset_of(at, 1, e->size.low), e->size.extent, 0,
                               bytes);
}

/* `count` blocks of `length` elements, one every `stride` bytes. */
static int append_blocks(access_list *list, const element *e, int64_t at, int64_t count,
                         int64_t length, int64_t stride)
{
    access_list block = {0};
    int64_t bytes;
    int rc = 0;
    if (e->size.extent < 0) {
        for (int64_t i = 0; i < count && rc == 0; i++)
            rc = append_elements(list, e, offset_of(at, i, stride), length);
        return rc;
    }
    rc = append_elements(&block, e, -e->size.low, length);
    if (rc == 0 && __builtin_mul_overflow(count, block.bytes, &bytes))
        rc = -EINVAL;
    if (rc == 0 && bytes > 0)
        rc = access_append_tiled(list, &block, offset_of(at, 1, e->size.low), stride, 0, bytes);
    access_release(&block);
    return rc;
}

/* ---- arrays ---- */

/* A subset of the indices in one dimension: `blocks` times `length` in a row, one every `step`, the
 * first at `first`; the last one is shorter by `missing`. */
typedef struct selection {
    int64_t size; /* of the dimension */
    int64_t first, blocks, length, step, missing;
} selection;

/* The dimensions from this one on, the last one being the fastest. `stride`: bytes from one index
 * of each dimension to the next. */
static int append_array(access_list *list, const element *e, const selection *s, int dimensions,
                        const int64_t *stride, int64_t at)
{
    int rc = 0;
    for (int64_t b = 0; b < s->blocks && rc == 0; b++) {
        int64_t length = s->length - (b == s->blocks - 1 ? s->missing : 0);
        int64_t begin = offset_of(at, s->first + b * s->step, *stride);
        if (dimensions == 1) {
            rc = append_elements(list, e, begin, length);
        } else if (dimensions == 2 && s[1].blocks == 1) {
            rc = append_blocks(list, e, offset_of(begin, s[1].first, stride[1]), length,
                               s[1].length - s[1].missing, *stride);
        } else {
            for (int64_t i = 0; i < length && rc == 0; i++)
                rc = append_array(list, e, s + 1, dimensions - 1, stride + 1,
                                  offset_of(begin, i, *stride));
        }
    }
    return rc;
}

/* In C's order of dimensions. */
static int append_selected(access_list *list, const element *e, const selection *s, int dimensions,
                           int64_t at)
{
    int64_t *stride = base_alloc((size_t)dimensions, sizeof *stride), next = e->size.extent;
    if (stride == NULL)
        return -ENOMEM;
    for (int d = dimensions - 1; d >= 0; d--) {
        stride[d] = next;
        next = offset_of(0, next, s[d].size);
    }
    int rc = append_array(list, e, s, dimensions, stride, at);
    free(stride);
    return rc;
}

/* The dimension of the arguments that is the d-th in C's order. */
static int dimension_of(int d, int dimensions, int order)
{
    return order == MPI_ORDER_FORTRAN ? dimensions - 1 - d : d;
}

static int append_subarray(access_list *list, const contents *c, const element *e, int64_t at)
{
    int n = c->integer[0];
    const int *size = c->integer + 1, *length = size + n, *first = length + n;
    selection *s = base_alloc((size_t)n, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    for (int d = 0; d < n; d++) {
        int i = dimension_of(d, n, first[n]);
        s[d] = (selection){size[i], first[i], length[i] > 0, length[i], 0, 0};
    }
    int rc = append_selected(list, e, s, n, at);
    free(s);
    return rc;
}

/* What process `rank` of `ranks` has of a dimension of `size`. */
static selection distribute(int64_t size, int distribution, int64_t argument, int64_t ranks,
                            int64_t rank)
{
    selection s = {.size = size};
    if (distribution == MPI_DISTRIBUTE_NONE) {
        ranks = 1;
        rank = 0;
    }
    int64_t block = argument;
    if (distribution == MPI_DISTRIBUTE_NONE || argument == MPI_DISTRIBUTE_DFLT_DARG)
        block = distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : (size + ranks - 1) / ranks;
    s.first = rank * block;
    s.length = block;
    s.step = ranks * block;
    if (s.first >= size || block <= 0)
        return s;
    s.blocks = (size - s.first + s.step - 1) / s.step;
    int64_t end = s.first + (s.blocks - 1) * s.step + block;
    s.missing = end > size ? end - size : 0;
    return s;
}

static int append_darray(access_list *list, const contents *c, const element *e, int64_t at)
{
    int n = c->integer[2], rank = c->integer[1];
    const int *size = c->integer + 3, *distribution = size + n, *argument = distribution + n,
              *ranks = argument + n, order = ranks[n];
    selection *s = base_alloc((size_t)n, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    /* The grid of processes is in C's order whatever that of the array is. */
    for (int i = n - 1; i >= 0; i--) {
        s[dimension_of(i, n, order)] =
            distribute(size[i], distribution[i], argument[i], ranks[i], rank % ranks[i]);
        rank /= ranks[i];
    }
    int rc = append_selected(list, e, s, n, at);
    free(s);
    return rc;
}

/* ---- combiners ---- */

/* Blocks whose lengths are those of `length` or, without it, all `equal`, and whose displacements
 * are `index`, in elements, or else `address`, in bytes. */
static int append_indexed(access_list *list, const element *e, int64_t at, int blocks,
                          const int *length, int equal, const int *index, const MPI_Aint *address)
{
    int rc = 0;
    for (int i = 0; i < blocks && rc == 0; i++) {
        int64_t begin =
            index != NULL ? offset_of(at, index[i], e->size.extent) : offset_of(at, 1, address[i]);
        rc = append_elements(list, e, begin, length != NULL ? length[i] : equal);
    }
    return rc;
}

static int append_combined(access_list *list, const contents *c, const element *e, int64_t at)
{
    const int *n = c->integer;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return append_elements(list, e, at, 1);
    case MPI_COMBINER_CONTIGUOUS: return append_elements(list, e, at, n[0]);
    case MPI_COMBINER_VECTOR: return append_blocks(list, e, at, n[0], n[1], n[2] * e->size.extent);
    case MPI_COMBINER_HVECTOR: return append_blocks(list, e, at, n[0], n[1], c->address[0]);
    case MPI_COMBINER_INDEXED:
        return append_indexed(list, e, at, n[0], n + 1, 0, n + 1 + n[0], NULL);
    case MPI_COMBINER_HINDEXED:
        return append_indexed(list, e, at, n[0], n + 1, 0, NULL, c->address);
    case MPI_COMBINER_INDEXED_BLOCK:
        return append_indexed(list, e, at, n[0], NULL, n[1], n + 2, NULL);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return append_indexed(list, e, at, n[0], NULL, n[1], NULL, c->address);
    case MPI_COMBINER_SUBARRAY: return append_subarray(list, c, e, at);
    case MPI_COMBINER_DARRAY: return append_darray(list, c, e, at);
    default: return -ENOTSUP;
    }
}

static int append_struct(access_list *list, const contents *c, int64_t at)
{
    int rc = 0;
    for (int i = 0; i < c->integer[0] && rc == 0; i++) {
        element e;
        rc = make_element(c->type[i], &e);
        if (rc == 0)
            rc = append_elements(list, &e, offset_of(at, 1, c->address[i]), c->integer[1 + i]);
        access_release(&e.list);
    }
    return rc;
}

/* Of one element that starts at `base`. */
static int flatten(MPI_Datatype type, int64_t base, access_list *list)
{
    contents c;
    element e;
    int rc = get_contents(type, &c);
    if (rc == 0 && is_predefined(c.combiner)) {
        const front_type_size size = front_type_measure(type);
        rc = access_append(list, base + size.low, size.bytes, list->bytes);
    } else if (rc == 0 && c.combiner == MPI_COMBINER_STRUCT) {
        rc = append_struct(list, &c, base);
    } else if (rc == 0) {
        rc = make_element(c.type[0], &e);
        if (rc == 0)
            rc = append_combined(list, &c, &e, base);
        access_release(&e.list);
    }
    release_contents(&c);
    return rc;
}

int front_type_flatten(MPI_Datatype type, access_list *list)
{
    return flatten(type, 0, list);
}

int front_type_buffer(const void *buffer, int64_t count, MPI_Datatype type, access_list *memory)
{
    int64_t bytes;
    element e;
    int rc = make_element(type, &e);
    if (rc == 0 && __builtin_mul_overflow(count, e.list.bytes, &bytes))
        rc = -EOVERFLOW;
    if (rc == 0)
        rc = append_elements(memory, &e, (int64_t)(intptr_t)buffer, count);
    access_release(&e.list);
    return rc;
}
