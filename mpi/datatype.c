/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/datatype.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

/* What a datatype was made of. */
typedef struct contents {
    int combiner;
    MPI_Count integers, addresses, counts, types;
    MPI_Count *value; /* the arguments, in the order of the constructor without large counts */
    MPI_Datatype *type;
} contents;

static contents get_envelope(MPI_Datatype type)
{
    contents c = {0};
    if (mpi.Type_get_envelope_c != NULL) { /* else no datatype has large counts */
        mpi.Type_get_envelope_c(type, &c.integers, &c.addresses, &c.counts, &c.types, &c.combiner);
        return c;
    }
    int integers, addresses, types;
    mpi.Type_get_envelope(type, &integers, &addresses, &types, &c.combiner);
    return (contents){c.combiner, integers, addresses, 0, types, NULL, NULL};
}

/* Others are predefined, and freed by nobody. */
static bool is_derived(const contents *c)
{
    return c->types == 1 || c->combiner == MPI_COMBINER_STRUCT;
}

void front_type_free(MPI_Datatype type)
{
    const contents c = get_envelope(type);
    if (is_derived(&c))
        mpi.Type_free(&type);
}

MPI_Datatype front_type_copy(MPI_Datatype type)
{
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (mpi.Type_contiguous(1, type, &copy) == MPI_SUCCESS)
        mpi.Type_commit(&copy);
    return copy;
}

/* c: as get_envelope returns it. Large counts stand behind the first integers of an array, and
 * before everything else. */
static int get_contents(MPI_Datatype type, contents *c)
{
    const bool is_array = c->integers > 0 && c->counts > 0;
    const MPI_Count known = c->integers + c->counts,
                    first = is_array ? (c->combiner == MPI_COMBINER_SUBARRAY ? 1 : 3) : 0;
    int rc = 0;
    int *integer = base_zeroed((size_t)c->integers, sizeof *integer, &rc);
    MPI_Aint *address = base_zeroed((size_t)c->addresses, sizeof *address, &rc);
    c->value = base_zeroed((size_t)(known + c->addresses), sizeof *c->value, &rc);
    c->type = base_zeroed((size_t)c->types, sizeof *c->type, &rc);
    if (rc != 0)
        c->types = c->integers = c->addresses = 0;
    else if (mpi.Type_get_contents_c != NULL)
        mpi.Type_get_contents_c(type, c->integers, c->addresses, c->counts, c->types, integer,
                                address, c->value + first, c->type);
    else
        mpi.Type_get_contents(type, (int)c->integers, (int)c->addresses, (int)c->types, integer,
                              address, c->type);
    for (MPI_Count i = 0; i < c->integers; i++)
        c->value[i < first ? i : i + c->counts] = integer[i];
    for (MPI_Count i = 0; i < c->addresses; i++)
        c->value[known + i] = address[i];
    free(integer);
    free(address);
    return front_error_class(rc);
}

front_type_size front_type_measure(MPI_Datatype type)
{
    MPI_Count bytes, bound, extent, low, true_extent;
    mpi.Type_size_x(type, &bytes);
    mpi.Type_get_extent_x(type, &bound, &extent);
    mpi.Type_get_true_extent_x(type, &low, &true_extent);
    return (front_type_size){bytes, extent, bytes > 0 ? low : 0, true_extent};
}

/* ---- elements ---- */

/* A datatype of which others are made. */
typedef struct element {
    access_list list; /* of one; offsets are from its first byte on */
    front_type_size size;
} element;

static int make_element(MPI_Datatype type, element *e)
{
    *e = (element){.size = front_type_measure(type)};
    return front_type_flatten(type, -e->size.low, &e->list);
}

/* a + b * c, or INT64_MIN, which is no valid offset. */
static int64_t offset_of(int64_t a, int64_t b, int64_t c)
{
    int64_t product, sum;
    if (__builtin_mul_overflow(b, c, &product) || __builtin_add_overflow(a, product, &sum))
        return INT64_MIN;
    return sum;
}

/* Appends `count` elements in a row, the first of which starts at `at`. */
static int append_elements(access_list *list, const element *e, int64_t at, int64_t count)
{
    int64_t bytes;
    if (e->list.bytes == 0 || count <= 0)
        return 0;
    if (__builtin_mul_overflow(count, e->list.bytes, &bytes))
        return MPI_ERR_IO;
    at = offset_of(at, 1, e->size.low);
    if (e->list.run[0].length == e->list.bytes && e->size.extent == e->list.bytes)
        return front_error_class(access_append(list, at, bytes, list->bytes));
    return front_error_class(access_append_tiled(list, &e->list, at, e->size.extent, 0, bytes));
}

/* Appends `count` blocks of `length` elements, one every `stride` bytes. */
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
        rc = MPI_ERR_IO;
    if (rc == 0 && bytes > 0)
        rc = front_error_class(
            access_append_tiled(list, &block, offset_of(at, 1, e->size.low), stride, 0, bytes));
    access_release(&block);
    return rc;
}

/* ---- arrays ---- */

/* A subset of the indices in one dimension: `blocks` times `length` in a row, one every `step`, the
 * first at `first`; the last one is shorter by `missing`. */
typedef struct selection {
    int64_t size; /* of the dimension */
    int64_t first, blocks, length, step, missing;
    int64_t stride; /* bytes from one index to the next */
} selection;

/* Appends the dimensions from this one on. The last one is the fastest. */
static int append_array(access_list *list, const element *e, const selection *s, int dimensions,
                        int64_t at)
{
    int rc = 0;
    for (int64_t b = 0; b < s->blocks && rc == 0; b++) {
        int64_t length = s->length - (b == s->blocks - 1 ? s->missing : 0);
        int64_t begin = offset_of(at, s->first + b * s->step, s->stride);
        if (dimensions == 1) {
            rc = append_elements(list, e, begin, length);
        } else if (dimensions == 2 && s[1].blocks == 1) {
            rc = append_blocks(list, e, offset_of(begin, s[1].first, s[1].stride), length,
                               s[1].length - s[1].missing, s->stride);
        } else {
            for (int64_t i = 0; i < length && rc == 0; i++)
                rc = append_array(list, e, s + 1, dimensions - 1, offset_of(begin, i, s->stride));
        }
    }
    return rc;
}

/* Returns what process `rank` of `ranks` has of a dimension of `size`. */
static selection distribute(int64_t size, int64_t distribution, int64_t argument, int64_t ranks,
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

/* MPI_COMBINER_SUBARRAY and MPI_COMBINER_DARRAY. The grid of processes of the latter is in C's
 * order whatever that of the array is; MPIs find a rank in it even if it has other ranks. */
static int append_selected(access_list *list, const contents *c, const element *e, int64_t at)
{
    const bool is_distributed = c->combiner == MPI_COMBINER_DARRAY;
    const MPI_Count *n = c->value + (is_distributed ? 2 : 0), *size = n + 1, *second = size + *n,
                    *third = second + *n, *last = third + *n,
                    order = is_distributed ? last[*n] : *last;
    int64_t ranks = c->value[0], rank = c->value[1], stride = e->size.extent;
    selection *s = base_alloc((size_t)*n, sizeof *s);
    if (s == NULL)
        return MPI_ERR_NO_MEM;
    for (int64_t i = 0; i < *n; i++) {
        selection *own = &s[order == MPI_ORDER_FORTRAN ? *n - 1 - i : i];
        if (is_distributed) {
            ranks /= last[i];
            *own = distribute(size[i], second[i], third[i], last[i], rank / ranks);
            rank %= ranks;
        } else {
            *own = (selection){size[i], third[i], second[i] > 0, second[i], 0, 0, 0};
        }
    }
    for (int64_t d = *n - 1; d >= 0; d--) {
        s[d].stride = stride;
        stride = offset_of(0, stride, s[d].size);
    }
    int rc = append_array(list, e, s, (int)*n, at);
    free(s);
    return rc;
}

/* ---- combiners ---- */

/* Blocks have lengths of their own, or equal ones. unit: bytes, of displacements. */
static int append_indexed(access_list *list, const contents *c, const element *e, int64_t at,
                          bool equal, int64_t unit)
{
    const MPI_Count blocks = c->value[0], *length = c->value + 1,
                    *displacement = length + (equal ? 1 : blocks);
    int rc = 0;
    for (int64_t i = 0; i < blocks && rc == 0; i++)
        rc = append_elements(list, e, offset_of(at, displacement[i], unit), length[equal ? 0 : i]);
    return rc;
}

static int append_combined(access_list *list, const contents *c, const element *e, int64_t at)
{
    const MPI_Count *n = c->value, extent = e->size.extent;
    switch (c->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return append_elements(list, e, at, n[0]);
    case MPI_COMBINER_VECTOR:
        return append_blocks(list, e, at, n[0], n[1], offset_of(0, n[2], extent));
    case MPI_COMBINER_HVECTOR: return append_blocks(list, e, at, n[0], n[1], n[2]);
    case MPI_COMBINER_INDEXED: return append_indexed(list, c, e, at, false, extent);
    case MPI_COMBINER_HINDEXED: return append_indexed(list, c, e, at, false, 1);
    case MPI_COMBINER_INDEXED_BLOCK: return append_indexed(list, c, e, at, true, extent);
    case MPI_COMBINER_HINDEXED_BLOCK: return append_indexed(list, c, e, at, true, 1);
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY: return append_selected(list, c, e, at);
    default: return MPI_ERR_UNSUPPORTED_OPERATION;
    }
}

static int append_struct(access_list *list, const contents *c, int64_t at)
{
    const MPI_Count blocks = c->value[0], *length = c->value + 1, *displacement = length + blocks;
    int rc = 0;
    for (int64_t i = 0; i < blocks && rc == 0; i++) {
        element e;
        rc = make_element(c->type[i], &e);
        if (rc == 0)
            rc = append_elements(list, &e, offset_of(at, 1, displacement[i]), length[i]);
        access_release(&e.list);
    }
    return rc;
}

/* Whether an element of the datatype is one of another. */
static bool is_alias(const contents *c)
{
    return c->combiner == MPI_COMBINER_DUP || c->combiner == MPI_COMBINER_RESIZED ||
           (c->combiner == MPI_COMBINER_CONTIGUOUS && c->value[0] == 1);
}

static int append_derived(access_list *list, MPI_Datatype type, contents *c, int64_t at)
{
    element e;
    int rc = get_contents(type, c);
    if (rc == 0 && is_alias(c)) {
        rc = front_type_flatten(c->type[0], at, list);
    } else if (rc == 0 && c->combiner == MPI_COMBINER_STRUCT) {
        rc = append_struct(list, c, at);
    } else if (rc == 0) {
        rc = make_element(c->type[0], &e);
        if (rc == 0)
            rc = append_combined(list, c, &e, at);
        access_release(&e.list);
    }
    for (MPI_Count i = 0; i < c->types; i++)
        front_type_free(c->type[i]);
    free(c->value);
    free(c->type);
    return rc;
}

/* MPI_SHORT_INT has a hole in the middle; others that are known have none, or one at the end. */
static int append_predefined(access_list *list, MPI_Datatype type, int64_t at)
{
    const front_type_size size = front_type_measure(type);
    if (size.bytes == size.span || size.bytes == 0)
        return front_error_class(access_append(list, at + size.low, size.bytes, list->bytes));
    if (type != MPI_SHORT_INT)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    int rc = access_append(list, at, sizeof(short), list->bytes);
    if (rc == 0)
        rc = access_append(list, at + size.span - (int64_t)sizeof(int), sizeof(int), list->bytes);
    return front_error_class(rc);
}

int front_type_flatten(MPI_Datatype type, int64_t base, access_list *list)
{
    contents c = get_envelope(type);
    if (is_derived(&c))
        return append_derived(list, type, &c, base);
    return c.types == 0 ? append_predefined(list, type, base) : MPI_ERR_UNSUPPORTED_OPERATION;
}

int front_type_buffer(const void *buffer, int64_t count, MPI_Datatype type, access_list *memory)
{
    int64_t bytes;
    element e;
    int rc = make_element(type, &e);
    if (rc == 0 && __builtin_mul_overflow(count, e.list.bytes, &bytes))
        rc = MPI_ERR_COUNT;
    if (rc == 0)
        rc = append_elements(memory, &e, (int64_t)(intptr_t)buffer, count);
    access_release(&e.list);
    return rc;
}
